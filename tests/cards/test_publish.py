"""Publishing: refused where a licence or a text forbids it, one commit with data and card where not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

import hf_kokoro as hk
from hf_kokoro.cards import (
    CardError,
    LicenceError,
    PrivacyError,
    PublishOptions,
    publish,
    render_build_card,
)
from hf_kokoro.cards.front_matter import join_card
from hf_kokoro.core.series import Series
from hf_kokoro.errors import UsageError
from hf_kokoro.hub import LocalTarget
from hf_kokoro.miti.contract import row_id
from hf_kokoro.miti.features import ROWS_FEATURES
from hf_kokoro.policy.licences import LICENCES, SOURCES, check_may_publish, licences_of, looser_than

Rows = Callable[[int, int], list[dict[str, Any]]]
NO_FIGURES = PublishOptions(figures=False)
HELD = PublishOptions(figures=False, private=True, holds_licence=True)


def built(folder: Path, columns: dict[str, list[Any]], name: str = "kokorochat", **card: str) -> Path:
    """A folder as a user's own script makes it from a build: Parquet and a card."""
    data = datasets.Dataset.from_dict(columns)
    (folder / "data").mkdir(parents=True)
    data.to_parquet(folder / "data/train.parquet")
    text = render_build_card(name, "x", data.features, {"train": len(data)}, {"train": "data/*.parquet"})
    for old, new in card.items():
        text = text.replace(old, new)
    (folder / "README.md").write_text(text)
    return folder


def history(folder: Path) -> int:
    return len(list(LocalTarget(folder).history(Series("data/pilot.jsonl"))))


def untouched(folder: Path) -> bool:
    return not [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else True


def test_data_and_card_go_in_one_commit_and_load_typed(repo: Path, tmp_path: Path, cache: str) -> None:
    report = publish(repo, tmp_path / "there", NO_FIGURES)
    assert (report.added, report.rows_total, report.licence) == (3, 3, "mit")
    assert history(tmp_path / "there") == 1
    loaded = datasets.load_dataset(str(tmp_path / "there"), split="train", cache_dir=cache)
    assert loaded.num_rows == 3
    assert loaded.features == ROWS_FEATURES
    assert (tmp_path / "there/data/pilot.jsonl").read_bytes() == (repo / "data/pilot.jsonl").read_bytes()


def test_publishing_again_sends_nothing_and_growth_sends_the_new_rows(repo: Path, tmp_path: Path, rows: Rows) -> None:
    publish(repo, tmp_path / "there", NO_FIGURES)
    again = publish(repo, tmp_path / "there", NO_FIGURES)
    assert (again.added, dict(again.files)) == (0, {})
    hk.append_rows(repo, rows(3, 5))
    grown = publish(repo, tmp_path / "there", NO_FIGURES)
    assert (grown.added, grown.rows_total) == (2, 5)
    assert "5 pairs over 5 questions" in (tmp_path / "there/README.md").read_text()
    assert hk.audit(tmp_path / "there").ok


def test_hand_written_parts_travel_with_the_first_publishing(repo: Path, tmp_path: Path) -> None:
    card = repo / "README.md"
    card.write_text(card.read_text().replace("<!-- yours: notes -->\n", "<!-- yours: notes -->\nBy hand.\n"))
    publish(repo, tmp_path / "there", NO_FIGURES)
    assert "By hand." in (tmp_path / "there/README.md").read_text()


def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(repo: Path, tmp_path: Path) -> None:
    report = publish(repo, tmp_path / "there", PublishOptions(figures=False, dry_run=True))
    assert report.added == 3
    assert "README.md" in report.files
    assert untouched(tmp_path / "there")


def test_other_files_of_the_folder_are_left_here_and_named(repo: Path, tmp_path: Path) -> None:
    (repo / "verdicts.jsonl").write_text("{}\n")
    report = publish(repo, tmp_path / "there", NO_FIGURES)
    assert report.left_here == ("verdicts.jsonl",)
    assert not (tmp_path / "there/verdicts.jsonl").exists()


@pytest.mark.parametrize("name", ["mine.py", "loader.py"])
def test_a_folder_with_a_script_is_refused(repo: Path, tmp_path: Path, name: str) -> None:
    (repo / name).write_text("")
    with pytest.raises(CardError, match=name):
        publish(repo, tmp_path / "there", NO_FIGURES)
    assert untouched(tmp_path / "there")


def test_a_bad_card_is_refused_before_anything_is_sent(repo: Path, tmp_path: Path) -> None:
    card = repo / "README.md"
    card.write_text(card.read_text().replace("license: mit", "license: mit\nversion: 1.10\nreleased: 2020-01-01"))
    with pytest.raises(CardError, match=r"(?s)2 problems.*version.*released"):
        publish(repo, tmp_path / "there", NO_FIGURES)
    assert untouched(tmp_path / "there") or not (tmp_path / "there/data").exists()


BAD_CARD = {
    "license": "CC BY-NC-ND 4.0",
    "language": "jp",
    "size_categories": 5000,
    "source_datasets": ["nbertagnolli/counsel-chat"],
}


@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("name", ["CC BY-NC-ND 4.0", "MIT License"])
def test_every_problem_of_a_card_is_listed_before_its_licence_is_compared(
    tmp_path: Path, rows: Rows, with_rows: bool, name: str
) -> None:
    folder = tmp_path / "mine"
    if with_rows:
        hk.append_rows(folder, rows(0, 3))
    else:
        folder.mkdir()
    (folder / "README.md").write_text(join_card({**BAD_CARD, "license": name}, "# Mine\n"))
    with pytest.raises(CardError) as caught:
        publish(folder, tmp_path / "there", NO_FIGURES)
    said = str(caught.value)
    assert "problems, nothing was sent" in said
    assert "looser" not in said
    meant = "mit" if name == "MIT License" else "cc-by-nc-nd-4.0"
    assert f"license: got {name!r}; allowed: a licence id of the Hub, lower case; did you mean {meant}?" in said
    assert "language: got 'jp'; allowed: an ISO 639 code; did you mean ja?" in said
    assert "size_categories: got '5000'; allowed: a tag such as 1K<n<10K; did you mean 1K<n<10K?" in said
    assert untouched(tmp_path / "there")


def test_a_built_folder_lists_its_card_problems_before_the_licence_rule(tmp_path: Path) -> None:
    folder = built(tmp_path / "mine", MESSAGES, **{"cc-by-nc-nd-4.0": "mit", "- ja": "- jp"})
    with pytest.raises(CardError, match="did you mean ja"):
        publish(folder, tmp_path / "there", HELD)


@pytest.mark.parametrize("licence", ["gpl-3.0", "other"])
def test_a_licence_without_a_rule_is_not_called_looser(repo: Path, tmp_path: Path, licence: str) -> None:
    card = repo / "README.md"
    card.write_text(card.read_text().replace("license: mit", f"license: {licence}"))
    with pytest.raises(LicenceError, match=f"card says {licence}, which is not known here to ask as much as"):
        publish(repo, tmp_path / "there", NO_FIGURES)


MESSAGES = {"messages": [[{"role": "user", "content": "こんにちは"}]]}
PERSON_COLUMNS = {**MESSAGES, "counselor_id": [1], "score": [80]}


@pytest.mark.parametrize(
    ("build", "licence"),
    [
        (("kokorochat", MESSAGES, {}), "KokoroChat (CC BY-NC-ND 4.0)"),
        (("emplifai", MESSAGES, {}), "EmplifAI (no known licence)"),
        (("annomi", MESSAGES, {}), "AnnoMI (no known licence)"),
        # a card that claims to be something else, over columns that only KokoroChat has
        (
            ("emplifai", PERSON_COLUMNS, {"EmplifAI": "Mine", "- original": "- mine/own"}),
            "KokoroChat (CC BY-NC-ND 4.0)",
        ),
    ],
)
@pytest.mark.parametrize("options", [NO_FIGURES, PublishOptions(public=False, private=True, figures=False)])
def test_restricted_sources_are_refused_with_the_licence_named_and_what_is_possible(
    tmp_path: Path, build: tuple[str, Any, dict[str, str]], licence: str, options: PublishOptions
) -> None:
    name, columns, changes = build
    folder = built(tmp_path / "mine", columns, name, **changes)
    with pytest.raises(LicenceError) as caught:
        publish(folder, tmp_path / "there", options)
    assert licence in str(caught.value)
    assert "hf-kokoro build" in str(caught.value)
    assert "--private --i-hold-the-licence" in str(caught.value)
    assert "こんにちは" not in str(caught.value)
    assert untouched(tmp_path / "there")


def test_holding_the_licence_is_not_enough_for_a_public_repo() -> None:
    for source in ("UEC-InabaLab/KokoroChat", "UEC-InabaLab/MultilingualKokoroChat", "EmplifAI", "uccollab/AnnoMI"):
        with pytest.raises(LicenceError):
            check_may_publish(licences_of([source]), public=True, holds_licence=True)
        with pytest.raises(LicenceError):
            check_may_publish(licences_of([source]), public=False, holds_licence=False)
        check_may_publish(licences_of([source]), public=False, holds_licence=True)
    check_may_publish(licences_of(["nbertagnolli/counsel-chat"]), public=True, holds_licence=False)


def test_a_private_copy_is_possible_for_who_holds_the_licence(tmp_path: Path, cache: str) -> None:
    folder = built(tmp_path / "mine", MESSAGES)
    report = publish(folder, tmp_path / "there", HELD)
    assert sorted(report.files) == ["README.md", "data/train.parquet"]
    assert report.licence == "cc-by-nc-nd-4.0"
    assert datasets.load_dataset(str(tmp_path / "there"), split="train", cache_dir=cache).num_rows == 1


def test_a_licence_looser_than_the_source_is_refused_even_in_private(tmp_path: Path) -> None:
    folder = built(tmp_path / "mine", MESSAGES, **{"cc-by-nc-nd-4.0": "mit"})
    with pytest.raises(LicenceError, match=r"card says mit, which is looser.*CC BY-NC-ND 4\.0"):
        publish(folder, tmp_path / "there", HELD)


def test_a_folder_without_a_card_or_a_known_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.jsonl").write_text("{}\n")
    with pytest.raises(LicenceError, match="a source that the card does not name"):
        publish(tmp_path / "mine", tmp_path / "there", NO_FIGURES)


@pytest.mark.parametrize(
    ("licence", "source", "looser"),
    [
        ("mit", "nbertagnolli/counsel-chat", False),
        ("cc-by-nc-4.0", "nbertagnolli/counsel-chat", False),
        ("cc0-1.0", "nbertagnolli/counsel-chat", True),
        ("mit", "UEC-InabaLab/KokoroChat", True),
        ("cc-by-nc-4.0", "uec-inabalab/kokorochat", True),
        ("cc-by-nc-nd-4.0", "UEC-InabaLab/KokoroChat", False),
        ("mit", "EmplifAI", True),
        ("gpl-9", "nbertagnolli/counsel-chat", True),
    ],
)
def test_a_derived_licence_asks_at_least_what_its_sources_ask(licence: str, source: str, looser: bool) -> None:
    assert list(looser_than(licence, licences_of([source]))) == ([source] if looser else [])


def test_licence_rules_name_known_licences_only() -> None:
    assert set(SOURCES.values()) <= set(LICENCES)
    assert [name for name, licence in LICENCES.items() if not licence.publishable] == [
        *("cc-by-nd-4.0", "cc-by-nc-nd-4.0", "unknown")
    ]


def private_rows(rows: Rows) -> list[dict[str, Any]]:
    text = json.dumps(rows(0, 3)).replace("Answer 0 to question 1", "Write to me at ada@example.org or 555-014-2233.")
    return json.loads(text)


def test_private_data_stops_the_publishing_by_row_and_kind_and_is_never_quoted(tmp_path: Path, rows: Rows) -> None:
    hk.append_rows(tmp_path / "mine", private_rows(rows))
    with pytest.raises(PrivacyError) as caught:
        publish(tmp_path / "mine", tmp_path / "there", NO_FIGURES)
    message = str(caught.value)
    assert "email: 1 in 1 row" in message
    assert "phone: 1 in 1 row" in message
    assert row_id(private_rows(rows)[1])[:12] in message
    assert "ada@" not in message
    assert "555" not in message
    assert untouched(tmp_path / "there")


def test_allowed_kinds_pass_and_are_listed(tmp_path: Path, rows: Rows) -> None:
    hk.append_rows(tmp_path / "mine", private_rows(rows))
    with pytest.raises(PrivacyError, match="phone"):
        publish(tmp_path / "mine", tmp_path / "there", PublishOptions(figures=False, allow=("email",)))
    report = publish(tmp_path / "mine", tmp_path / "there", PublishOptions(figures=False, allow=("email", "phone")))
    assert report.allowed_findings == ("email: 1 in 1 row", "phone: 1 in 1 row")


def test_redacted_rows_stay_valid_and_hold_no_finding(tmp_path: Path, rows: Rows) -> None:
    hk.append_rows(tmp_path / "mine", private_rows(rows))
    report = publish(tmp_path / "mine", tmp_path / "there", PublishOptions(figures=False, redact=True))
    assert report.redacted == 2
    text = (tmp_path / "there/data/pilot.jsonl").read_text()
    assert "ada@example.org" not in text
    row = json.loads(text.splitlines()[1])
    assert row["chosen"] == row["all_answers"][0]["text"] == "Write to me at [email] or [phone]."
    assert hk.audit(tmp_path / "there").ok


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (PublishOptions(public=True, private=True), "contradict"),
        (PublishOptions(allow=("fax",)), "allowed: email, phone, url, digits, name"),
        (PublishOptions(public=True), "only exists on the Hub"),
    ],
)
def test_contradictory_options_are_usage_errors(repo: Path, tmp_path: Path, options: PublishOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        publish(repo, tmp_path / "there", options)


def test_something_that_is_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        publish(tmp_path / "gone", tmp_path / "there")
