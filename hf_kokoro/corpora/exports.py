"""Files that other trainers read as they are: OpenAI, ShareGPT, Alpaca, LLaMA-Factory, axolotl."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..core.disk import disk_errors
from ..core.reports import Report
from ..core.suggest import allowed
from ..errors import SourceError, UsageError
from .conversations import Alternation, Conversation, Message, conversations, kind_of

Record = dict[str, Any]
_SPEAKERS = {"user": "human", "assistant": "gpt"}
REPORT_FILE = "export_report.json"


@dataclass(frozen=True)
class ExportReport(Report):
    """What was written: `files` maps names to bytes, `splits` to the counts of each split."""

    to: str
    kind: str
    out: str
    files: Mapping[str, int] = field(default_factory=dict)
    splits: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)


def export(
    splits: Mapping[str, Iterable[Mapping[str, Any]]],
    columns: Iterable[str],
    to: str,
    out: str | os.PathLike[str],
    name: str,
) -> ExportReport:
    """Write every split for the trainer `to`, with its settings file and a report of what alternation cost.

    `columns` are the names of the rows' columns, `name` is what the dataset is called in settings files. Raises
    UsageError for an unknown format, a config without conversations, a format that has no such rows, or an
    `out` that is not empty.
    """
    if to not in FORMATS:
        raise UsageError(f"--to: got {to!r}; {allowed(to, FORMATS)}")
    kind = kind_of(columns)
    if kind == "labelled" and not FORMATS[to].labelled:
        able = ", ".join(other for other, f in FORMATS.items() if f.labelled)
        raise UsageError(f"--to {to}: it has no format for single labelled answers; allowed: {able}, or pairs instead")
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--out {folder}: there is something already; give a new or empty folder")
    with disk_errors(folder, "nothing was left there; the source is as it was; the same command again", SourceError):
        try:
            return _written(splits, to, kind, folder, name)
        except OSError:
            # the folder was new or empty
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _written(
    splits: Mapping[str, Iterable[Mapping[str, Any]]], to: str, kind: str, folder: Path, name: str
) -> ExportReport:
    form = FORMATS[to]
    folder.mkdir(parents=True, exist_ok=True)
    counts = {split: Alternation() for split in splits}
    for split, rows in splits.items():
        _write_lines(folder / f"{split}.jsonl", map(form.record, conversations(rows, kind, counts[split])))
    for file, content in form.settings(name, kind, list(splits)).items():
        (folder / file).write_text(content, "utf-8")
    taken = {split: count.as_dict() for split, count in counts.items()}
    report = {"to": to, "kind": kind, "splits": taken}
    (folder / REPORT_FILE).write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", "utf-8")
    files = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
    return ExportReport(to, kind, str(folder), files, taken)


def _write_lines(file: Path, records: Iterator[Record]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _with_system(conversation: Conversation) -> list[Message]:
    system = [{"role": "system", "content": conversation.system}] if conversation.system else []
    return [*system, *conversation.turns]


def _openai(conversation: Conversation) -> Record:
    messages = _with_system(conversation)
    if conversation.chosen is None:
        return {"messages": messages}
    return {
        "input": {"messages": messages},
        "preferred_output": [{"role": "assistant", "content": conversation.chosen}],
        "non_preferred_output": [{"role": "assistant", "content": conversation.rejected}],
    }


def _sharegpt(conversation: Conversation) -> Record:
    turns = [{"from": _SPEAKERS[m["role"]], "value": m["content"]} for m in conversation.turns]
    record: Record = {"conversations": turns, "system": conversation.system}
    if conversation.chosen is not None:
        record["chosen"] = {"from": "gpt", "value": conversation.chosen}
        record["rejected"] = {"from": "gpt", "value": conversation.rejected}
    if conversation.label is not None:
        record["kto_tag"] = conversation.label
    return record


def _alpaca(conversation: Conversation) -> Record:
    texts = [message["content"] for message in conversation.turns]
    # with an answer at the end the last pair is the record, else (preferences) the last user turn alone
    last = len(texts) - (2 if conversation.chosen is None else 1)
    record: Record = {"instruction": texts[last], "input": "", "system": conversation.system}
    record["history"] = [texts[i : i + 2] for i in range(0, last, 2)]
    if conversation.chosen is None:
        record["output"] = texts[-1]
    else:
        record |= {"chosen": conversation.chosen, "rejected": conversation.rejected}
    if conversation.label is not None:
        record["kto_tag"] = conversation.label
    return record


def _axolotl(conversation: Conversation) -> Record:
    record: Record = {"messages": _with_system(conversation)}
    if conversation.chosen is not None:
        record["chosen"] = {"role": "assistant", "content": conversation.chosen}
        record["rejected"] = {"role": "assistant", "content": conversation.rejected}
    return record


def _no_settings(name: str, kind: str, splits: list[str]) -> dict[str, str]:
    return {}


def _llama_factory_settings(name: str, kind: str, splits: list[str]) -> dict[str, str]:
    columns = {"messages": "conversations", "system": "system"}
    columns |= {
        "preference": {"chosen": "chosen", "rejected": "rejected"},
        "labelled": {"kto_tag": "kto_tag"},
    }.get(kind, {})
    info = {
        f"{name}_{split}": {
            "file_name": f"{split}.jsonl",
            "formatting": "sharegpt",
            **({"ranking": True} if kind == "preference" else {}),
            "columns": columns,
        }
        for split in splits
    }
    return {"dataset_info.json": json.dumps(info, ensure_ascii=False, indent=2) + "\n"}


def _axolotl_settings(name: str, kind: str, splits: list[str]) -> dict[str, str]:
    def entry(split: str) -> Record:
        shared = {
            "path": f"./{split}.jsonl",
            "ds_type": "json",
            "split": "train",
            "field_messages": "messages",
            "message_property_mappings": {"role": "role", "content": "content"},
        }
        if kind == "preference":
            return {**shared, "type": "chat_template.default", "field_chosen": "chosen", "field_rejected": "rejected"}
        return {**shared, "type": "chat_template", "roles_to_train": ["assistant"]}

    training = [split for split in splits if split == "train"] or splits[:1]
    settings: Record = {"rl": "dpo"} if kind == "preference" else {}
    settings["chat_template"] = "tokenizer_default"
    settings["datasets"] = [entry(split) for split in training]
    if held_out := [split for split in splits if split == "validation"]:
        settings["test_datasets"] = [entry(split) for split in held_out]
    note = "# Add your model and training settings; run axolotl from this folder, so that the paths fit.\n"
    return {f"{name}.yaml": note + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)}


@dataclass(frozen=True)
class _Format:
    """How one conversation is written, which settings file goes beside it, and whether it has labelled answers."""

    record: Callable[[Conversation], Record]
    settings: Callable[[str, str, list[str]], dict[str, str]]
    labelled: bool = False


FORMATS: dict[str, _Format] = {
    "openai": _Format(_openai, _no_settings),
    "sharegpt": _Format(_sharegpt, _no_settings, labelled=True),
    "alpaca": _Format(_alpaca, _no_settings, labelled=True),
    "llama-factory": _Format(_sharegpt, _llama_factory_settings, labelled=True),
    "axolotl": _Format(_axolotl, _axolotl_settings),
}
