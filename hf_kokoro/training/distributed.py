"""Several processes really are several: the silent single-process launches are refused, the launcher's plan is read."""

from __future__ import annotations

import os
from typing import Any

from ..errors import UsageError

ON_CPU = (
    "on CPUs: ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 -m hf_kokoro.training ...; 'accelerate launch --cpu "
    "--num_processes 2' runs one process without saying so"
)


def count_shards(args: Any) -> int:
    """Over how many processes the launcher splits weights and optimizer: all under FSDP and ZeRO-3, else one."""
    zero3 = args.deepspeed_plugin is not None and args.deepspeed_plugin.zero_stage == 3
    return int(args.world_size) if zero3 or uses_fsdp() else 1


def uses_fsdp() -> bool:
    """Was this process started by a launcher that asks for FSDP?"""
    return os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true"


def check_processes(found: int, expected: int | None) -> None:
    """Raise UsageError if the run has fewer or more processes than `expected`, or than its launcher started.

    `found` is what the trainer's accelerator counts. torchrun without a CPU backend starts independent runs
    of one process each, which would all train on everything and overwrite each other.
    """
    started = int(os.environ.get("WORLD_SIZE", "1"))
    if expected is not None and found != expected:
        raise UsageError(f"expected_processes: got {found} where the recipe wants {expected}; {ON_CPU}")
    if started != found:
        raise UsageError(f"WORLD_SIZE: the launcher started {started} processes, the trainer sees {found}; {ON_CPU}")
