"""The figures of KokoroChat's paper (Qi et al. 2025, arXiv 2506.01357), beside those of the files at hand."""

from __future__ import annotations

from datasets import Dataset

from ..published import Edition, Figure
from .measures import CLIENT, COUNSELOR, DialogueMeasures, measure_rows
from .schema import FLAG_NAMES, TOPICS

EDITION = Edition(6589, 125_856_078, "f25a6712f67bbf3efbc196473c6094de8d42dae223d50eb30c91f902559571c2")
"""The repository as of 2025-08-04, the state that the paper's figures were counted on."""


def figures(rows: Dataset) -> list[Figure]:
    """The paper's tables, from rows of the `dialogues` view."""
    m = measure_rows(rows)
    return [*_sizes(m), *_scores(m), *_correlations(m), *_topics(m)]


def _sizes(m: DialogueMeasures) -> list[Figure]:
    utterances, characters, turns = m.utterances.sum(axis=0), m.characters.sum(axis=0), m.turns.sum(axis=0)
    dialogues = len(m.score)
    people = [set(m.counselor_id.tolist()), set(m.client_id.tolist())]
    pairs = set(zip(m.client_id.tolist(), m.counselor_id.tolist(), strict=True))
    return [
        Figure("dialogues", 6_589, dialogues),
        Figure("utterances", 600_939, int(utterances.sum())),
        Figure("utterances, counsellor", 306_495, int(utterances[COUNSELOR])),
        Figure("utterances, client", 294_444, int(utterances[CLIENT])),
        Figure("utterances per dialogue", 91.20, utterances.sum() / dialogues, 2),
        Figure("utterances per dialogue, counsellor", 46.52, utterances[COUNSELOR] / dialogues, 2),
        Figure("utterances per dialogue, client", 44.69, utterances[CLIENT] / dialogues, 2),
        Figure("characters per utterance", 28.39, characters.sum() / utterances.sum(), 2),
        Figure("characters per utterance, counsellor", 35.84, characters[COUNSELOR] / utterances[COUNSELOR], 2),
        Figure("characters per utterance, client", 20.63, characters[CLIENT] / utterances[CLIENT], 2),
        Figure("speakers", 480, len(people[0] | people[1])),
        Figure("speakers, counsellors", 424, len(people[0])),
        Figure("speakers, clients", 463, len(people[1])),
        Figure("distinct client-counsellor pairs", 4_900, len(pairs)),
        Figure("turns (runs of one speaker merged)", 471_940, int(turns.sum())),
        Figure("turns, counsellor", 237_735, int(turns[COUNSELOR])),
    ]


def _scores(m: DialogueMeasures) -> list[Figure]:
    low, high = m.score < 70, (m.score >= 70) & (m.score <= 98)
    utterances = m.utterances.sum(axis=1)
    flags = [
        Figure(f"flagged: {name}", paper, int(checked))
        for name, paper, checked in zip(FLAG_NAMES, (8, 4, 209), m.screening.sum(axis=0), strict=True)
    ]
    return [
        Figure("score, mean", 63.58, m.mean_score, 2),
        Figure("score, median", 64, m.median_score),
        *flags,
        Figure("flagged: any", 215, m.flagged),
        Figure("score < 70, dialogues", 3_870, int(low.sum())),
        Figure("score < 70, utterances", 334_022, int(utterances[low].sum())),
        Figure("score 70-98, dialogues", 2_601, int(high.sum())),
        Figure("score 70-98, utterances", 254_515, int(utterances[high].sum())),
        Figure("score >= 99, dialogues (the test set)", 118, int((m.score >= 99).sum())),
    ]


def _correlations(m: DialogueMeasures) -> list[Figure]:
    published = (0.42, 0.28, 0.21, 0.17, -0.21)
    return [
        Figure(f"Spearman of score with {name}", paper, float("nan") if rho is None else rho, 2)
        for paper, (name, rho) in zip(published, m.score_correlations().items(), strict=True)
    ]


def _topics(m: DialogueMeasures) -> list[Figure]:
    published = (1330, 1123, 966, 928, 848, 454, 438, 306, 140, 49, 7)
    return [Figure(f"topic: {t}", p, m.topics[t]) for t, p in zip(TOPICS, published, strict=True)]
