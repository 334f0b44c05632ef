"""BLEU, ROUGE and Distinct against the libraries' own results, hand-worked values, and their properties."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_kokoro.evaluation.distinct import DistinctCounter, ngram_keys
from hf_kokoro.evaluation.generation import count_system, generation_report
from hf_kokoro.evaluation.overlap import ROUGES, overlap_counts, overlap_metrics
from hf_kokoro.evaluation.predictions import Prediction

WORDS = st.lists(st.sampled_from(["私", "は", "眠れ", "ない", "です", "a", "。", "ね"]), min_size=1, max_size=12)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6)


def metrics_of(pairs: list[tuple[str, str]], tokenizer: str = "mecab") -> dict[str, float]:
    rows = [Prediction(said, wanted, str(i), str(i)) for i, (said, wanted) in enumerate(pairs)]
    report = generation_report(count_system(rows, tokenizer), draws=0)
    return {name: figure.value for name, figure in report.metrics.items()}


OVERLAP = ("bleu1", "bleu2", "bleu3", "bleu4", *ROUGES)


@pytest.mark.parametrize("tokenizer", ["mecab", "char"])
def test_identical_japanese_is_one_half_shared_is_between_and_unrelated_is_near_zero(tokenizer: str) -> None:
    same = metrics_of([("昨日はあまり眠れませんでした。", "昨日はあまり眠れませんでした。")], tokenizer)
    half = metrics_of([("昨日はあまり眠れませんでした。", "昨日はあまり食べられなかったのです。")], tokenizer)
    none = metrics_of([("大変でしたね", "猫も走る")], tokenizer)
    for name in OVERLAP:
        assert same[name] == 1.0, name
        assert 0.05 < half[name] < 0.95, name
        assert none[name] < 0.05, name


@pytest.mark.parametrize("text", ["はい", "ん", "。", "そうですか", "👨‍👩‍👧", "ﾜｶﾞﾊｲ"])
def test_an_identical_pair_scores_one_however_short_it_is(text: str) -> None:
    pairs = [(text, text), ("眠れません", "眠れません")]
    assert {metrics_of(pairs)[name] for name in OVERLAP} == {1.0}


def test_bleu_of_papineni_example_is_worked_by_hand() -> None:
    # Papineni et al. 2002, example 2: "the" stands seven times, the reference has it twice: precision 2/7
    found = metrics_of([("the the the the the the the", "the cat is on the mat")], "space")
    assert found["bleu1"] == pytest.approx(2 / 7, abs=1e-6)
    # 3 of 4 words, 1 of 3 bigrams, one word too few: brevity penalty exp(1 - 5/4)
    found = metrics_of([("a b c d", "a b x d e")], "space")
    assert found["bleu1"] == pytest.approx(math.exp(-1 / 4) * 3 / 4, abs=1e-6)
    assert found["bleu2"] == pytest.approx(math.exp(-1 / 4) * math.sqrt(3 / 4 * 1 / 3), abs=1e-6)


def test_rouge_of_lin_example_is_worked_by_hand() -> None:
    # Lin 2004, section 3: "police kill the gunman" against "police killed the gunman": LCS 3 of 4 and 4
    found = metrics_of([("police kill the gunman", "police killed the gunman")], "space")
    assert found["rougeL"] == 0.75
    found = metrics_of([("the gunman kill police", "police killed the gunman")], "space")
    assert found["rougeL"] == 0.5  # LCS "the gunman"
    assert found["rouge1"] == 0.75
    assert found["rouge2"] == pytest.approx(1 / 3, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(PAIRS)
def test_bleu_equals_sacrebleus_corpus_score_on_the_same_tokens(pairs: list[tuple[list[str], list[str]]]) -> None:
    from sacrebleu.metrics.bleu import BLEU

    found = overlap_metrics(overlap_counts(pairs).sum(axis=0))
    said, wanted = [" ".join(p) for p, _ in pairs], [[" ".join(r) for _, r in pairs]]
    for order in range(1, 5):
        bleu = BLEU(tokenize="none", force=True, effective_order=True, max_ngram_order=order)
        assert found[f"bleu{order}"] == pytest.approx(min(bleu.corpus_score(said, wanted).score / 100, 1.0), abs=1e-9)


def naive_rouge(said: list[str], wanted: list[str], order: int) -> float:
    first = Counter(zip(*(said[i:] for i in range(order)), strict=False))
    second = Counter(zip(*(wanted[i:] for i in range(order)), strict=False))
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 0.0


def naive_rouge_l(said: list[str], wanted: list[str]) -> float:
    table = np.zeros((len(said) + 1, len(wanted) + 1))
    for i, a in enumerate(said):
        for j, b in enumerate(wanted):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    return 2 * table[-1, -1] / (len(said) + len(wanted))


@settings(max_examples=25, deadline=None)
@given(PAIRS)
def test_rouge_equals_a_direct_count(pairs: list[tuple[list[str], list[str]]]) -> None:
    found = overlap_metrics(overlap_counts(pairs).sum(axis=0))
    two = [naive_rouge(p, r, 2) for p, r in pairs if max(len(p), len(r)) > 1]
    expected = {
        "rouge1": np.mean([naive_rouge(p, r, 1) for p, r in pairs]),
        "rouge2": np.mean(two) if two else 0.0,
        "rougeL": np.mean([naive_rouge_l(p, r) for p, r in pairs]),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_metrics_are_bounded_and_do_not_depend_on_the_order_of_samples(
    pairs: list[tuple[list[str], list[str]]], chance: random.Random
) -> None:
    found = overlap_metrics(overlap_counts(pairs).sum(axis=0))
    assert all(0 <= value <= 1 for value in found.values())
    shuffled = pairs[:]
    chance.shuffle(shuffled)
    assert overlap_metrics(overlap_counts(shuffled).sum(axis=0)) == found


@settings(max_examples=25, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5))
def test_predictions_that_share_no_token_with_their_references_score_zero(texts: list[list[str]]) -> None:
    found = overlap_metrics(overlap_counts([(text, [f"{word}x" for word in text]) for text in texts]).sum(axis=0))
    assert set(found.values()) == {0.0}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=8), min_size=1, max_size=8), st.integers(1, 3))
def test_distinct_counts_equal_those_of_a_set_of_tuples_however_they_are_chunked(
    samples: list[list[str]], chunk: int
) -> None:
    counter = DistinctCounter()
    for start in range(0, len(samples), chunk):
        for order in (1, 2):
            counter.add(order, ngram_keys(samples[start : start + chunk], order))
    for order in (1, 2):
        expected = {tuple(s[i : i + order]) for s in samples for i in range(len(s) - order + 1)}
        assert counter.different(order) == len(expected)


def test_distinct_is_over_the_whole_corpus_and_tells_the_order_of_words() -> None:
    # 5 tokens, 3 different; bigrams ab, ba, xx of samples (a b a), (x x): 3 of 3
    found = metrics_of([("a b a", "r"), ("x x", "r")], "space")
    assert found["distinct1"] == 0.6
    assert found["distinct2"] == 1.0
    # every sample alone would give 1.0
    assert metrics_of([("a b", "r")] * 4, "space")["distinct1"] == 0.25


def test_a_model_that_says_nothing_scores_zero_and_is_counted() -> None:
    rows = [Prediction("", "はい、そうです", "1", "1"), Prediction("　", "ええ", "2", "2")]
    report = generation_report(count_system(rows), draws=10)
    assert report.empty_predictions == 2
    assert {figure.value for figure in report.metrics.values()} == {0.0}


def test_one_dialogue_alone_has_no_interval() -> None:
    rows = [Prediction("はい", "ええ、はい", str(i), "the same dialogue") for i in range(3)]
    report = generation_report(count_system(rows))
    assert report.groups == 1
    assert report.metrics["bleu1"].low is None
    assert report.metrics["bleu1"].high is None
