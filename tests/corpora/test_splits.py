"""Splits follow (seed, keys) alone."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_kokoro.corpora.kokorochat.splits import RESPONSE, SCORES, SplitRule
from hf_kokoro.corpora.splits import Fractions, connected_groups, systematic_split, unit_hash


def dialogue(number: int, score: int = 50, client: int = 1, counselor: int = 2) -> SimpleNamespace:
    return SimpleNamespace(dialogue_id=number, score=score, client_id=client, counselor_id=counselor)


def test_the_hash_is_the_one_written_down() -> None:
    # sha256("42:7") begins 755dac3729029e...; computed with coreutils: printf 42:7 | sha256sum
    assert unit_hash(42, "7") == 0x755DAC3729029E / 2**56


def test_a_tenth_is_a_tenth_in_expectation() -> None:
    counts = Counter(Fractions(0.1, 0.1).split_of_key(1, str(i)) for i in range(20_000))
    # four standard deviations of a binomial with n = 20,000, p = 0.1
    assert abs(counts["test"] - 2000) < 170
    assert abs(counts["validation"] - 2000) < 170


def test_another_seed_gives_another_split_and_the_same_seed_the_same() -> None:
    fractions = Fractions(0.2)
    one = [fractions.split_of_key(1, str(i)) for i in range(200)]
    assert one == [fractions.split_of_key(1, str(i)) for i in range(200)]
    assert one != [fractions.split_of_key(2, str(i)) for i in range(200)]


@given(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_row_stays_only_if_all_its_keys_fall_on_one_side(keys: list[str]) -> None:
    fractions = Fractions(0.3, 0.3)
    splits = {fractions.split_of_key(5, key) for key in keys}
    assert fractions.split_of(5, keys) == (splits.pop() if len(splits) == 1 else None)


def test_questions_that_share_an_id_or_a_text_are_one_group() -> None:
    groups = connected_groups([("id:1", "text:a"), ("id:2", "text:a"), ("id:2", "text:b"), ("id:3", "text:c")])
    assert groups["id:1"] == groups["id:2"] == groups["text:b"]
    assert groups["id:3"] != groups["id:1"]


@given(st.permutations([("id:1", "text:a"), ("id:2", "text:a"), ("id:2", "text:b"), ("id:9", "text:b"), ("id:4", "t")]))
def test_groups_do_not_depend_on_the_order_of_rows(rows: list[tuple[str, str]]) -> None:
    assert connected_groups(rows) == connected_groups(sorted(rows))


def test_ten_situations_a_label_give_each_label_one_test_and_one_validation_situation() -> None:
    strata = {f"{label}/{number}": label for label in "abcdefg" for number in range(10)}
    splits = systematic_split(strata, seed=3)
    for label in "abcdefg":
        counts = Counter(splits[group] for group, stratum in strata.items() if stratum == label)
        assert counts == {"train": 8, "validation": 1, "test": 1}


@pytest.mark.parametrize(
    ("pool", "score", "expected"),
    [
        ("low", 69, {"train", "validation"}),
        ("low", 70, {None}),
        ("low", 99, {"test"}),
        ("high", 69, {None}),
        ("high", 70, {"train", "validation"}),
        ("high", 98, {"train", "validation"}),
        ("high", 100, {"test"}),
        ("full", 0, {"train", "validation"}),
        ("full", 99, {"test"}),
    ],
)
def test_the_papers_pools_are_cut_by_score(pool: str, score: int, expected: set[str | None]) -> None:
    rule = SplitRule(RESPONSE, pool)
    assert {rule.split_of(dialogue(number, score)) for number in range(200)} == expected


def test_the_score_prediction_test_set_is_the_same_for_every_seed() -> None:
    def split(seed: int) -> dict[int, str | None]:
        return {n: SplitRule(SCORES, seed=seed).split_of(dialogue(n)) for n in range(3000)}

    one, two = split(1), split(2)
    assert {n for n, s in one.items() if s == "test"} == {n for n, s in two.items() if s == "test"}
    assert {n for n, s in one.items() if s == "validation"} != {n for n, s in two.items() if s == "validation"}
    counts = Counter(one.values())
    assert counts["train"] / 3000 == pytest.approx(0.8, abs=0.03)
    assert counts["validation"] / 3000 == pytest.approx(0.1, abs=0.025)


@pytest.mark.parametrize("split_by", ["counselor", "client", "person"])
def test_group_splits_share_nobody(split_by: str) -> None:
    rule = SplitRule(SCORES, split_by=split_by)
    people: dict[str, set[int]] = {}
    dropped = 0
    for number in range(4000):
        one = dialogue(number, client=number * 7 % 61, counselor=number * 11 % 53)
        split = rule.split_of(one)
        dropped += split is None
        if split:
            keys = {"counselor": {one.counselor_id}, "client": {one.client_id}}
            keys["person"] = keys["counselor"] | keys["client"]
            people.setdefault(split, set()).update(keys[split_by])
    sides = list(people.values())
    assert len(sides) >= 2
    assert not set.intersection(*sides)
    assert all(not a & b for i, a in enumerate(sides) for b in sides[:i])
    assert (dropped > 0) == (split_by == "person")
