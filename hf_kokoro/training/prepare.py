"""Rows of a method to rows that its trainer takes as they are, with the pre-flight table of what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..tokens.turns import without_oldest
from .cached_maps import Versioned
from .preflight import (
    Preflight,
    check_leaks,
    check_pairs,
    check_rows,
    check_sft,
    describe_scores,
    fit_prompts,
    measure_rows,
    row_names,
)
from .recipe import RecipeSettings
from .scored_columns import check_scores
from .sft_data import tokenize_sft

SIDES = {"dpo": ("chosen", "rejected"), "reward": ("chosen", "rejected"), "kto": ("completion",)}


@dataclass(frozen=True)
class Prepared:
    """Rows for the trainer, the longest sequence in tokens, and the pre-flight table (not yet enforced)."""

    train: Any
    test: Any
    longest: int
    preflight: Preflight


def prepare(settings: RecipeSettings, tokenizer: Any, train: Any, test: Any, limit: int | None) -> Prepared:
    """Tokenize (SFT) or fit and measure (pairs, unpaired rows); rows that can't be trained on are left out.

    `limit` is the longest sequence in tokens, None for no limit. Training rows decide the pre-flight; of the
    test rows those that don't fit are left out and counted in a line of their own.
    """
    if settings.method != "sft":
        check_scores(train, "train")
        if test is not None:
            check_scores(test, "test")
    preflight = Preflight()
    make = _sft if settings.method == "sft" else _preference
    made, longest = make(settings, tokenizer, train, limit, preflight)
    made_test = None
    if test is not None:
        unseen = Preflight()
        made_test, _ = make(settings, tokenizer, test, limit, unseen)
        left_out = sum(len(unseen.rows[status]) for status in ("too_long", "no_answer"))
        preflight.add("test rows left out", f"{left_out} of {len(test)}", "note" if left_out else "ok")
        if not len(made_test):
            preflight.add("test rows", 0, "fail", "every test row is too long or empty; raise max_length")
        check_leaks(preflight, train, test)
    describe_scores(preflight, train, settings.method)
    return Prepared(made, made_test, longest, preflight)


def _sft(
    settings: RecipeSettings, tokenizer: Any, rows: Any, limit: int | None, preflight: Preflight
) -> tuple[Any, int]:
    most = limit or tokenizer.model_max_length
    overlap, prompt = settings.window_overlap_tokens, settings.system_prompt
    tokens = tokenize_sft(rows, tokenizer, most, overlap=overlap, system_prompt=prompt)
    by_row = dict(zip(tokens["source"], tokens["status"], strict=True))
    statuses = [by_row[number] for number in range(len(rows))]
    check_rows(preflight, statuses, row_names(rows), settings.max_dropped, most)
    if masked := sum(tokens["masked"]):
        preflight.add("turns of weight 0 (context, not learnt)", masked)
    tokens = tokens.filter(Versioned(_is_kept), input_columns="status")
    check_sft(preflight, tokens, tokenizer)
    kept = tokens.select_columns(["input_ids", "labels"])
    return kept, max(map(len, kept["input_ids"]), default=0)


def _preference(
    settings: RecipeSettings, tokenizer: Any, rows: Any, limit: int | None, preflight: Preflight
) -> tuple[Any, int]:
    paired = "chosen" in rows.column_names
    sides = SIDES["dpo"] if paired else SIDES[settings.method]
    rows = fit_prompts(rows, tokenizer, settings.system_prompt)
    measures = measure_rows(rows, tokenizer, sides, limit)
    check_rows(preflight, measures["status"], row_names(rows), settings.max_dropped, limit)
    keep = [number for number, status in enumerate(measures["status"]) if _is_kept(status)]
    if len(keep) < len(rows):
        rows, measures = rows.select(keep), measures.select(keep)
    check_pairs(preflight, measures, tokenizer)
    longest = max((p + c for p, c in zip(measures["prompt"], measures["longest"], strict=True)), default=0)
    if "cut" in measures["status"]:
        # here and not by the trainer: a prompt of fewer turns is rendered anew, as it will be when the model is asked
        dropped = {"dropped": list(measures["dropped"])}
        rows = rows.map(Versioned(_drop_turns), with_indices=True, fn_kwargs=dropped, desc="Cutting prompts")
    return rows, longest


def _drop_turns(row: Mapping[str, Any], number: int, dropped: list[int]) -> dict[str, Any]:
    return {"prompt": without_oldest(row["prompt"], dropped[number])}


def _is_kept(status: str) -> bool:
    return status in ("whole", "cut")
