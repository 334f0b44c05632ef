"""The gate: rows that may not leave are named and never quoted, whatever way they were to take."""

from __future__ import annotations

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.miti.contract import NOT_STATED, row_faults, row_id
from hf_kokoro.policy import ClaimError, Gate, PrivacyError
from tests.hub.rows import changed, private, row


def through(gate: Gate, *rows: dict[str, object]) -> list[dict[str, object]]:
    return [gate.row(row) for row in rows]


def test_clean_rows_pass_as_they_are() -> None:
    gate = Gate()
    first, second = row(1), row(2)
    assert through(gate, first, second) == [first, second]
    gate.check()
    assert (list(gate.staying.lines()), gate.redacted) == ([], 0)


def test_findings_stop_by_row_and_are_not_quoted() -> None:
    gate = Gate(["url"])
    through(gate, row(1), private(2))
    with pytest.raises(PrivacyError) as caught:
        gate.check()
    assert f"email: 1 in 1 row ({row_id(private(2))[:12]})" in str(caught.value)
    assert "--redact" in str(caught.value)
    assert "ada" not in str(caught.value)


def test_a_folder_is_told_and_not_stopped() -> None:
    gate = Gate(stops=False)
    assert through(gate, private(2)) == [private(2)]
    gate.check()
    assert list(gate.staying.lines(shown=0)) == ["email: 1 in 1 row"]


def test_redaction_leaves_a_valid_row_with_an_id_of_its_own() -> None:
    gate = Gate(redact=True)
    [sent] = through(gate, private(2))
    gate.check()
    assert row_faults(sent, "row") == []
    assert row_id(sent) != row_id(private(2))
    assert (gate.redacted, bool(gate.staying)) == (1, False)
    assert "[email]" in str(sent["chosen"])
    assert sent["chosen"] == sent["all_answers"][0]["text"]


def test_what_is_allowed_stays_beside_what_is_redacted() -> None:
    gate = Gate(["email"], redact=True)
    both = private(2)
    both["prompt"] += " See https://example.org/me."
    [sent] = through(gate, both)
    gate.check()
    assert "ada@example.org" in sent["chosen"]
    assert "[url]" in sent["prompt"]
    assert gate.redacted == 1
    assert list(gate.staying.lines(shown=0)) == ["email: 1 in 1 row"]


def test_a_therapists_name_is_looked_at_and_redacted_like_any_text() -> None:
    named = row(1)
    named["chosen_therapist"] = named["all_answers"][0]["therapist"] = "Ada, ada@example.org"
    gate = Gate()
    through(gate, named)
    with pytest.raises(PrivacyError, match="email"):
        gate.check()
    [sent] = through(Gate(redact=True), named)
    assert "ada@" not in str(sent)
    assert row_faults(sent, "row") == []


def test_ids_and_names_of_datasets_are_no_texts() -> None:
    gate = Gate(redact=True)
    numbered = changed(1, question_id="1234567890")
    assert through(gate, numbered) == [numbered]


@pytest.mark.parametrize("key", ["source_dataset", "license"])
def test_rows_that_do_not_state_where_they_are_from_stay_here(key: str) -> None:
    gate = Gate(redact=True)
    unstated = changed(2, **{key: NOT_STATED})
    through(gate, row(1), unstated)
    with pytest.raises(ClaimError, match="pair … --source-dataset NAME --license MIT") as caught:
        gate.check()
    assert f"in 1 row ({row_id(unstated)[:12]})" in str(caught.value)
    folder = Gate(stops=False)
    through(folder, unstated)
    folder.check()


def test_records_of_files_sent_as_they_are_cannot_be_redacted() -> None:
    gate = Gate(redact=True)
    gate.record("data/train.parquet", {"text": "write to ada@example.org"})
    with pytest.raises(PrivacyError, match=r"(?s)email: 1 in 1 row \(data/train.parquet\).*--allow KIND") as caught:
        gate.check()
    assert "--redact" not in str(caught.value)


def test_unknown_kinds_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="got 'fax'; allowed: email, phone, url, digits, name"):
        Gate(["fax"])


@pytest.mark.parametrize("said", ["NOT STATED", " Not stated", "-", "n/a", "unknown", ""])
@pytest.mark.parametrize("key", ["source_dataset", "license"])
def test_words_for_nothing_state_nothing(key: str, said: str) -> None:
    gate = Gate()
    gate.record("a.parquet row 1", {**row(1), key: said})
    with pytest.raises(ClaimError, match="not stated"):
        gate.check()


@pytest.mark.parametrize("key", ["topic", "question_id", "judge_model"])
def test_an_address_is_found_and_replaced_in_names_and_ids_too(key: str) -> None:
    named = {**row(1), key: "ada@example.org"}
    gate = Gate()
    through(gate, named)
    with pytest.raises(PrivacyError, match="email: 1 in 1 row"):
        gate.check()
    [sent] = through(Gate(redact=True), named)
    assert sent[key] == "[email]"


def test_a_number_in_an_id_is_no_telephone_number() -> None:
    gate = Gate()
    through(gate, {**row(1), "question_id": "090-1234-5678"})
    gate.check()
