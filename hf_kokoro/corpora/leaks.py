"""What a split shares with training, and what one that shares nothing would cost.

A test row "leaks" a group if that counsellor, client, therapist, question or situation is in training too:
then the model has met the person or the question, and the test says less about new ones.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.reports import Report
from ..errors import UsageError
from .load import get_builder
from .splits import TEST, TRAIN, Unit

_TOP_RATERS = 10


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
    builder = get_builder(name, config, source=source, cache_dir=cache_dir, **options)
    split_by, (_, *choices) = builder.config.split_by, builder.config.CHOICES["split_by"]
    chosen = list(builder.units(split_by))
    shared = list(_shared(chosen))
    if not shared:
        raise UsageError(f"{name} {config} has no held-out split; choose one with split_by: {', '.join(choices)}")
    others = [choice for choice in choices if choice not in (split_by, "random")]
    alternatives = [_sizes(choice, list(builder.units(choice))) for choice in others]
    concentration = dict(_concentration(chosen, builder.RATERS))
    return LeakReport(name, config, _sizes(split_by, chosen), shared, concentration, alternatives)


def _concentration(units: Sequence[Unit], raters: str | None) -> Iterator[tuple[str, float]]:
    test = [unit for unit in units if unit.split == TEST]
    if raters and test:
        top = Counter(member for unit in test for member in unit.groups[raters]).most_common(_TOP_RATERS)
        share = sum(count for _, count in top) / len(test)
        yield f"share of test dialogues rated by the {len(top)} most frequent raters", share


def _sizes(split_by: str | None, units: Sequence[Unit]) -> Sizes:
    counts = Counter(unit.split for unit in units)
    dropped = counts.pop(None, 0)
    return Sizes(split_by, {str(name): counts[name] for name in sorted(map(str, counts))}, dropped)


def _shared(units: Sequence[Unit]) -> Iterator[Shared]:
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
