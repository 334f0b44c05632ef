"""Resuming: a checkpoint with its trainer state, or a clear word that this would be a warm start."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError

STATE_FILES = ("trainer_state.json", "optimizer.pt", "scheduler.pt")
"""Without these a checkpoint holds weights only: step, learning rate and optimizer moments would restart."""


def find_checkpoint(output_dir: Path, wanted: str | bool | None) -> Path | None:
    """The checkpoint that `resume_from_checkpoint` means: a folder, or the last one of the run for `true`.

    None if nothing was asked for. Raises UsageError where there is nothing that can be resumed.
    """
    if wanted is None or wanted is False or str(wanted).lower() in ("", "false", "none"):
        return None
    if wanted is True or str(wanted).lower() == "true":
        found = [path for path in output_dir.glob("checkpoint-*") if path.name.removeprefix("checkpoint-").isdigit()]
        if not found:
            raise UsageError(
                f"resume_from_checkpoint: got true, but {output_dir} has no checkpoint-* folder; "
                "allowed: a run that saved one (save_strategy: steps), or leave it out to start anew"
            )
        checkpoint = max(found, key=lambda path: int(path.name.removeprefix("checkpoint-")))
    else:
        checkpoint = Path(str(wanted))
    sharded = list(checkpoint.glob("global_step*")) + list(checkpoint.glob("pytorch_model_fsdp*"))
    needed = STATE_FILES[:1] if sharded else STATE_FILES
    missing = [name for name in needed if not (checkpoint / name).is_file()]
    if missing:
        key = "adapter_name_or_path" if (checkpoint / "adapter_config.json").is_file() else "model_name_or_path"
        raise UsageError(
            f"resume_from_checkpoint: {checkpoint} has no {', '.join(missing)}, so this would be a warm start and "
            f"no resume (step, learning rate and optimizer start anew); to do that, set {key}: {checkpoint}"
        )
    return checkpoint
