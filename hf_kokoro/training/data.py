"""The rows of a recipe: which columns a method needs, and plain folders or Hub ids as sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core.suggest import allowed
from ..corpora import BUILDERS, load_dataset
from ..corpora.load import get_builder
from ..errors import Fault, Faults, RowError, SourceError, UsageError, describe
from .messages import TEXTS, check_keys
from .recipe import RecipeSettings

COLUMNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "sft": (("messages",), ("prompt", "completion")),
    "dpo": (("prompt", "chosen", "rejected"),),
    "kto": (("prompt", "completion", "label"), ("prompt", "chosen", "rejected")),
    "reward": (("prompt", "chosen", "rejected"),),
}
"""Method to the sets of columns that it can train on, preferred first."""

ROLES = ("system", "user", "assistant")
FATAL_COLUMNS = ("images", "image", "tools", "chat_template_kwargs")
"""Names that TRL gives a meaning of its own, with errors that do not say so."""


def pick_splits(loaded: Mapping[str, Any], settings: RecipeSettings, *, typed: bool = False) -> tuple[Any, Any]:
    """(train, test or None) of a DatasetDict, cut to the recipe's row limits and checked for the method.

    `typed` rows come from a builder of this package, whose features leave no room for malformed texts.
    """
    train_name, test_name = settings.dataset_train_split, settings.dataset_test_split
    for key, name in (("dataset_train_split", train_name), ("dataset_test_split", test_name)):
        if name is not None and name not in loaded:
            raise UsageError(f"{key}: got {name!r}; {allowed(name, loaded, ', or null for no test split')}")
    train = _take(loaded[train_name], settings.max_train_rows)
    test = None if test_name is None else _take(loaded[test_name], settings.max_test_rows)
    for name, rows in ((train_name, train), (test_name, test)):
        if rows is not None:
            _check_columns(rows, settings.method, str(name))
            if not typed:
                _check_form(rows, str(name), settings.method)
            _check_one_form(rows[0], str(name))
    return train, test


def load_splits(settings: RecipeSettings) -> Mapping[str, Any]:
    """Split name to rows of the recipe's dataset: of a builder of this package, or of a folder or Hub id."""
    builder = BUILDERS.get(settings.dataset_name)
    if builder is None:
        return _load_plain(settings)
    defaults = builder.trained_views()
    options = dict(settings.dataset_options)
    if settings.dataset_revision is not None:
        options["revision"] = settings.dataset_revision
    if settings.dataset_source is not None:
        options["source"] = settings.dataset_source
    config = settings.dataset_config or defaults.get(settings.method)
    if config is None:
        raise UsageError(
            f"dataset_config: got nothing; {settings.dataset_name} has no default for {settings.method} "
            f"(only for {', '.join(defaults)}); name a config whose columns it can train on"
        )
    loaded: Mapping[str, Any] = load_dataset(settings.dataset_name, config, **options)
    return loaded


def stated_origins(settings: RecipeSettings) -> list[tuple[str, str, int]]:
    """(source_dataset, license, rows) where rows state theirs; other corpora have one licence, which is known."""
    builder = BUILDERS.get(settings.dataset_name)
    if builder is None or not builder.ABOUT.stated_by_rows:
        return []
    source, revision = settings.dataset_source, settings.dataset_revision
    stated = get_builder(settings.dataset_name, builder.PLAIN_VIEW, source=source, revision=revision).origins()
    return [(*pair, count) for pair, count in sorted((stated or {}).items())]


def _load_plain(settings: RecipeSettings) -> Mapping[str, Any]:
    """Splits of a folder or Hub id that is no builder of this package, by plain `datasets.load_dataset`.

    A Hub id is pinned to the commit that its revision names now, and the rows say so (see `origins`).
    """
    import datasets

    from ..core.hub_errors import TargetError
    from ..core.hub_snapshot import hub_call

    name, revision = settings.dataset_name, settings.dataset_revision
    local = Path(name).exists()
    if not local:
        revision = _commit(name, revision) or revision

    def load() -> Mapping[str, Any]:
        found: Mapping[str, Any] = datasets.load_dataset(
            name, settings.dataset_config, revision=revision, **settings.dataset_options
        )
        return found

    try:
        loaded = load() if local else hub_call(f"{name}: loading", load)
    except TargetError as error:
        raise SourceError(f"dataset_name {name!r}: {error}; check the id, or give a local folder") from None
    except Exception as error:
        # readers raise what they like, and quote the text they stumble over: it may be a client's, so it is not kept
        raise SourceError(
            f"dataset_name {name!r} can't be loaded ({type(error).__name__}); allowed: a builder (kokorochat, "
            "emplifai, annomi, miti_st_dpo), a folder or a Hub dataset id whose files all have the same columns and "
            "types; check the name, dataset_config and dataset_options"
        ) from None
    if not isinstance(loaded, Mapping):
        raise UsageError("dataset_options: got one split; allowed: options that leave all splits (no split=)")
    place = Path(name).name if local else f"hf://datasets/{name}@{revision or 'unknown'}"
    for rows in loaded.values():
        rows.info.download_checksums = {place: {"num_bytes": None, "checksum": None}}
    return loaded


def _commit(repo: str, revision: str | None) -> str | None:
    """The commit of a Hub dataset's revision; None if the Hub does not say (load_dataset may have a copy)."""
    from ..core.hub_errors import TargetError
    from ..core.hub_snapshot import Snapshot

    try:
        return Snapshot.of(repo, revision, None).commit
    except TargetError:
        return None


def origins(rows: Any) -> dict[str, str | None]:
    """Where rows come from to the digest of what was read: `hf://…@commit`, or the name of a local file or folder.

    Paths of this machine are left out: a run folder may be published. Rows made in memory have no origin.
    """
    found = (rows.info.download_checksums or {}).items()
    return {place if "://" in place else Path(place).name: (facts or {}).get("checksum") for place, facts in found}


def texts_of(rows: Any, limit: int = 2000) -> Iterator[str]:
    """The message contents (or plain texts) of the first `limit` rows, as a tokenizer is trained on them."""
    names = [name for columns in COLUMNS.values() for group in columns for name in group]
    present = [name for name in dict.fromkeys(names) if name in rows.column_names and name != "label"]
    for row in rows.select(range(min(limit, len(rows)))):
        for name in present:
            value = row[name]
            if isinstance(value, str):
                yield value
            else:
                yield from (turn["content"] for turn in value)


def is_conversational(rows: Any) -> bool:
    """Are the texts message lists (and not plain strings)?"""
    return not isinstance(rows[0].get("prompt", []), str)


def _take(rows: Any, limit: int | None) -> Any:
    return rows if limit is None or limit >= len(rows) else rows.select(range(limit))


def _check_columns(rows: Any, method: str, split: str) -> None:
    have = set(rows.column_names)
    groups = COLUMNS[method]
    if not any(set(group) <= have for group in groups):
        wanted = " or ".join(", ".join(group) for group in groups)
        # a table without a header has somebody's words for column names
        shown = sorted(name if re.fullmatch(r"[A-Za-z_][\w.-]{0,39}", name) else "(not a name)" for name in have)
        raise UsageError(f"split {split!r}: got columns {', '.join(shown)}; {method} needs {wanted}")
    fatal = [name for name in FATAL_COLUMNS if name in have]
    if fatal:
        raise UsageError(f"split {split!r}: got column {fatal[0]!r}, which TRL reads as its own; rename or remove it")
    if not len(rows):
        raise UsageError(f"split {split!r}: got no rows; allowed: at least one; check dataset_options and the split")


def _check_form(rows: Any, split: str, method: str) -> None:
    """Raise RowError for what is neither text nor a list of messages, answers by somebody else, keys nobody reads."""
    names = [name for name in TEXTS if name in rows.column_names]
    faults = Faults()
    for name in names:
        answer = name in ("chosen", "rejected", "completion")
        for number, value in enumerate(rows[name]):
            problem = _form_problem(value, answer)
            if problem:
                faults.add(Fault(f"split {split} row {number}", name, *problem))
    faults.raise_if_any(f"rows of split {split}", RowError)
    check_keys(rows, f"split {split}", weights=method == "sft")


def _form_problem(value: Any, answer: bool) -> tuple[str, str] | None:
    """(got, allowed) of a text that can't be trained on, or None. What it says is never repeated."""
    if isinstance(value, str):
        return None
    if not isinstance(value, list) or not value:
        return describe(value), "text, or a list of messages with role and content"
    for turn in value:
        texts = isinstance(turn, Mapping) and isinstance(turn.get("role"), str) and isinstance(turn.get("content"), str)
        if not texts:
            return "a message without role and content", "messages with role and content, both text"
        if answer and turn["role"] != "assistant":
            return "a message of somebody else", "role 'assistant' in an answer"
        if turn["role"] not in ROLES:
            return "another role", f"role {', '.join(ROLES)}"
    return None


def _check_one_form(row: Mapping[str, Any], split: str) -> None:
    """TRL decides 'conversational or plain' from one column picked at random, so mixed rows must not pass."""
    texts = {name: row[name] for name in ("prompt", "chosen", "rejected", "completion") if name in row}
    plain = [name for name, value in texts.items() if isinstance(value, str)]
    if plain and len(plain) < len(texts):
        raise UsageError(
            f"split {split!r}: got {', '.join(plain)} as text beside message lists; allowed: all text or all messages"
        )
