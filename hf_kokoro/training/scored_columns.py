"""Keeping score columns alive through a TRL trainer.

TRL drops unknown columns when it builds a dataloader, hands unknown batch keys to the model (where Llama
swallows them silently), and drops rows whose prompt fills `max_length`. The mixin closes all three: a
forgotten column would otherwise train plain DPO without any sign of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from datasets import Dataset, IterableDataset

from ..errors import Fault, Faults, RowError, describe
from ..tokens.turns import turn_offsets
from .cached_maps import Versioned
from .collators import COLLATED_KEYS, MaskError, fit_row, is_score
from .messages import check_keys
from .trainer_base import TrainerBase


class CarriesScores(TrainerBase):
    """Mixin in front of a TRL trainer: score columns reach the collator, over-long prompts are cut there.

    Subclasses name in `_completion_columns` the token columns that follow the prompt.
    """

    _completion_columns: tuple[str, ...] = ()
    _signature_columns: list[str]

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()  # type: ignore[misc]
        known = self._signature_columns
        self._signature_columns = [*known, *(key for key in COLLATED_KEYS if key not in known)]

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        """TRL's tokenization, then turn offsets for the rows that are too long; nothing is dropped."""
        # without max_length TRL's filter does not run: it would drop long rows instead of cutting them, and
        # its closure over all of `args` would key the cached reference log-probs by output_dir
        dataset = check_keys(dataset, dataset_name, weights=False)
        limit, args.max_length = args.max_length, None
        try:
            prepared = super()._prepare_dataset(dataset, processing_class, args, dataset_name)  # type: ignore[misc]
        finally:
            args.max_length = limit
        sides = self._completion_columns
        options = {"tokenizer": processing_class, "sides": sides, "limit": limit}
        prepared = prepared.map(Versioned(_add_turns), fn_kwargs=options)
        if isinstance(prepared, Dataset) and limit is not None:
            _refuse_unfit(prepared, sides, limit, dataset_name)
        return prepared


def check_scores(dataset: Any, name: str) -> None:
    """Raise RowError for margins or weights that are no scores, weights that are all 0, labels that are no label."""
    if isinstance(dataset, IterableDataset):
        return
    faults = Faults()
    if "label" in dataset.column_names:
        for index, value in enumerate(dataset["label"]):
            if not isinstance(value, int) or value not in (0, 1):
                faults.add(Fault(f"{name} row {index}", "label", describe(value), "true or false (or 1 or 0)"))
    for key in ("margin", "weight"):
        if key not in dataset.column_names:
            continue
        for index, value in enumerate(dataset[key]):
            if not is_score(value):
                faults.add(Fault(f"{name} row {index}", key, describe(value), "a finite number >= 0"))
    if not faults and "weight" in dataset.column_names and sum(dataset["weight"]) == 0:
        faults.add(Fault(name, "weight", "0 in every row", "at least one weight above 0"))
    faults.raise_if_any("scores", RowError)


def normalise_weights(dataset: Any) -> Any:
    """The dataset with weights scaled to mean 1, so that they shift emphasis and never the learning rate."""
    if isinstance(dataset, IterableDataset) or "weight" not in dataset.column_names:
        return dataset
    mean = math.fsum(dataset["weight"]) / len(dataset)
    if abs(mean - 1) < 1e-6:
        return dataset
    return dataset.map(Versioned(_scale_weight), fn_kwargs={"factor": 1 / mean})


def _scale_weight(row: Mapping[str, Any], factor: float) -> dict[str, Any]:
    return {"weight": row["weight"] * factor}


def _add_turns(row: Mapping[str, Any], tokenizer: Any, sides: Iterable[str], limit: int | None) -> dict[str, Any]:
    """Turn offsets where the prompt must be cut, and the row's length for samplers that group by it."""
    length = len(row["prompt_ids"]) + max((len(row[side]) for side in sides if side in row), default=0)
    prompt = row.get("prompt")
    if limit is None or length <= limit or not isinstance(prompt, list):
        return {"prompt_turns": [], "length": length}
    return {"prompt_turns": turn_offsets(tokenizer, prompt), "length": limit}


def _refuse_unfit(dataset: Dataset, sides: Iterable[str], limit: int, name: str) -> None:
    present = [side for side in sides if side in dataset.column_names]
    columns = [key for key in ("prompt_ids", "prompt_turns", "row_id", *present) if key in dataset.column_names]
    errors = []
    for index, row in enumerate(dataset.select_columns(columns)):
        try:
            fit_row({"row_id": f"{index} of {name}", **row}, present, limit)
        except MaskError as error:
            errors.append(str(error))
    if errors:
        shown = "\n  ".join(errors[:5])
        more = f"\n  ... and {len(errors) - 5} more" if len(errors) > 5 else ""
        raise MaskError(f"{len(errors)} of {len(dataset)} rows can't be trained on:\n  {shown}{more}")
