"""What a message offers in place of a name that is none of those allowed."""

from __future__ import annotations

import pytest

from hf_kokoro.core.suggest import allowed, did_you_mean, nearest, with_nearest


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("pair", "allowed: rows, pairs, or null; did you mean 'pairs'?"),
        ("zzz", "allowed: rows, pairs, or null"),
        (None, "allowed: rows, pairs, or null"),
    ],
)
def test_a_message_names_all_that_is_allowed_and_the_nearest_if_one_comes_near(name: object, end: str) -> None:
    assert allowed(name, ("rows", "pairs"), ", or null") == end


def test_values_that_are_no_text_are_listed_as_they_are_written() -> None:
    assert allowed("dialog", (None, "dialogue", 3)) == "allowed: None, dialogue, 3; did you mean 'dialogue'?"


def test_how_near_is_near_enough_can_be_said() -> None:
    assert nearest("epochs", ["num_train_epochs"]) is None
    assert nearest("epochs", ["num_train_epochs"], cutoff=0.5) == "num_train_epochs"
    assert did_you_mean("epochs", ["num_train_epochs"]) == ""


def test_unknown_names_stand_with_the_known_one_they_are_nearest_to_and_quote_no_prose() -> None:
    known = ("situation_id", "views")
    said = with_nearest(["situaton_id", "Veiws", "column 1", "note", "She said that nobody came"], known)
    assert said == (
        "situaton_id (did you mean 'situation_id'?), Veiws (did you mean 'views'?), column 1, note, "
        "text of 25 characters"
    )
