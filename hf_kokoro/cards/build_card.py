"""Cards of folders with one built config, for `hf-kokoro build`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from datasets import Dataset, Features

from ..core.suggest import allowed
from ..corpora import BUILDERS
from ..corpora.views import View, fixed
from ..errors import UsageError, describe
from ..policy.licences import Origins
from .columns import column_table
from .front_matter import ConfigCard, configs_metadata, size_category, split_card
from .miti_card import LOCAL_NAME
from .origins import wording_of
from .renewing import renew_card
from .templates import fill, keep_hand_written, template

_SHARED_TAGS = ("counselling", "empathy", "mental-health")


def render_build_card(
    name: str,
    config: str,
    features: Features,
    rows: Mapping[str, int],
    data_files: Mapping[str, str],
    *,
    description: str = "",
    options: Mapping[str, Any] | None = None,
    statistics: str = "",
    repo: str = LOCAL_NAME,
    existing: str | None = None,
    origins: Origins | None = None,
    left_out: Mapping[str, int] | None = None,
) -> str:
    """README.md of a folder that holds one built config.

    `rows` and `data_files` map splits to row counts and file patterns; a split without rows has no file. `options`
    are the config's that decided the rows: what the card says of language and splits follows them. `statistics` is
    Markdown, such as that of `build_statistics`. `origins` are what MITI-ST rows state of theirs (`origins_of`);
    without them the card says that nothing is stated. `left_out` is what the options left out of every split, reason
    to number. Hand-written parts of `existing` are kept. Raises UsageError for a dataset without a template,
    CardError if the existing card's YAML can't be read.
    """
    if name not in BUILDERS:
        raise UsageError(f"card: got dataset {describe(name, show=True)}; {allowed(name, BUILDERS)}")
    about = BUILDERS[name].ABOUT
    _, old_body = split_card(existing) if existing else ({}, "")
    total = sum(rows.values())
    values = {
        "config": config,
        "description": description,
        "rows": f"{total:,}",
        "splits": ", ".join(f"{split} {count:,}" for split, count in rows.items()),
        "division": _division(name, config, rows, options or {}, left_out or {}),
        "options": _options_line(options or {}, about.languages),
        "repo": repo,
        "columns": column_table(features),
        "statistics": statistics,
    }
    stated: dict[str, Any] = {}
    if about.stated_by_rows:
        wording = wording_of(origins or {})
        values |= {key: wording.values()[key] for key in ("title", "writers", "licence")}
        stated = {"pretty_name": f"{wording.title} ({config})", **wording.metadata()}
    prose = template(about.template)
    body = keep_hand_written(fill(prose, values), old_body or None, prose)
    filled = {split: count for split, count in rows.items() if count}
    card = ConfigCard(config, features, data_files, filled, default=True)
    metadata = _metadata(name, card, total, options or {}) | stated
    # the folder holds this config and no other, whatever a former build's card says
    return renew_card(existing, metadata, body, joined=False, named=False)


def build_statistics(
    name: str, config: str, rows: Dataset, figures: bool | None = None
) -> tuple[str, dict[str, bytes]]:
    """Statistics section and figures (path in the folder to PNG) of a built config.

    Views without `measure` have neither. `figures=None` draws if the extra `plots` is installed; with True its
    absence is a MissingExtraError.
    """
    from .corpus_figures import corpus_figures

    measure = _view(name, config).measure
    if measure is None:
        return "", {}
    measured = measure(rows)
    wanted = figures if figures is not None else find_spec("matplotlib") is not None
    drawn = corpus_figures(measured) if wanted else {}
    lines = [f"| {what} | {value} |" for what, value in measured.numbers()]
    table = "\n".join(["## Numbers", "", "| what | value |", "|---|---|", *lines])
    captions = [f"![{caption}]({path})" for path, (caption, _) in drawn.items()]
    return "\n\n".join([table, *captions]), {path: image for path, (_, image) in drawn.items()}


def _division(
    name: str, config: str, rows: Mapping[str, int], options: Mapping[str, Any], left_out: Mapping[str, int]
) -> str:
    """How the rows are divided, what that left out, and which splits are empty; of somebody's own split nothing."""
    builder = BUILDERS[name]
    if config not in {view.name for view in builder.VIEWS}:
        return ""
    chosen = builder.config_of(config, options)
    sentences = [*filter(None, [builder.texts_in_words(chosen)]), builder.splits_in_words(chosen)]
    sentences += [f"Left out: {count:,} {reason}." for reason, count in left_out.items()]
    if empty := [split for split, count in rows.items() if not count]:
        sentences.append(f"Without rows, so without a file: {', '.join(empty)}.")
    return " ".join(sentences)


def _view(name: str, config: str) -> View:
    """The config's view, or a plain one for a split of somebody's own."""
    own = View(name=config, description="", features=fixed(Features()))
    return next((view for view in BUILDERS[name].VIEWS if view.name == config), own)


def _metadata(name: str, card: ConfigCard, total: int, options: Mapping[str, Any]) -> dict[str, Any]:
    about = BUILDERS[name].ABOUT
    language = str(options.get("language") or about.language)
    category, task = _view(name, card.name).task
    return {
        "pretty_name": f"{about.pretty_name} ({card.name})",
        "license": about.license,
        "language": [language],
        "multilinguality": ["monolingual" if language == about.language else "translation"],
        "size_categories": [size_category(total)],
        "task_categories": [category],
        "task_ids": [task],
        "annotations_creators": [about.annotations_creators],
        "language_creators": [about.language_creators],
        "source_datasets": [*about.source_datasets, *([about.translated_in] if language != about.language else [])],
        "tags": [*_SHARED_TAGS, *about.tags],
        **configs_metadata([card]),
    }


def _options_line(options: Mapping[str, Any], languages: Mapping[str, str]) -> str:
    shown = {key: value for key, value in options.items() if value is not None}
    if not shown:
        return ""
    language = languages.get(str(shown.get("language")), "")
    settings = ", ".join(f"`{key}={value}`" for key, value in shown.items())
    return f"Built with {settings}{f' ({language})' if language else ''}."
