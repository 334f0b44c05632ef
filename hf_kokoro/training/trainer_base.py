"""What every trainer here does differently from TRL's: its model card, its silence, and float32 outputs under FSDP2."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any


class TrainerBase:
    """Mixin in front of a TRL trainer."""

    args: Any
    accelerator: Any
    model_card: str | None = None
    """Markdown of the folder's README.md; until the run is over there is none."""

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Write `model_card` into the output folder; called by TRL with each checkpoint and before a push.

        TRL and PEFT would write a card of their own over whatever stands there, last of all while they push.
        Ours carries the licence and the limits of the data.
        """
        if self.model_card is not None and self.is_world_process_zero():  # type: ignore[attr-defined]
            (Path(self.args.output_dir) / "README.md").write_text(self.model_card, "utf-8")

    def create_accelerator_and_postprocess(self) -> None:
        """FSDP2 in 16 bit would round what a model returns: a log-prob of -300 to a multiple of 2 nats."""
        super().create_accelerator_and_postprocess()  # type: ignore[misc]
        import torch
        from torch.distributed.fsdp import MixedPrecisionPolicy

        plugin: Any = getattr(self.accelerator.state, "fsdp_plugin", None)
        policy = getattr(plugin, "mixed_precision_policy", None)
        if isinstance(policy, MixedPrecisionPolicy):
            plugin.mixed_precision_policy = dataclasses.replace(policy, output_dtype=torch.float32)

    def _send_telemetry(self) -> None:
        """Nothing is sent: counselling data stays on the user's machine, and so does its use."""
