"""What a corpus is, as data: a view (a config and all that follows from its name), and what holds of all its views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import datasets

from .published import Figure

DIALOGUE_TASK = ("text-generation", "dialogue-modeling")


class Measures(Protocol):
    """Numbers of all rows of a view, for its card; `cards.corpus_figures` draws the kinds that it knows."""

    def numbers(self) -> Sequence[tuple[str, str]]:
        """(what, value) of each line of the card's table."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What a config holds and what it is for. A corpus adds how its rows are made, in a subclass."""

    name: str
    description: str
    features: Callable[[Any], datasets.Features]
    """Of the config's options. A frozen constant or made of those: `datasets` gets a copy."""
    options: tuple[str, ...] = ()
    """Options of the corpus that mean something to this view, where they don't mean something to every view."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of options that differ from the corpus's own."""
    trains: tuple[str, ...] = ()
    """Training methods that read this view where a recipe names none."""
    task: tuple[str, str] = DIALOGUE_TASK
    """The Hub's task category and task id, for the card."""
    measure: Callable[[datasets.Dataset], Measures] | None = None
    """All rows to the numbers of the card."""
    published: Callable[[datasets.Dataset], list[Figure]] | None = None
    """All rows to the paper's figures beside ours; one view of a corpus has them."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What a card says of a corpus whatever the view, in the Hub's words."""

    pretty_name: str
    template: str
    """The card's prose is `dataset_cards/<template>.md`."""
    license: str = "unknown"
    source_datasets: tuple[str, ...] = ()
    annotations_creators: str
    language_creators: str
    tags: tuple[str, ...] = ()
    language: str = "ja"
    """In which the corpus was written; any other is a translation."""
    languages: Mapping[str, str] = field(default_factory=dict)
    """Code to name of each language that can be asked for."""
    translated_in: str = ""
    """Hub id of the translations."""
    stated_by_rows: bool = False
    """Licence, sources and writers are what the rows state (`SourceBuilder.origins`)."""
    limits: str
    """What the card of a model trained on it says of the data."""


def fixed(features: datasets.Features) -> Callable[[Any], datasets.Features]:
    """Features that no option changes."""
    return lambda config: features


def only_for(views: Sequence[View]) -> dict[str, tuple[str, ...]]:
    """Options that mean something to some views alone, each with those views."""
    names = dict.fromkeys(option for view in views for option in view.options)
    return {option: tuple(view.name for view in views if option in view.options) for option in names}
