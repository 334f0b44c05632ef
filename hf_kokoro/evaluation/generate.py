"""What a model writes for rows of prompts: greedy, batched, left-padded, and resumable row by row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.atomic import write_atomically
from ..errors import UsageError
from ..tokens.loading import context_length, load_tokenizer
from ..tokens.turns import Message, prompt_window
from .models import load_causal_lm
from .predictions import FILE_NAME, finished_ids, row_line

SETTINGS_FILE = "generation.json"
_BATCHES_SORTED = 8


@dataclass(frozen=True)
class GenerationSettings:
    """What decides the text; a run goes on only with the settings that it began with.

    `temperature` 0 is greedy. `max_prompt_tokens` None is the model's context less `max_new_tokens`.
    """

    model: str
    max_new_tokens: int = 256
    max_prompt_tokens: int | None = None
    temperature: float = 0.0
    seed: int = 42
    dtype: str = "auto"
    four_bit: bool = False


@dataclass(frozen=True)
class PromptRow:
    """One prompt (messages or a string); `carried` goes into the prediction row as it is."""

    id: str
    prompt: str | Sequence[Message]
    carried: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class GenerateReport:
    """What a run did. `finish` counts how texts ended: stop, length, or prompt_too_long (nothing was written)."""

    path: str
    generated: int = 0
    already: int = 0
    dropped_turns: int = 0
    shortened_prompts: int = 0
    finish: dict[str, int] = field(default_factory=dict)

    def count(self, row: Mapping[str, Any]) -> None:
        """Add one prediction row."""
        self.finish[row["finish"]] = self.finish.get(row["finish"], 0) + 1
        self.dropped_turns += row["dropped_turns"]
        self.shortened_prompts += row["dropped_turns"] > 0


def generate_predictions(
    rows: Iterable[PromptRow],
    out: str | Path,
    settings: GenerationSettings,
    *,
    batch_size: int = 8,
    progress: Callable[[int], None] = lambda done: None,
) -> GenerateReport:
    """Write `predictions.jsonl` in the folder `out`, one row a prompt; rows that are there already are passed over.

    Killing the process loses at most the batches in flight. Raises UsageError if `out` holds predictions of
    other settings, SourceError if the model can't be loaded.
    """
    folder = Path(out)
    _claim(folder, settings)
    path = folder / FILE_NAME
    done = finished_ids(path)
    report = GenerateReport(str(path))
    writer: _Writer | None = None
    with open(path, "ab") as file:
        window: list[PromptRow] = []
        for row in rows:
            if row.id in done:
                report.already += 1
                report.count(done[row.id])
                continue
            window.append(row)
            if len(window) == batch_size * _BATCHES_SORTED:
                writer = writer or _Writer(settings)
                _write(file, writer, window, batch_size, report)
                window = []
                progress(report.already + report.generated)
        if window:
            _write(file, writer or _Writer(settings), window, batch_size, report)
            progress(report.already + report.generated)
    return report


class _Writer:
    """A loaded model with its settings; loaded only when something is left to write."""

    def __init__(self, settings: GenerationSettings) -> None:
        self.settings = settings
        # on the left: a decoder goes on from its last position
        self.tokenizer = load_tokenizer(settings.model, padding_side="left")
        self.model = load_causal_lm(settings.model, dtype=settings.dtype, four_bit=settings.four_bit)
        context = context_length(self.model.config)
        room = None if context is None else context - settings.max_new_tokens
        if room is not None and room < 1:
            raise UsageError(
                f"max_new_tokens: got {settings.max_new_tokens}; allowed: less than the model's context of {context}"
            )
        limits = [limit for limit in (room, settings.max_prompt_tokens) if limit is not None]
        self.budget = min(limits) if limits else None

    def write(self, prompts: Sequence[list[int]], identity: str) -> list[tuple[str, str]]:
        """(text, finish) for each prompt of one batch; `identity` seeds sampling."""
        import torch

        width = max(map(len, prompts))
        ids = torch.full((len(prompts), width), self.tokenizer.pad_token_id, dtype=torch.long)
        attention = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            attention[row, width - len(prompt) :] = 1
        device = self.model.device
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(_seed(self.settings.seed, identity))
            found = self.model.generate(
                input_ids=ids.to(device),
                attention_mask=attention.to(device),
                max_new_tokens=self.settings.max_new_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                **self._decoding(),
            )
        ends = self._end_tokens()
        texts = []
        for tokens in found[:, width:].tolist():
            stop = next((place for place, token in enumerate(tokens) if token in ends), None)
            text = self.tokenizer.decode(tokens[:stop], skip_special_tokens=True).strip()
            texts.append((text, "length" if stop is None else "stop"))
        return texts

    def _decoding(self) -> dict[str, Any]:
        if self.settings.temperature > 0:
            return {"do_sample": True, "temperature": self.settings.temperature, "num_beams": 1}
        # a model's generation config may ask for sampling; left in place, its values only cause warnings
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None, "num_beams": 1}

    def _end_tokens(self) -> set[int]:
        given = self.model.generation_config.eos_token_id
        ends = {*given} if isinstance(given, list) else {given}
        return {*ends, self.tokenizer.eos_token_id}


def _write(file: Any, writer: _Writer, window: list[PromptRow], batch_size: int, report: GenerateReport) -> None:
    """Generate for one window, prompts of like length together, and write its rows in their own order."""
    prompts = [prompt_window(writer.tokenizer, row.prompt, writer.budget) for row in window]
    texts: dict[int, tuple[str, str]] = {}
    fits = {index: found.ids for index, found in enumerate(prompts) if found.ids is not None}
    by_length = iter(sorted(fits, key=lambda index: (-len(fits[index]), index)))
    while batch := list(islice(by_length, batch_size)):
        written = writer.write([fits[index] for index in batch], window[batch[0]].id)
        texts |= dict(zip(batch, written, strict=True))
    for index, (row, found) in enumerate(zip(window, prompts, strict=True)):
        text, finish = texts.get(index, ("", "prompt_too_long"))
        line = {
            "id": row.id,
            **row.carried,
            "prediction": text,
            "finish": finish,
            "dropped_turns": found.dropped_turns,
        }
        file.write(row_line(line).encode("ascii"))
        report.generated += 1
        report.count(line)
    file.flush()


def _claim(folder: Path, settings: GenerationSettings) -> None:
    """Make `folder` this run's, or check that it is. Raises UsageError naming the settings that differ."""
    folder.mkdir(parents=True, exist_ok=True)
    path, ours = folder / SETTINGS_FILE, asdict(settings)
    if path.exists():
        theirs = json.loads(path.read_text("utf-8"))
        changed = [
            f"{name} {theirs.get(name)!r} → {value!r}" for name, value in ours.items() if theirs.get(name) != value
        ]
        if changed:
            raise UsageError(
                f"{folder}: holds predictions of other settings ({', '.join(changed)}); "
                "give those settings to go on, or another --out"
            )
        return
    if (folder / FILE_NAME).exists():
        raise UsageError(f"{folder}: holds predictions of unknown settings; give another --out")
    write_atomically(path, (json.dumps(ours, indent=2) + "\n").encode())


def _seed(seed: int, identity: str) -> int:
    """The seed of one batch. Sampled text is the same for the same batches only; greedy text does not depend on it."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "little") >> 1


def next_turn_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[PromptRow]:
    """Rows of `next_turn` as they are; rows of `response_generation` as every assistant turn but an opening one."""
    for row in rows:
        dialogue = row["dialogue_id"]
        if "messages" in row:
            messages = row["messages"]
            for turn, message in enumerate(messages):
                if turn and message["role"] == "assistant":
                    yield _turn(dialogue, turn, messages[:turn], message["content"])
        else:
            completion = row["completion"]
            text = completion if isinstance(completion, str) else "\n".join(m["content"] for m in completion)
            yield _turn(dialogue, row["turn"], row["prompt"], text)


def _turn(dialogue: Any, turn: int, prompt: Any, reference: str) -> PromptRow:
    return PromptRow(f"{dialogue}-{turn}", prompt, {"dialogue_id": str(dialogue), "turn": turn, "reference": reference})
