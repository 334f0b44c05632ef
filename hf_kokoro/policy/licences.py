"""Licence rules as data: what each licence asks, which source has which, and whether something may be published.

Not legal advice: the rules are stricter than the law where that is simpler, and they never guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..errors import KokoroError
from ..miti import contract as miti_st

ATTRIBUTION, NON_COMMERCIAL, NO_DERIVATIVES, SHARE_ALIKE = (
    "attribution",
    "non-commercial",
    "no derivatives",
    "share alike",
)
ASKS = (ATTRIBUTION, NON_COMMERCIAL, NO_DERIVATIVES, SHARE_ALIKE)
UNLICENSED = "no known licence"


class LicenceError(KokoroError):
    """Publishing is refused; the message names the licence and what is possible instead."""


@dataclass(frozen=True)
class Licence:
    """A Hub licence id, its name, and what it asks of whoever passes the work on."""

    id: str
    name: str
    asks: frozenset[str]

    @property
    def publishable(self) -> bool:
        """May copies and derived copies be published at all?"""
        return not self.asks & {NO_DERIVATIVES, UNLICENSED}


def _creative_commons() -> Iterator[Licence]:
    """CC BY with its variants: the id says what it asks."""
    asks = {"nc": NON_COMMERCIAL, "sa": SHARE_ALIKE, "nd": NO_DERIVATIVES}
    for name in _CC_BY.split():
        _, *parts, version = name.split("-")
        wanted = {ATTRIBUTION, *(asks[part] for part in parts[1:])}
        yield Licence(name, f"CC {'-'.join(parts).upper()} {version}", frozenset(wanted))


def _by_asks() -> Iterator[Licence]:
    for asks, ids in _IDS.items():
        yield from (Licence(name, _NAMES.get(name, name), frozenset(asks)) for name in ids.split())


_IDS = {
    (): "cc0-1.0 pddl unlicense wtfpl",
    (
        ATTRIBUTION,
    ): "mit apache-2.0 bsd-2-clause bsd-3-clause bsl-1.0 cdla-permissive-1.0 cdla-permissive-2.0 ecl-2.0 isc "
    "ncsa odc-by postgresql zlib",
    (ATTRIBUTION, SHARE_ALIKE): "agpl-3.0 cdla-sharing-1.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 gfdl gpl-2.0 gpl-3.0 "
    "lgpl-2.1 lgpl-3.0 mpl-2.0 odbl ofl-1.1 osl-3.0",
    # nothing is granted, so everything is asked
    (*ASKS, UNLICENSED): "unknown",
}
_CC_BY = """
    cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0
    cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0
"""
_NAMES = {"mit": "MIT", "apache-2.0": "Apache 2.0", "cc0-1.0": "CC0 1.0", "unknown": "no known licence"}

LICENCES: dict[str, Licence] = {licence.id: licence for licence in (*_by_asks(), *_creative_commons())}
"""Licences with a rule, by their ids on the Hub."""

_SPDX = {"odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl"}
"""SPDX ids, in lower case, that the Hub spells otherwise, beside those that say which versions they mean."""


def hub_id(licence: str) -> str | None:
    """The Hub's id of a licence that has a rule here: of its SPDX id, or its name with spaces; else None."""
    folded = licence.strip().casefold().replace(" ", "-")
    folded = _SPDX.get(folded, folded).removesuffix("-only").removesuffix("-or-later")
    folded = "gfdl" if folded.startswith("gfdl-") else folded
    return folded if folded in LICENCES else None


SOURCES: dict[str, str] = {
    miti_st.SOURCE_DATASET: miti_st.LICENSE.lower(),
    miti_st.HUB_ID: miti_st.LICENSE.lower(),
    miti_st.SAMPLE_DATASET: miti_st.LICENSE.lower(),
    "UEC-InabaLab/KokoroChat": "cc-by-nc-nd-4.0",
    "UEC-InabaLab/MultilingualKokoroChat": "cc-by-nc-nd-4.0",
    "EmplifAI": "unknown",
    "uccollab/AnnoMI": "unknown",
}
"""Where texts come from (Hub ids; EmplifAI has none, AnnoMI is on GitHub) to licence id."""


@dataclass(frozen=True)
class _Mark:
    """What gives a restricted source away: a word in names and cards, and columns that no other data has."""

    word: str
    columns: frozenset[str] = frozenset()


_MARKS = {
    "UEC-InabaLab/KokoroChat": _Mark(
        "kokorochat",
        frozenset({"counselor_id", "review_by_client_en", "review_by_client_jp", "review_by_client"}),
    ),
    "EmplifAI": _Mark("emplifai"),
}
_MENTIONED = {
    "uccollab/AnnoMI": _Mark(
        "annomi", frozenset({"mi_quality", "main_therapist_behaviour", "client_talk_type", "client_talk"})
    ),
}
"""Sources that a card may well mention and not be made from: its words on a judge's validity do."""
TELLING_COLUMNS = frozenset[str]().union(*(mark.columns for mark in (_MARKS | _MENTIONED).values()))
DECLARING = f"--source-dataset NAME --license {miti_st.LICENSE}"
"""Options of the verbs that make rows, with which their owner says where they are from."""


def licence_of(source: str) -> Licence:
    """The licence of a source, also if its id is spelled in another case; `unknown` for one that is not listed."""
    known = {name.casefold(): licence for name, licence in SOURCES.items()}
    named_like = [SOURCES[name] for name in _named_like(source)]
    return LICENCES[known.get(source.casefold(), next(iter(named_like), "unknown"))]


def is_listed(source: str) -> bool:
    """Is the source's licence a fact of this module, or only its owner's word? Copies of restricted ones are listed."""
    return source.casefold() in {name.casefold() for name in SOURCES} or bool(_named_like(source))


def is_restricted(source: str) -> bool:
    """Is this a source, or named like one, of which nothing derived may be shared?"""
    return is_listed(source) and not licence_of(source).publishable


def licences_of(sources: Iterable[str]) -> dict[str, Licence]:
    """Each source with its licence."""
    return {source: licence_of(source) for source in sources}


def row_licences(origins: Iterable[tuple[str, str]]) -> dict[str, Licence]:
    """Each source with the strictest licence among its own and those that its rows state.

    `origins` are the values of `source_dataset` and `license` of rows. Of a licence that has no rule here nothing
    is known to be allowed. A source that is not listed here has the licence that its owner declares in the rows.
    """
    found: dict[str, Licence] = {}
    for source, stated in origins:
        licence = LICENCES[hub_id(stated) or "unknown"]
        known = found.get(source) or (licence_of(source) if is_listed(source) else licence)
        found[source] = max(known, licence, key=_strictness)
    return dict(sorted(found.items()))


def _strictness(licence: Licence) -> tuple[bool, int]:
    return not licence.publishable, len(licence.asks)


def named(sources: Mapping[str, Licence]) -> str:
    """The sources in words, each with its licence."""
    return " and ".join(f"{source[:80]} ({licence.name})" for source, licence in sources.items())


def sources_named_in(card: str, names: Iterable[str]) -> set[str]:
    """Restricted sources that a card mentions or is named after, whatever its metadata claims.

    `names` are those of the folder and of the dataset.
    """
    mentioned = {source for source, mark in _MARKS.items() if mark.word in card.casefold()}
    return mentioned.union(*map(_named_like, names))


def sources_with_columns(names: Iterable[str]) -> list[str]:
    """Restricted sources whose columns are among `names`."""
    found = set(names)
    return [source for source, mark in (_MARKS | _MENTIONED).items() if mark.columns & found]


def _named_like(source: str) -> list[str]:
    return [name for name, mark in (_MARKS | _MENTIONED).items() if mark.word in source.casefold()]


def looser_than(licence_id: str, sources: Mapping[str, Licence]) -> dict[str, Licence]:
    """Sources that ask for something which the licence `licence_id` of the derived data does not.

    Of a licence without a rule here nothing is known, so it counts as asking for nothing; whether the id exists at
    all is for the check of the card.
    """
    asks = LICENCES[licence_id].asks if licence_id in LICENCES else frozenset[str]()
    return {source: licence for source, licence in sources.items() if licence.asks - asks}


def check_may_publish(sources: Mapping[str, Licence], *, public: bool, holds_licence: bool) -> None:
    """Raise LicenceError unless data from these sources may go to a repo of that visibility.

    Restricted sources may only go to a private repo, and only if the caller says that they hold a licence
    which allows it.
    """
    restricted = {source: licence for source, licence in sources.items() if not licence.publishable}
    if not restricted or (holds_licence and not public):
        return
    raise refusal(
        f"this is made from {named(restricted)}, which {_reason(restricted)}",
        "Possible instead: keep the folder and let others build it from their own copy with `hf-kokoro build`; or, if "
        "you hold a licence from its authors, a private repo with --private --i-hold-the-licence",
    )


def check_rows_may_leave(origins: Iterable[tuple[str, str]]) -> None:
    """Raise LicenceError unless rows that state these sources and licences may be shared: for any way to the Hub.

    Whose licence one may hold does not matter: the card over such rows would have to name one for all of them.
    """
    restricted = {source: licence for source, licence in row_licences(origins).items() if not licence.publishable}
    if restricted:
        raise refusal(
            f"rows are made from {named(restricted)}, which {_reason(restricted)}",
            "Possible instead: a folder of your own, which you don't publish",
        )


def _reason(restricted: Mapping[str, Licence]) -> str:
    if all(UNLICENSED in licence.asks for licence in restricted.values()):
        return "has no licence that is known to allow it"
    return "does not allow derived copies to be shared"


def check_card_licence(listed: Iterable[str], sources: Mapping[str, Licence]) -> None:
    """Raise LicenceError if what a card is made from asks for something that none of its licences does."""
    names = list(listed)
    tighter = dict(sources) if names else {}
    for name in names:
        tighter = looser_than(name, tighter)
    if tighter:
        said = " and ".join(names)[:80]
        compared = "looser than" if set(names) <= set(LICENCES) else "not known here to ask as much as"
        raise refusal(
            f"the card says {said}, which is {compared} the licence of what it is made from: {named(tighter)}",
            "A derived dataset can't be freer than its sources",
        )


def refuse_not_stated(origins: Mapping[tuple[str, ...], int]) -> None:
    """Raise LicenceError if rows do not state their source and licence: such rows are for one's own machine."""
    rows = sum(count for origin, count in origins.items() if miti_st.NOT_STATED in origin[:2])
    if rows:
        raise refusal(
            f"{rows} of {sum(origins.values())} rows do not state where their texts come from or under which licence",
            "Make them again into a dataset of their own and declare both: `pair` (or judge --append-to, "
            f"append --watch) with {DECLARING}",
        )


def refusal(reason: str, step: str) -> LicenceError:
    """The error for what may not be published."""
    return LicenceError(f"publishing refused: {reason}; nothing was sent. {step}")
