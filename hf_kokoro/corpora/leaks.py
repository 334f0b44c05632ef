"""What a split shares with training, and what one that shares nothing would cost.

A test row "leaks" a group if that counsellor, client, therapist, question or situation is in training too:
then the model has met the person or the question, and the test says less about new ones.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ..core.reports import Report
from ..core.suggest import allowed
from ..errors import UsageError
from .kokorochat.kokorochat import KokoroChat
from .kokorochat.splits import SPLIT_CHOICES as KOKOROCHAT_CHOICES
from .kokorochat.splits import SplitRule
from .kokorochat.views import DialogueView
from .load import BUILDERS, get_builder, load_dataset
from .miti_st.miti_st_dpo import SPLIT_CHOICES as MITI_CHOICES
from .splits import TRAIN

_TOP_RATERS = 10


class Unit(NamedTuple):
    """One row for the purpose of splitting: its split (None = dropped) and its groups' members."""

    split: str | None
    groups: Mapping[str, frozenset[Any]]


@dataclass(frozen=True)
class Shared:
    """Rows of a held-out split with a member of `group` that is in training too."""

    split: str
    group: str
    rows: int
    of: int

    @property
    def share(self) -> float:
        return self.rows / self.of if self.of else 0.0


@dataclass(frozen=True)
class Sizes:
    """Rows per split under one `split_by`, and the rows dropped to keep the sides apart."""

    split_by: str | None
    splits: dict[str, int]
    dropped: int


@dataclass(frozen=True)
class LeakReport(Report):
    """`chosen` is the split that was asked for; `alternatives` are the disjoint ones."""

    dataset: str
    config: str
    chosen: Sizes
    shared: list[Shared]
    concentration: dict[str, float] = field(default_factory=dict)
    alternatives: list[Sizes] = field(default_factory=list)


def find_leaks(
    name: str, config: str, *, source: str | os.PathLike[str] | None = None, cache_dir: Any = None, **options: Any
) -> LeakReport:
    """Report what the held-out splits of a config share with its training split.

    `options` are the config's (`pool`, `seed`, `split_by`, ...). Raises UsageError for a config without
    held-out splits and without `split_by`.
    """
    find = {"kokorochat": _kokorochat, "miti_st_dpo": _miti_st, "emplifai": _emplifai}
    if name not in find:
        raise UsageError(f"dataset: got {name!r}; {allowed(name, BUILDERS)}")
    return find[name](config, source, cache_dir, options)


def _kokorochat(config: str, source: Any, cache_dir: Any, options: dict[str, Any]) -> LeakReport:
    builder = get_builder("kokorochat", config, source=source, cache_dir=cache_dir, **options)
    asked = builder.config
    dialogues = _dialogue_keys(source, cache_dir, asked.language)

    view = cast(DialogueView, KokoroChat.view_of(config))

    def units(split_by: str | None) -> list[Unit]:
        rule = SplitRule(view.paper_splits, asked.pool, asked.seed, split_by)
        return [Unit(rule.split_of(d), d.groups()) for d in dialogues]

    report = _report("kokorochat", config, units, asked.split_by, KOKOROCHAT_CHOICES[1:])
    test = [d for d, unit in zip(dialogues, units(asked.split_by), strict=True) if unit.split == "test"]
    if test:
        top = Counter(d.client_id for d in test).most_common(_TOP_RATERS)
        share = sum(count for _, count in top) / len(test)
        report.concentration[f"share of test dialogues rated by the {len(top)} most frequent raters"] = share
    return report


class _DialogueKeys(NamedTuple):
    dialogue_id: int
    client_id: int
    counselor_id: int
    score: int

    def groups(self) -> dict[str, frozenset[Any]]:
        return {"client": frozenset([self.client_id]), "counselor": frozenset([self.counselor_id])}


def _dialogue_keys(source: Any, cache_dir: Any, language: str) -> list[_DialogueKeys]:
    rows = load_dataset("kokorochat", "dialogues", source=source, split="train", cache_dir=cache_dir, language=language)
    table = rows.select_columns(list(_DialogueKeys._fields)).with_format("arrow")[:]
    columns = [table[name].to_pylist() for name in _DialogueKeys._fields]
    return [_DialogueKeys(*values) for values in zip(*columns, strict=True)]


def _miti_st(config: str, source: Any, cache_dir: Any, options: dict[str, Any]) -> LeakReport:
    asked = get_builder("miti_st_dpo", config, source=source, cache_dir=cache_dir, **options).config

    def units(split_by: str | None) -> list[Unit]:
        chosen = {**options, "split_by": split_by}
        found = load_dataset("miti_st_dpo", config, source=source, cache_dir=cache_dir, **chosen)
        held = [Unit(split, _miti_groups(row)) for split, rows in found.items() for row in _light(rows)]
        undivided = {**options, "split_by": None}
        everything = load_dataset("miti_st_dpo", config, source=source, cache_dir=cache_dir, **undivided)
        return held + [Unit(None, {})] * (everything.num_rows[TRAIN] - len(held))

    return _report("miti_st_dpo", config, units, asked.split_by, MITI_CHOICES[1:])


def _light(rows: Any) -> Any:
    keep = ("question_id", "prompt", "therapist", "chosen_therapist", "rejected_therapist", "all_answers")
    return rows.select_columns([name for name in rows.column_names if name in keep])


def _miti_groups(row: Mapping[str, Any]) -> dict[str, frozenset[Any]]:
    prompt = row["prompt"] if isinstance(row["prompt"], str) else row["prompt"][-1]["content"]
    therapists = [row[k] for k in ("therapist", "chosen_therapist", "rejected_therapist") if k in row]
    therapists = therapists or [answer["therapist"] for answer in row["all_answers"]]
    return {"question": frozenset([row["question_id"], prompt]), "therapist": frozenset(therapists)}


def _emplifai(config: str, source: Any, cache_dir: Any, options: dict[str, Any]) -> LeakReport:
    asked = get_builder("emplifai", config, source=source, cache_dir=cache_dir, **options).config

    def units(split_by: str | None) -> list[Unit]:
        chosen = {**options, "split_by": split_by} if split_by else options
        found = load_dataset("emplifai", config, source=source, cache_dir=cache_dir, **chosen)
        return [
            Unit(split, {"situation": frozenset([s])}) for split, rows in found.items() for s in rows["situation_id"]
        ]

    return _report("emplifai", config, units, asked.split_by, ("situation",))


def _report(
    dataset: str,
    config: str,
    units: Callable[[str | None], list[Unit]],
    split_by: str | None,
    choices: Sequence[str | None],
) -> LeakReport:
    chosen = units(split_by)
    shared = list(_shared(chosen))
    if not shared:
        allowed = ", ".join(map(str, choices))
        raise UsageError(f"{dataset} {config} has no held-out split; choose one with split_by: {allowed}")
    alternatives = [_sizes(choice, units(choice)) for choice in choices if choice not in (split_by, "random")]
    return LeakReport(dataset, config, _sizes(split_by, chosen), shared, alternatives=alternatives)


def _sizes(split_by: str | None, units: Sequence[Unit]) -> Sizes:
    counts = Counter(unit.split for unit in units)
    dropped = counts.pop(None, 0)
    return Sizes(split_by, {str(name): counts[name] for name in sorted(map(str, counts))}, dropped)


def _shared(units: Sequence[Unit]) -> Any:
    train: dict[str, set[Any]] = {}
    for unit in units:
        if unit.split == TRAIN:
            for group, members in unit.groups.items():
                train.setdefault(group, set()).update(members)
    for split in sorted({str(unit.split) for unit in units} - {TRAIN, "None"}):
        rows = [unit.groups for unit in units if unit.split == split]
        for group in rows[0]:
            met = sum(not groups[group].isdisjoint(train.get(group, ())) for groups in rows)
            yield Shared(split, group, met, len(rows))
        if len(rows[0]) > 1:
            every = sum(all(not g[k].isdisjoint(train.get(k, ())) for k in g) for g in rows)
            yield Shared(split, " and ".join(rows[0]), every, len(rows))
