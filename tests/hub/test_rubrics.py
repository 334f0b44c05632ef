"""Scores by two rubrics or two judges meet in one dataset only on purpose, in a folder and on the Hub."""

from __future__ import annotations

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.hub.errors import MixedRubrics
from hf_kokoro.miti.contract import row_id
from hf_kokoro.policy.notes import Note, Notes

from .places import Place
from .rows import row

ONE, OTHER = "1a" * 32, "2b" * 32


def notes(**digests: str) -> Notes:
    """Row numbers (as `_1`) to the digests of their judge's rubric."""
    return Notes({row_id(row(int(name[1:]))): Note(rubric_sha256=digest) for name, digest in digests.items()})


def test_a_second_rubric_is_refused_and_nothing_is_written(place: Place) -> None:
    append_rows(place.target(), [row(1)], notes=notes(_1=ONE))
    before = audit(place.target()).revisions
    with pytest.raises(MixedRubrics, match=r"instructions 2b2b2b2b2b2b, those there by 1a1a1a1a1a1a.*--mix-rubrics"):
        append_rows(place.target(), [row(2)], notes=notes(_2=OTHER))
    with pytest.raises(MixedRubrics):
        append_rows(place.target(), [row(2)], notes=notes(_2=OTHER), dry_run=True)
    after = audit(place.target())
    assert (after.rows, after.revisions) == (1, before)


def test_more_of_the_same_and_rows_nobody_knows_the_rubric_of_go_in(place: Place) -> None:
    append_rows(place.target(), [row(1)])
    append_rows(place.target(), [row(2)], notes=notes(_2=ONE))
    append_rows(place.target(), [row(3), row(4)], notes=notes(_3=ONE))
    assert audit(place.target()).rows == 4


def test_two_rubrics_in_one_call_are_refused_too(place: Place) -> None:
    with pytest.raises(MixedRubrics, match=r"instructions 1a1a1a1a1a1a, 2b2b2b2b2b2b, those there by none yet"):
        append_rows(place.target(), [row(1), row(2)], notes=notes(_1=ONE, _2=OTHER))


def test_what_is_mixed_on_purpose_stays_so_and_grows_by_either(place: Place) -> None:
    append_rows(place.target(), [row(1)], notes=notes(_1=ONE))
    assert append_rows(place.target(), [row(2)], notes=notes(_2=OTHER), mix_rubrics=True).added == 1
    append_rows(place.target(), [row(3)], notes=notes(_3=ONE))
    append_rows(place.target(), [row(4)], notes=notes(_4=OTHER))
    with pytest.raises(MixedRubrics):
        append_rows(place.target(), [row(5)], notes=notes(_5="3c" * 32))
    assert audit(place.target()).ok


def test_rows_that_are_there_already_are_no_second_rubric(place: Place) -> None:
    append_rows(place.target(), [row(1)], notes=notes(_1=ONE))
    assert append_rows(place.target(), [row(1)], notes=notes(_1=OTHER)).duplicates == 1
