"""A card against the files beside it: do all patterns match, and are the features those of the data?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Features
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData

from ..core.jsonl import iter_lines
from ..hub.card import matches, split_counts
from .check import Problem, card_problems
from .front_matter import split_card

ROWS_LOOKED_AT = 200


def folder_problems(folder: Path) -> list[Problem]:
    """Every problem of a dataset folder: its card, its patterns, its features, its stated counts."""
    card = folder / "README.md"
    if not card.is_file():
        return [Problem("README.md", "no card", "a README.md", "render it with: hf-kokoro card or hf-kokoro build")]
    content = card.read_bytes()
    problems = card_problems(content)
    if problems and problems[0].key == "README.md":
        return problems
    data, _ = split_card(content.decode("utf-8-sig"))
    paths = folder_files(folder)
    problems += pattern_problems(data, paths)
    if not any(problem.key.startswith(("configs", "dataset_info")) for problem in problems):
        problems += _feature_problems(folder, data, paths)
        problems += _count_problems(folder, content, paths)
    return problems


def folder_files(folder: Path) -> list[str]:
    """Paths of the files of a folder that a repo would hold: hidden ones are left out."""
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def config_patterns(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(config, split, pattern) of every `data_files` entry of a card's YAML."""
    configs = data.get("configs")
    for config in configs if isinstance(configs, list) else ():
        files = config.get("data_files") if isinstance(config, dict) else None
        for entry in files if isinstance(files, list) else [files]:
            split, found = (entry.get("split"), entry.get("path")) if isinstance(entry, dict) else ("train", entry)
            for pattern in found if isinstance(found, list) else [found]:
                if isinstance(pattern, str):
                    yield str(config.get("config_name")), str(split), pattern


def pattern_problems(data: Mapping[str, Any], paths: Iterable[str]) -> list[Problem]:
    """Patterns that leave the repo or match no file.

    A glob may match nothing yet where another pattern of the split does (segments that are still to come);
    `datasets` takes that too.
    """
    known = list(paths)
    problems = []
    patterns = list(config_patterns(data))
    filled = {(config, split) for config, split, pattern in patterns if any(matches(pattern, path) for path in known)}
    for config, split, pattern in patterns:
        key = f"configs {config}/{split}"
        if pattern.startswith("/") or ".." in pattern.split("/"):
            problems.append(Problem(key, "a path outside the repo", "a relative path"))
        elif {*pattern} & {*"*?["} and (config, split) in filled:
            continue
        elif not any(matches(pattern, path) for path in known):
            problems.append(
                Problem(key, f"the pattern {pattern[:80]!r}, which matches no file", "a file that is there")
            )
    return problems


def _feature_problems(folder: Path, data: Mapping[str, Any], paths: list[str]) -> Iterator[Problem]:
    infos = DatasetInfosDict.from_dataset_card_data(DatasetCardData(dataset_info=data.get("dataset_info")))
    for config, split, pattern in config_patterns(data):
        features = infos[config].features if config in infos else None
        if features is None:
            yield Problem(f"dataset_info {config}", "no features", "the typed features of the config")
            continue
        for path in (path for path in paths if matches(pattern, path)):
            if difference := _difference(folder / path, features):
                yield Problem(f"dataset_info {config}/{split}", f"features that differ from {path}", difference)


def _difference(file: Path, features: Features) -> str:
    """What the file has instead, or nothing; a file of another format is not looked into."""
    try:
        if file.suffix == ".parquet":
            found = _parquet_features(file)
            return "" if found == features else _named(found, features)
        if file.suffix == ".jsonl":
            with file.open("rb") as stream:
                lines = [line for _, (_, line) in zip(range(ROWS_LOOKED_AT), iter_lines(stream), strict=False)]
            rows = [orjson.loads(line) for line in lines if line.strip()]
            keys = dict.fromkeys(key for row in rows for key in row)
            if set(keys) != set(features):
                return _named(keys, features)
            pa.Table.from_pylist([features.encode_example(row) for row in rows], schema=features.arrow_schema)
    except (pa.ArrowException, ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        return f"values that fit them ({type(error).__name__} while reading)"
    return ""


def _parquet_features(file: Path) -> Features:
    """The features written with the file; Parquet itself knows no class labels and no seconds."""
    schema = pq.read_schema(file)
    written = orjson.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    features = written.get("info", {}).get("features")
    return Features.from_dict(features) if features else Features.from_arrow_schema(schema)


def _named(found: Iterable[str], features: Features) -> str:
    names = list(found)
    missing = [name for name in features if name not in names]
    extra = [name for name in names if name not in features]
    if missing or extra:
        return f"the columns of the file (not there: {', '.join(missing) or '-'}; more: {', '.join(extra) or '-'})"
    return "the types of the file"


def _count_problems(folder: Path, card: bytes, paths: list[str]) -> Iterator[Problem]:
    for count in split_counts(card):
        files = [path for path in paths if count.takes(path)]
        rows = sum(_rows(folder / path) for path in files)
        if rows != count.num_examples:
            key = f"dataset_info {count.config}/{count.split} num_examples"
            yield Problem(key, str(count.num_examples), f"{rows}, the rows there are", "render it with: hf-kokoro card")


def _rows(file: Path) -> int:
    if file.suffix == ".parquet":
        return int(pq.read_metadata(file).num_rows)
    with file.open("rb") as stream:
        return sum(bool(line.strip()) for _, line in iter_lines(stream))
