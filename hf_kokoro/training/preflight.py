"""Before step 1: what will be trained on, what will not, and what looks wrong, as a table and as errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Literal

from ..errors import KokoroError
from ..tokens.pairs import fit_pair
from ..tokens.windows import fit_roles, template_rules
from .cached_maps import Versioned
from .sft_data import IGNORED, with_system

Verdict = Literal["ok", "note", "fail"]
SHOWN = 20

PEOPLE = ("therapist", "chosen_therapist", "rejected_therapist")
ID_COLUMNS = (("row_id",), ("dialogue_id", "turn"), ("dialogue_id",), ("question_id",))
"""What a row is called in the table, first fit; rows without any of these go by their number."""
GROUPS = {
    "question": ("question_id",),
    "therapist": PEOPLE,
    "client": ("client_id",),
    "counselor": ("counselor_id",),
    "situation": ("situation_id",),
}
"""What train and test may share without anyone noticing: name to the columns that identify it."""


class PreflightError(KokoroError):
    """The data would not train as the recipe says; the message lists every failed check."""


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    name: str
    value: str
    verdict: Verdict = "ok"
    hint: str = ""


@dataclass
class Preflight:
    """The table, and the names (`row_names`) of the training rows that were dropped or cut, by status."""

    checks: list[Check] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, value: object, verdict: Verdict = "ok", hint: str = "") -> None:
        self.checks.append(Check(name, str(value), verdict, "" if verdict == "ok" else hint))

    def raise_if_failed(self) -> None:
        failed = [check for check in self.checks if check.verdict == "fail"]
        if failed:
            lines = "\n".join(f"  {check.name}: {check.value}; {check.hint}" for check in failed)
            raise PreflightError(f"pre-flight: {len(failed)} of {len(self.checks)} checks failed\n{lines}")

    def to_dict(self) -> dict[str, Any]:
        return {"checks": [asdict(check) for check in self.checks], "rows": self.rows}


def row_names(rows: Any) -> list[str]:
    """What each row is called: the value of its id columns, or its number."""
    for columns in ID_COLUMNS:
        if set(columns) <= set(rows.column_names):
            return ["/".join(map(str, values)) for values in zip(*(rows[name] for name in columns), strict=True)]
    return [str(number) for number in range(len(rows))]


def measure_rows(rows: Any, tokenizer: Any, sides: Sequence[str], limit: int | None) -> Any:
    """Rows with `prompt` and completion columns `sides`, tokenized as TRL does, as a Dataset of measures.

    Columns: `status` (whole, cut, too_long, no_answer), `dropped` turns, `prompt` tokens without them, `longest`
    completion, `tokens` a step reads, `identical` completions, `bos` tokens at the head, `ends` end tokens of each
    completion.
    """
    options = {"tokenizer": tokenizer, "sides": list(sides), "limit": limit, "ends": end_tokens(tokenizer)}
    columns = ["prompt", *sides]
    return rows.select_columns(columns).map(
        Versioned(_measure), fn_kwargs=options, remove_columns=columns, desc="Measuring"
    )


def end_tokens(tokenizer: Any) -> list[int]:
    """Token ids that end an answer: the tokenizer's eos and the one its chat template writes."""
    ends = {tokenizer.eos_token_id}
    if tokenizer.chat_template:
        probe = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
        text = tokenizer.apply_chat_template(probe, tokenize=False)
        tail = tokenizer(text[text.rindex("two") + 3 :], add_special_tokens=False)["input_ids"]
        ends.update(token for token in tail if token in tokenizer.all_special_ids)
    return sorted(token for token in ends if token is not None)


def _measure(
    row: Mapping[str, Any], tokenizer: Any, sides: list[str], limit: int | None, ends: list[int]
) -> dict[str, Any]:
    fitted, prompt, completions = fit_pair(tokenizer, row["prompt"], [row[side] for side in sides], limit)
    if any(_blank(row[side]) for side in sides) or not all(completions):
        status = "no_answer"
    else:
        status = "too_long" if fitted is None else "whole" if fitted == row["prompt"] else "cut"
    return {
        "status": status,
        "dropped": len(row["prompt"]) - len(fitted) if status == "cut" else 0,
        "prompt": len(prompt),
        "longest": max(map(len, completions)),
        "tokens": sum(len(prompt) + len(ids) for ids in completions),
        "supervised": sum(map(len, completions)),
        "identical": len(completions) > 1 and all(ids == completions[0] for ids in completions),
        "bos": _leading(prompt, tokenizer.bos_token_id),
        "ends": [sum(token in ends for token in ids) for ids in completions],
    }


def fit_prompts(rows: Any, tokenizer: Any, system_prompt: str | None) -> Any:
    """Conversational prompts opened by the system prompt and brought into roles that the template accepts."""
    if isinstance(rows[0]["prompt"], str):
        return rows
    options = {"rules": template_rules(tokenizer), "system_prompt": system_prompt}
    return rows.map(Versioned(_fit_prompt), fn_kwargs=options, desc="Fitting roles")


def _fit_prompt(row: Mapping[str, Any], rules: Any, system_prompt: str | None) -> dict[str, Any]:
    return {"prompt": fit_roles(with_system(row["prompt"], system_prompt), rules)}


def check_rows(
    preflight: Preflight, statuses: Sequence[str], names: Sequence[str], max_dropped: float, limit: int | None
) -> None:
    """Checks on what is dropped or cut; `statuses` and `names` hold one entry a row. Fails over `max_dropped`."""
    total = len(statuses)
    preflight.add("rows", total)
    for status in ("too_long", "no_answer", "cut"):
        preflight.rows[status] = [name for name, found in zip(names, statuses, strict=True) if found == status]
    dropped = len(preflight.rows["too_long"]) + len(preflight.rows["no_answer"])
    for status, step in (
        ("too_long", f"raise max_length (window_tokens for SFT) above {limit}"),
        ("no_answer", "remove rows without an answer (or with answers of weight 0 alone)"),
    ):
        found = preflight.rows[status]
        over = bool(found) and dropped / total > max_dropped
        hint = f"allowed: {max_dropped:.1%} dropped in all; {step}, or raise max_dropped" if over else ""
        preflight.add(
            f"dropped: {status}", _count_and_names(found), "fail" if over else "note" if found else "ok", hint
        )
    cut = preflight.rows["cut"]
    preflight.add("cut between turns", _count_and_names(cut), "note" if cut else "ok")


def _count_and_names(names: Sequence[str]) -> str:
    if not names:
        return "0"
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{len(names)} (rows {', '.join(names[:SHOWN])}{more})"


def check_pairs(preflight: Preflight, measures: Any, tokenizer: Any) -> None:
    """Checks on tokenized pairs or unpaired rows: identical sides, bos, end tokens, supervised share."""
    same = sum(measures["identical"])
    hint = "remove rows whose two answers are the same text"
    preflight.add("identical completions", same, "fail" if same else "ok", hint)
    _check_bos(preflight, measures["bos"], tokenizer)
    _check_ends(preflight, [count for row in measures["ends"] for count in row])
    tokens = sum(measures["tokens"])
    preflight.add("tokens an epoch", f"{tokens:,}")
    preflight.add("share of supervised tokens", f"{sum(measures['supervised']) / max(tokens, 1):.1%}")


def check_sft(preflight: Preflight, tokens: Any, tokenizer: Any) -> None:
    """Checks on tokenized SFT rows: sequences, tokens, the share that carries loss (0 is an error), bos, end tokens."""
    ends = end_tokens(tokenizer)
    total = learnt = unended = 0
    bos: list[int] = []
    found: list[int] = []
    for row in tokens:
        total += len(row["labels"])
        unended += row["unended"]
        learnt += sum(label != IGNORED for label in row["labels"])
        bos.append(_leading(row["input_ids"], tokenizer.bos_token_id))
        # every run of labels is one answer
        answers = groupby(row["labels"], key=lambda label: label != IGNORED)
        found += [sum(label in ends for label in answer) for is_answer, answer in answers if is_answer]
    preflight.add("sequences", len(tokens))
    _check_bos(preflight, bos, tokenizer)
    _check_ends(preflight, found, unended)
    preflight.add("tokens an epoch", f"{total:,}")
    hint = "no token would be learnt: the chat template marks nothing, or no row has an answer"
    share = f"{learnt / total:.1%}" if total else "0.0%"
    preflight.add("share of supervised tokens", share, "ok" if learnt else "fail", hint)


def _check_bos(preflight: Preflight, bos: Sequence[int], tokenizer: Any) -> None:
    """`bos`: bos tokens at the head of every sequence. Two are an error, none a note where the tokenizer writes one."""
    double = sum(count > 1 for count in bos)
    hint = "template and tokenizer both write bos: take it out of the chat template"
    preflight.add("rows with two bos", double, "fail" if double else "ok", hint)
    wanted = _leading(tokenizer("x")["input_ids"], tokenizer.bos_token_id) > 0
    missing = sum(count == 0 for count in bos) if wanted else 0
    hint = "the tokenizer opens plain text with bos, the chat template does not: the model may expect it"
    preflight.add("rows without bos", missing, "note" if missing else "ok", hint)


def _check_ends(preflight: Preflight, ends: Sequence[int], unended: int = 0) -> None:
    """`ends`: end tokens in every completion; anything but one is an error, but for `unended` that go on unlearnt."""
    wrong = sum(count > 1 for count in ends) + max(0, sum(count == 0 for count in ends) - unended)
    hint = "the text itself holds end tokens, or the chat template writes none or two"
    preflight.add("completions without exactly one end token", wrong, "fail" if wrong else "ok", hint)


def _leading(ids: Sequence[int], bos: int | None) -> int:
    """How many of the first two tokens are bos."""
    if bos is None or not ids or ids[0] != bos:
        return 0
    return 2 if len(ids) > 1 and ids[1] == bos else 1


def describe_scores(preflight: Preflight, rows: Any, method: str) -> None:
    """Label balance and the sum of weights, where the rows have them and the method has a use for them."""
    if "label" in rows.column_names:
        yes = sum(map(bool, rows["label"]))
        rare = min(yes, len(rows) - yes) / len(rows)
        verdict: Verdict = "fail" if rare == 0 else "note" if rare < 0.1 else "ok"
        preflight.add(
            "labels (desirable : undesirable)", f"{yes} : {len(rows) - yes}", verdict, "KTO needs both classes"
        )
    if "weight" in rows.column_names:
        total = math.fsum(rows["weight"])
        zero = sum(weight == 0 for weight in rows["weight"])
        mean_one = abs(total / len(rows) - 1) < 1e-3
        value = f"{total:.2f} over {len(rows)} rows" + (f", {zero} of weight 0" if zero else "")
        if method not in ("dpo", "kto") and len(set(rows["weight"])) > 1:
            preflight.add("sum of weights", value, "note", f"{method} training has no weights: every row counts alike")
        else:
            step = "" if mean_one else "rescaled to mean 1"
            preflight.add("sum of weights", value, "ok" if mean_one else "note", step)
    if "margin" in rows.column_names:
        margins = rows["margin"]
        preflight.add(
            "margin (min, mean, max)", f"{min(margins):g}, {math.fsum(margins) / len(rows):.2f}, {max(margins):g}"
        )


def check_leaks(preflight: Preflight, train: Any, test: Any) -> None:
    """Share of test rows whose question, therapist, client, ... also stands in training (a note, not an error)."""
    for name, columns in GROUPS.items():
        seen, asked = _values(train, columns), _rows_of(test, columns)
        if not seen or not asked:
            continue
        shared = sum(bool(values & seen) for values in asked)
        value = f"{shared} of {len(asked)} test rows ({shared / len(asked):.0%})"
        hint = f"split_by: {name} in dataset_options keeps them apart" if shared else ""
        preflight.add(f"{name} also in training", value, "note" if shared else "ok", hint)


def _values(rows: Any, columns: Iterable[str]) -> set[Any]:
    return {value for name in columns if name in rows.column_names for value in rows[name]} - {None}


def _rows_of(rows: Any, columns: Iterable[str]) -> list[set[Any]]:
    present = [rows[name] for name in columns if name in rows.column_names]
    return [set(values) - {None} for values in zip(*present, strict=True)] if present else []


def _blank(completion: Any) -> bool:
    text = completion if isinstance(completion, str) else "".join(turn["content"] or "" for turn in completion)
    return not text.strip()
