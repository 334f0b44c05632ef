"""A YAML block renewed: our keys change, and every other byte between the `---` lines stays."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hf_kokoro.cards.front_matter import CardError, split_card
from hf_kokoro.cards.renewing import renew_card

OURS: dict[str, Any] = {
    "pretty_name": "Pairs",
    "license": "mit",
    "source_datasets": None,
    "language": ["en"],
    "tags": ["dpo"],
    "configs": [{"config_name": "default", "data_files": "data/pilot.jsonl"}],
    "dataset_info": [{"config_name": "default", "description": "data-1"}],
}
LATER = {**OURS, "license": "unknown", "dataset_info": [{"config_name": "default", "description": "data-2"}]}


def renewed(block: str, generated: dict[str, Any] = OURS) -> str:
    """The block after a rendering; rendered again, the card is the same."""
    card = renew_card(f"---\n{block}---\nold\n", generated, "# New\n")
    assert renew_card(card, generated, "# New\n") == card
    assert card.startswith("---\n")
    assert card.endswith("---\n# New\n")
    return card.removeprefix("---\n").removesuffix("---\n# New\n")


KEPT = {
    "a truth value": "consent: no\nshown: On\n",
    "a number with a zero": "version: 1.10\nbig: 0o17\nlate: 1_000\n",
    "three dashes in a value": "note: X ---\n",
    "a line of dashes in a text": "note: |\n  a\n  ---\n  b\n",
    "comments": "# top\nnote: x # why\n\n# below\n",
    "quotes and blanks": "a:   'x'\nb: \"y\"   \nc:  z\n",
    "anchors and aliases": "a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n",
    "keys merged": "base: &b {x: 1}\n<<: *b\n",
    "order": "z: 1\na: 2\nm: 3\n",
    "lists": "x:\n- a\n-   b\n- [c,   d]\ny: [\n  1,\n  2 ]\n",
    "a text with kept line ends": "x: |+\n  a\n\n\ny: >-\n  b\n  c\n",
    "other alphabets": '名前: 髙橋 ①\nx: "y\u2028z\u0085"\n',
    "dates and tags": "d: 2020-01-01\ns: !!str 1\ne: ~\nf:\n",
    "a key of two lines": "? long\n: x\n",
    "a url": "url: https://example.org/#a\n",
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("place", ["before", "behind", "around"])
def test_what_is_not_ours_keeps_its_bytes(name: str, place: str) -> None:
    own = KEPT[name]
    before, behind = {"before": (own, ""), "behind": ("", own), "around": ("first: 1.0\n", own)}[place]
    ours = "license: other # ours\ntags:\n- mine\n"
    block = renewed(f"{before}{ours}{behind}")
    assert block.startswith(f"{before}license: mit # ours\n")
    rest = block.removeprefix(f"{before}license: mit # ours\n")
    assert rest.startswith(f"tags:\n  - dpo\n  - mine\n{behind}pretty_name: Pairs\n")
    later = renewed(block, LATER)
    assert later == block.replace("license: mit", "license: unknown").replace("data-1", "data-2")


OURS_IN_ANY_STYLE = [
    ("license: other", "license: mit"),
    ("license:    'other'   # why", "license: mit   # why"),
    ("license: # why\n  other", "# why\nlicense: mit"),
    ("license: |\n  other\n\n", "license: mit\n\n"),
    ("license: [a,\n  # in\n  b] # end", "# in\nlicense: mit # end"),
    ("license: {a: b}", "license: mit"),
    ("license:", "license: mit"),
    ("license: &l other", "license: mit"),
    ('"license": other', "license: mit"),
    ("license: 'mit' # as it was", "license: 'mit' # as it was"),
    ("language: no", "language:\n  - en\n  - no"),
    ("language: [no, en]", "language: [no, en]"),
    ("language: [no, 1.10]", "language:\n  - en\n  - no\n  - 1.10"),
    ("tags: [on, dpo, 1e3]", "tags: [on, dpo, 1e3]"),
    ("tags:\n- on\n# c\n- 'x'", "# c\ntags:\n  - dpo\n  - on\n  - 'x'"),
    ("source_datasets: [x] # gone", " # gone"),
    ("source_datasets:\n  - x\n  # in\n  - y", "# in"),
    (
        "configs:\n- config_name: no\n  data_files: 1.10",
        "configs:\n  - config_name: default\n    data_files: data/pilot.jsonl\n"
        "  - config_name: no\n    data_files: 1.10",
    ),
]


@pytest.mark.parametrize(("old", "new"), OURS_IN_ANY_STYLE)
def test_a_key_of_ours_is_written_anew_if_its_value_changes_and_comments_stay(old: str, new: str) -> None:
    block = renewed(f"a: 1\n{old}\nz: 1.10\n")
    assert block.startswith(f"a: 1\n{new}\nz: 1.10\n")


def test_a_key_that_is_gone_takes_its_line_along() -> None:
    assert renewed("a: 1\nsource_datasets: [x]\nz: 1.10\n").startswith("a: 1\nz: 1.10\npretty_name")


@pytest.mark.parametrize(
    ("stated", "kept"), [("[no, en]", "[no, en]"), ("de", "- de"), ("[en]", ""), ("[ja]", ""), ("[]", "[]")]
)
def test_a_language_that_rows_do_not_state_stays_if_its_owner_wrote_it(stated: str, kept: str) -> None:
    block = renewed(f"language: {stated}\n", {**OURS, "language": None})
    if kept:
        assert kept in block.partition("pretty_name")[0]
    else:
        assert "language" not in block


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "\n", "body", "body\n"])
def test_line_ends_are_the_cards_own_and_a_byte_order_mark_goes(ends: str, mark: str, last: str) -> None:
    existing = mark + f"---\nmine: 1.10 # x\nlicense: other\n---\n{last}".replace("\n", ends)
    card = renew_card(existing, LATER, "# New\n\ntext\n")
    assert card.startswith(f"---{ends}mine: 1.10 # x{ends}license: unknown{ends}")
    assert card.count("\n") == card.count(ends)
    assert DatasetCard(card).data.to_dict()["license"] == "unknown"
    assert split_card(card)[1] == "# New\n\ntext\n"


@pytest.mark.parametrize(
    "existing", [None, "", "text\n", "# T\n\n---\n\nrule\n---\n", "---\n---\n", "---\n---", "--- \n---\n"]
)
def test_a_card_without_keys_gets_all_of_ours(existing: str | None) -> None:
    data = split_card(renew_card(existing, OURS, "# New\n"))[0]
    assert data == {key: value for key, value in OURS.items() if value is not None}


def test_a_block_of_comments_alone_is_kept_above() -> None:
    assert renewed("# to do\n\n").startswith("# to do\n\npretty_name: Pairs\n")


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("license: [mit\n", "can't be read"),
        ("license: mit\nlicense: mit\n", "line 3: a key that stands twice"),
        ("a:\tb\n", "line 2"),
        ("a: *b\n", "line 2: found undefined alias"),
        ("a: &a [*a]\n", "an alias within what it stands for"),
        ("- a\n", "a list; allowed: keys and values"),
        ("? !!set {a}\n: b\n", "a key that is no text"),
        ("a: !!python/name:os.system x\n", "could not determine a constructor"),
        ("a: b: c\n", "line 2"),
        ("d: 2020-13-45\n", "the YAML block can't be read (ValueError)"),
        ("a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(12)
        ), "aliases for more than 100,000 values"),
        # readable, but one of our keys can't be told from what is not ours
        ("{license: other, a: 1}\n", "does not begin its line"),
        ("? license\n: other\n", "does not begin its line"),
        ("license: &l other\nmine: *l\n", "keys that are not ours"),
        ("a: 1\n...\n", "keys that are not ours"),
        ("%YAML 1.1\n", ""),
        ("b: &b {source_datasets: [x]}\n<<: *b\n", "keys that are not ours"),
    ],
)  # fmt: skip
def test_a_block_that_can_not_be_read_or_renewed_is_refused_by_name(block: str, said: str) -> None:
    with pytest.raises(CardError, match=r"README\.md: ") as caught:
        renew_card(f"---\n{block}---\nold\n", OURS, "# New\n")
    assert said in str(caught.value)


def test_a_block_that_is_never_closed_is_refused() -> None:
    with pytest.raises(CardError, match="never closed"):
        renew_card("---\nlicense: other\n\n# Title\n", OURS, "# New\n")
    assert split_card("---\n\nA rule opens this text.\n") == ({}, "---\n\nA rule opens this text.\n")


# any front matter that people might write: what they mean does not matter, only that it is YAML with keys
_WORDS = st.sampled_from(
    ["no", "on", "1.10", "1e3", "~", "2020-01-01", "0x1f", "x ---", "'q'", '"d"', "[a, no]", "{a: 1}"]
)
_VALUE = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12) | st.dates(),
    st.lists(st.text(max_size=4) | st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
)
_NAME = st.text("abcxyz-_", min_size=1, max_size=6).map(lambda name: f"x-{name}")
_OUR_VALUE = st.sampled_from(
    ["mit", "other", "[no, en]", "\n- a\n# c\n- b", "|\n  a\n\n", "", "{a: b}", "[a,\n  b]", "'x' # c"]
)


def _written(name: str, value: Any, style: str | None, flow: bool) -> str:
    return yaml.safe_dump({name: value}, allow_unicode=True, default_style=style, default_flow_style=flow, width=20)


_PLAIN = st.builds(
    lambda name, value, blanks: f"{name}:{blanks}{value}\n", _NAME, _WORDS, st.sampled_from([" ", "   "])
)
_DUMPED = st.builds(_written, _NAME, _VALUE, st.sampled_from([None, "'", '"', "|"]), st.just(False))
_ASIDE = st.sampled_from(["\n", "# a comment\n", " # indented\n", "# license: gpl\n"])
_OF_OURS = st.builds(lambda key, value: f"{key}: {value}\n", st.sampled_from([*OURS, "size"]), _OUR_VALUE)
_PIECES = st.lists(st.one_of(_PLAIN, _DUMPED, _ASIDE, _OF_OURS), max_size=8)


def _is_ours(piece: str) -> bool:
    return piece.partition(":")[0] in OURS


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(pieces=_PIECES, ends=st.sampled_from(["\n", "\r\n"]))
def test_any_front_matter_survives_two_renderings(pieces: list[str], ends: str) -> None:
    existing = "---\n" + "".join(pieces) + "---\nbody\n"
    existing = existing.replace("\r\n", "\n").replace("\n", ends)
    try:
        first = renew_card(existing, OURS, "b\n")
    except CardError:
        # broken, or a key stands twice: then it is left alone, whatever the rest of it is
        return
    assert renew_card(first, OURS, "b\n") == first
    later = renew_card(first, LATER, "b\n")
    assert renew_card(later, LATER, "b\n") == later
    before, after = split_card(existing)[0], split_card(later)[0]
    assert repr({key: value for key, value in before.items() if key not in OURS}) == repr(
        {key: value for key, value in after.items() if key not in OURS}
    )
    assert after["license"] == "unknown"
    place = 0
    for piece in pieces:
        if not _is_ours(piece):
            found = later.find(piece.replace("\r\n", "\n").replace("\n", ends), place)
            assert found >= place, piece
            place = found
