"""Everything that is wrong with a card, found locally and listed at once, each with a suggestion.

`huggingface_hub` and `datasets` are asked too: what they can't read, they refuse later or ignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCardData

from ..core.suggest import nearest
from ..errors import describe
from . import hub_terms as terms
from .front_matter import CardError, size_category, split_card

CARD_BYTES = 5 * 2**20
"""Largest README.md that is read; the Hub shows far less."""

_SIZE_KEY = "size_categories"
_SIZES = {size_category(10**power) for power in range(13)}
_LANGUAGE = re.compile(r"[a-z]{3}\Z")
_TEXT_KEYS = (*terms.LIST_KEYS, "license", "license_name", "pretty_name", "version", "configs", "paperswithcode_id")
_TRUTH_KEYS = ("configs.default", "configs.drop_labels")
_LABEL_KEYS = ("config_name", ".name", "class_label.names")
_SPECIAL_LANGUAGES = ("code", "multilingual")


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a card: the key, what was found, what is allowed, and the likely intention."""

    key: str
    got: str
    allowed: str
    suggestion: str = ""

    def __str__(self) -> str:
        hint = f"; {self.suggestion}" if self.suggestion else ""
        return f"{self.key}: got {self.got}; allowed: {self.allowed}{hint}"


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise one CardError that lists every problem; nothing if there is none."""
    if found := list(problems):
        lines = "\n".join(f"  {problem}" for problem in found)
        count = f"{len(found)} problem{'s' if len(found) != 1 else ''}"
        raise CardError(f"README.md has {count}, nothing was sent:\n{lines}")


def card_problems(content: bytes, rows: int | None = None) -> list[Problem]:
    """Every problem of a card's text; `rows`, if known, is what the size tag has to fit."""
    if len(content) > CARD_BYTES:
        return [Problem("README.md", f"{len(content)} bytes", f"at most {CARD_BYTES}", "move data out of the card")]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [Problem("README.md", f"byte 0x{content[error.start]:02x} at {error.start}", "UTF-8 text")]
    try:
        data, body = split_card(text)
    except CardError as error:
        return [Problem("README.md", str(error).removeprefix("README.md: "), "YAML keys and values")]
    if not data:
        return [Problem("README.md", "no YAML block", "a block between --- lines", "render it with: hf-kokoro card")]
    problems = [*_type_problems(data), *_term_problems(data), *_size_problems(data, rows), *_config_problems(data)]
    if not body.strip():
        problems.append(Problem("README.md", "no text below the YAML block", "a description of the dataset"))
    return problems


def _type_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Values that YAML read as something else than the text that was meant: `no`, `on`, `1.10`, dates."""
    for path, value in _leaves(data):
        key = re.sub(r"\.\d+", "", path)
        text_wanted = key.split(".")[0] in _TEXT_KEYS and key not in _TRUTH_KEYS
        if isinstance(value, bool) and (text_wanted or key.endswith(_LABEL_KEYS)):
            yield Problem(path, f"the truth value {str(value).lower()}", "text", "put it in quotes: 'no', 'on', 'yes'")
        elif isinstance(value, int | float) and not isinstance(value, bool) and text_wanted and key != _SIZE_KEY:
            yield Problem(path, f"the number {value}", "text", "put it in quotes, such as '1.10'")
        elif not isinstance(value, int | float) and value is not None and not isinstance(value, str | bool):
            yield Problem(path, f"a {type(value).__name__}", "text, lists and keys", "put it in quotes")
        elif isinstance(value, str) and re.search("[\u0085\u2028\u2029]", value):
            yield Problem(path, "a unicode line separator", "plain text", "remove it")
    for key in terms.LIST_KEYS:
        if key in data and not isinstance(data[key], list) and not (key == _SIZE_KEY and _numbers(data[key])):
            yield Problem(key, describe(data[key], show=True), "a list", f"write it as [{data[key]}]")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}".strip(".")
            # class labels are written with their numbers as keys
            yield from _leaves(item, path if path.endswith("class_label.names") else inner)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}.{index}")
    else:
        yield path, value


def _term_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    if not _strings(data.get("license")):
        got = describe(data["license"]) if data.get("license") is not None else "nothing"
        yield Problem("license", got, "a licence id", "such as mit")
    for licence in _strings(data.get("license")):
        if licence not in terms.LICENCE_IDS:
            yield _unknown("license", licence, terms.LICENCE_IDS, "a licence id of the Hub, lower case", _bare(licence))
    for language in _strings(data.get("language")):
        known = language in terms.LANGUAGES_TWO_LETTERS or language in _SPECIAL_LANGUAGES or _LANGUAGE.match(language)
        meant = terms.LANGUAGE_MISTAKES.get(language.casefold())
        if not known or meant:
            yield Problem("language", repr(language), "an ISO 639 code", f"did you mean {meant}?" if meant else "")
    for category in _strings(data.get("task_categories")):
        if category not in terms.TASKS:
            yield _unknown("task_categories", category, terms.TASKS, "a task of the Hub")
    for task in _strings(data.get("task_ids")):
        if task not in terms.TASK_IDS:
            guess = terms.TASK_ID_MISTAKES.get(task.casefold(), task)
            yield _unknown("task_ids", task, terms.TASK_IDS, "a task id of the Hub", guess)
    for key, choices in terms.CHOICES.items():
        for choice in _strings(data.get(key)):
            if choice not in choices:
                yield _unknown(key, choice, choices, ", ".join(sorted(choices)))


def _bare(licence: str) -> str:
    """A licence's name as an id would spell it: `The Apache License, Version 2.0` is apache-2.0."""
    words = re.split(r"[\s_,-]+", licence.casefold())
    return "-".join(word for word in words if word not in ("", "the", "license", "licence", "version"))


def _strings(value: Any) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _numbers(value: Any) -> list[int]:
    return [item for item in (value if isinstance(value, list) else [value]) if type(item) is int]


def _unknown(key: str, value: str, known: Iterable[str], allowed: str, guess: str | None = None) -> Problem:
    near = nearest(guess or value.casefold(), known)
    return Problem(key, repr(value[:60]), allowed, f"did you mean {near}?" if near else "")


def _size_problems(data: Mapping[str, Any], rows: int | None) -> Iterator[Problem]:
    right = None if rows is None else size_category(rows)
    sizes = data.get(_SIZE_KEY)
    for size in (*_strings(sizes), *map(str, _numbers(sizes))):
        if size not in _SIZES:
            digits = size.replace(",", "").replace("_", "")
            guess = right or (size_category(int(digits)) if digits.isdigit() and len(digits) < 15 else "n<1K")
            yield Problem(_SIZE_KEY, repr(size[:60]), "a tag such as 1K<n<10K", f"did you mean {guess}?")
        elif right is not None and size != right:
            yield Problem(_SIZE_KEY, repr(size), f"{right}, for {rows} rows", f"did you mean {right}?")


def _config_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What `datasets` itself makes of `configs` and `dataset_info`."""
    card = DatasetCardData(**{k: v for k, v in data.items() if k in ("configs", "dataset_info")})
    for key, read in (
        ("configs", MetadataConfigs.from_dataset_card_data),
        ("dataset_info", DatasetInfosDict.from_dataset_card_data),
    ):
        value = data.get(key)
        if value is not None and not isinstance(value, list | dict):
            yield Problem(key, describe(value), "a list with one entry a config")
            continue
        try:
            read(card)
        # whatever malformed YAML makes of it: the readers of `datasets` check little and raise anything
        except Exception as error:
            got = f"entries that `datasets` can't read ({type(error).__name__})"
            yield Problem(key, got, "entries as `datasets` writes them", "render it with: hf-kokoro card")
    entries = data.get("configs")
    entries = entries if isinstance(entries, list) else []
    names = [entry.get("config_name") for entry in entries if isinstance(entry, dict)]
    for name in sorted({str(name) for name in names if names.count(name) > 1}):
        yield Problem("configs", f"config {name[:40]!r} twice", "each config once")
