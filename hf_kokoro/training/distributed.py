"""Several processes really are several: the silent single-process launches are refused."""

from __future__ import annotations

import os

from ..errors import UsageError

ON_CPU = (
    "on CPUs: ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 -m hf_kokoro.training ...; 'accelerate launch --cpu "
    "--num_processes 2' runs one process without saying so"
)


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
