"""Cards of folders with one built config, for `hf-kokoro build`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from datasets import Dataset, Features

from ..core.suggest import allowed
from ..corpora import BUILDERS
from ..corpora.kokorochat import schema as kokorochat
from ..corpora.views import DIALOGUE_TASK
from ..errors import UsageError, describe
from ..policy.claims import Origins
from .columns import column_table
from .front_matter import ConfigCard, configs_metadata, join_card, merge_metadata, size_category, split_card
from .miti_card import LOCAL_NAME
from .origins import wording_of
from .templates import fill, keep_hand_written, template

_SHARED_TAGS = ("counselling", "empathy", "mental-health")


@dataclass(frozen=True)
class _Dataset:
    """What a card says of a dataset whatever the config. `license` is a Hub licence id."""

    pretty_name: str
    license: str
    source_datasets: tuple[str, ...]
    annotations_creators: str
    language_creators: str
    tags: tuple[str, ...]
    template: str
    language: str = "ja"


_DATASETS = {
    "kokorochat": _Dataset(
        pretty_name="KokoroChat",
        license=kokorochat.LICENSE_ID,
        source_datasets=(kokorochat.HUB_ID,),
        annotations_creators="expert-generated",
        language_creators="expert-generated",
        tags=_SHARED_TAGS,
        template="kokorochat",
    ),
    "emplifai": _Dataset(
        pretty_name="EmplifAI",
        license="unknown",
        source_datasets=("original",),
        annotations_creators="crowdsourced",
        language_creators="crowdsourced",
        tags=(*_SHARED_TAGS, "emotion", "medical"),
        template="emplifai",
    ),
    "miti_st_dpo": _Dataset(
        pretty_name="MITI-ST preference pairs",
        # these follow from what the rows state
        license="unknown",
        source_datasets=(),
        annotations_creators="machine-generated",
        language_creators="other",
        tags=(*_SHARED_TAGS, "preference", "motivational-interviewing"),
        template="miti_st_dpo_config",
        language="en",
    ),
}
_LANGUAGES = {"ja": "Japanese", "en": "English (translated)", "zh": "Chinese (translated)"}


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
) -> str:
    """README.md of a folder that holds one built config.

    `rows` and `data_files` map splits to row counts and file patterns. `options` are the config's options
    that decided the rows; `language` among them sets the card's language. `statistics` is Markdown, such as
    that of `build_statistics`. `origins` are what MITI-ST rows state of theirs (`origins_of`); without them the card
    says that nothing is stated. Hand-written parts of `existing` are kept. Raises UsageError for a dataset
    without a template, CardError if the existing card's YAML can't be read.
    """
    if name not in _DATASETS:
        raise UsageError(f"card: got dataset {describe(name, show=True)}; {allowed(name, _DATASETS)}")
    dataset = _DATASETS[name]
    old_data, old_body = split_card(existing) if existing else ({}, "")
    total = sum(rows.values())
    values = {
        "config": config,
        "description": description,
        "rows": f"{total:,}",
        "splits": ", ".join(f"{split} {count:,}" for split, count in rows.items()),
        "options": _options_line(options or {}),
        "repo": repo,
        "columns": column_table(features),
        "statistics": statistics,
    }
    stated: dict[str, Any] = {}
    if name == "miti_st_dpo":
        wording = wording_of(origins or {})
        values |= {key: wording.values()[key] for key in ("title", "writers", "licence")}
        stated = {"pretty_name": f"{wording.title} ({config})", **wording.metadata()}
    prose = template(dataset.template)
    body = keep_hand_written(fill(prose, values), old_body or None, prose)
    card = ConfigCard(config, features, data_files, rows, default=True)
    return join_card(merge_metadata(old_data, _metadata(name, card, total, options or {}) | stated), body)


def build_statistics(
    name: str, config: str, rows: Dataset, figures: bool | None = None
) -> tuple[str, dict[str, bytes]]:
    """Statistics section and figures (path in the folder to PNG) of a built config.

    Only the `dialogues` configs of KokoroChat and EmplifAI have them; all others give nothing. `figures=None`
    draws if the extra `plots` is installed; with True its absence is a MissingExtraError.
    """
    from . import corpus_facts, corpus_figures

    wanted = figures if figures is not None else find_spec("matplotlib") is not None
    images: dict[str, bytes] = {}
    if (name, config) == ("kokorochat", "dialogues"):
        chat = corpus_facts.kokorochat_facts(rows.with_format("arrow").iter(1000))
        text = corpus_facts.kokorochat_statistics(chat)
        images = corpus_figures.kokorochat_figures(chat) if wanted else {}
    elif (name, config) == ("emplifai", "dialogues"):
        medical = corpus_facts.emplifai_facts(rows)
        text = corpus_facts.emplifai_statistics(medical)
        images = corpus_figures.emplifai_figures(medical) if wanted else {}
    else:
        return "", {}
    captions = [f"![{_CAPTIONS[path]}]({path})" for path in images]
    return "\n\n".join([text, *captions]), images


_CAPTIONS = {
    "assets/scores.png": "Histogram of the scores, in steps of five points",
    "assets/topics.png": "Dialogues per topic",
    "assets/items.png": "Spearman correlations between the 20 items",
    "assets/measures.png": "Spearman correlations of simple measures with the score",
    "assets/labels.png": "Dialogues and situations of every label",
}


def _metadata(name: str, card: ConfigCard, total: int, options: Mapping[str, Any]) -> dict[str, Any]:
    dataset = _DATASETS[name]
    language = str(options.get("language") or dataset.language)
    tasks = {view.name: view.task for view in BUILDERS[name].VIEWS}
    category, task = tasks.get(card.name, DIALOGUE_TASK)
    return {
        "pretty_name": f"{dataset.pretty_name} ({card.name})",
        "license": dataset.license,
        "language": [language],
        "multilinguality": ["monolingual" if language == dataset.language else "translation"],
        "size_categories": [size_category(total)],
        "task_categories": [category],
        "task_ids": [task],
        "annotations_creators": [dataset.annotations_creators],
        "language_creators": [dataset.language_creators],
        "source_datasets": list(dataset.source_datasets),
        "tags": list(dataset.tags),
        **configs_metadata([card]),
    }


def _options_line(options: Mapping[str, Any]) -> str:
    shown = {key: value for key, value in options.items() if value is not None}
    if not shown:
        return ""
    language = _LANGUAGES.get(str(shown.get("language")), "")
    settings = ", ".join(f"`{key}={value}`" for key, value in shown.items())
    return f"Built with {settings}{f' ({language})' if language else ''}."
