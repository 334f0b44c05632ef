"""A judge's validity in a card: tables from what `hf-kokoro validate --json` reported, kept from card to card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from os import PathLike

from ..core.stats import Estimate
from ..errors import UsageError
from ..judging.validity_files import Measured, ValidityFile, read_validity
from .facts import MitiFacts
from .front_matter import CardError
from .markdown import as_code

NOT_VALIDATED = (
    "**Not validated.** For this card nobody compared the judge's scores with people's. `hf-kokoro validate` does, and "
    "`hf-kokoro card --validity` puts its report here."
)
_AGAINST = {
    "people": "people who rated the same answers",
    "experts": "the experts' codes of AnnoMI's sessions (demonstrations, not these answers)",
}


def read_validities(files: Iterable[str | PathLike[str]]) -> tuple[ValidityFile, ...]:
    """The reports. Raises CardError for a file that is none."""
    try:
        return tuple(map(read_validity, files))
    except UsageError as error:
        raise CardError(str(error)) from None


def validity_text(reports: Iterable[ValidityFile], facts: MitiFacts) -> str:
    """Markdown of the reports. Raises CardError for one of a judge, or of instructions, that scored none of the rows.

    Rows whose judge's instructions are not recorded may be by any.
    """
    parts = []
    for report in reports:
        by_judge = Counter(
            {digest: rows for (judge, digest), rows in facts.rubrics.items() if judge == report.judge_model}
        )
        recorded = by_judge.total() == facts.judges[report.judge_model]
        if not facts.judges[report.judge_model] or (recorded and report.rubric_sha256 not in by_judge):
            scored = (
                ", ".join([f"{judge}@{digest[:12]}" for judge, digest in facts.rubrics] or facts.judges) or "nobody"
            )
            raise CardError(
                f"{report.name}: about {report.judge_model}@{report.rubric_sha256[:12]}, but these rows are scored by "
                f"{scored}; give a report of the judge that scored them"
            )
        parts.append("\n".join(_lines(report)))
    return "\n\n".join(parts)


def _lines(report: ValidityFile) -> Iterator[str]:
    against = _AGAINST[report.kind]
    if report.people:
        against = f"{report.people} {against}"
    yield f"{as_code(report.judge_model)} (instructions {as_code(report.rubric_sha256[:12])}) against {against}:"
    yield ""
    yield "| dimension | answers | kappa (quadratic) | alpha among people | may stand in for a person |"
    yield "|---|---|---|---|---|"
    for name, one in report.dimensions.items():
        yield f"| {as_code(name)} | {one.n:,} | {_number(one.kappa)} | {_number(one.ceiling)} | {_stands_in(one)} |"
    yield ""
    yield (
        "With 95 % intervals from resampling whole questions or sessions; kappa compares the judge with people's "
        "consensus; the last column is the alternative annotator test (Calderon et al. 2025) with its winning rate."
    )
    if report.pairs:
        pairs = report.pairs
        yield ""
        yield (
            f"Of {pairs['pairs']:,} best-worst pairs people keep the direction of {_share(pairs['keep'])}, "
            f"{pairs['flip']:,} flip and {pairs['tie']:,} tie."
        )
    if report.sessions:
        sessions = report.sessions
        yield ""
        yield (
            f"Sessions of high quality are told from others by the mean total with AUC {_plain(sessions['auc'])} "
            f"({sessions['high']:,} of {sessions['n']:,} are of high quality)."
        )


def _number(found: Estimate) -> str:
    return "not defined" if found.value is None else str(found)


def _plain(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "not defined" if value is None else f"{100 * value:.0f} %"


def _stands_in(one: Measured) -> str:
    if one.stands_in is None or one.winning_rate is None:
        return "not tested: three people are needed"
    return f"{'yes' if one.stands_in else 'no'} ({one.winning_rate:.2f})"
