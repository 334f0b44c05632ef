"""What every trainer here does differently from TRL's: its model card is ours, and it tells nobody that it ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class OwnCard:
    """Mixin in front of a TRL trainer.

    TRL and PEFT write a model card of their own over whatever stands in the output folder, last of all while
    they push. Ours carries the licence and the limits of the data, so it is written in their place.
    """

    args: Any
    model_card: str | None = None
    """Markdown of the folder's README.md; until the run is over there is none."""

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Write `model_card` into the output folder; called by TRL with each checkpoint and before a push."""
        if self.model_card is not None and self.is_world_process_zero():  # type: ignore[attr-defined]
            (Path(self.args.output_dir) / "README.md").write_text(self.model_card, "utf-8")

    def _send_telemetry(self) -> None:
        """Nothing is sent: counselling data stays on the user's machine, and so does its use."""
