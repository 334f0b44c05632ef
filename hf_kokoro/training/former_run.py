"""Replacing a run: the former one is set aside, and is there until its successor stands on disk.

The aside folder lies inside the run folder (always the same file system) and says by its name what it holds:

- `_former-run.moving`: a part of the former run; the rest is still in its place, so everything goes back.
- `_former-run`: the whole former run; what lies in its place belongs to a run that has saved nothing yet.
- `_former-run.removing`: the successor stands, this can go.

Whoever dies at any moment leaves one of these, and the next run in the folder finishes the work. Names that open with
`_` are never pushed to the Hub.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from ..core.lock import NO_FLOCK
from ..errors import SourceError, UsageError
from .run_folder import left_behind

logger = logging.getLogger(__name__)

ASIDE = "_former-run"
MOVING = f"{ASIDE}.moving"
REMOVING = f"{ASIDE}.removing"


class FormerRun:
    """What a former run left in `folder`; does nothing unless `main`, the one process that moves files."""

    def __init__(self, folder: Path, *, main: bool = True) -> None:
        self.folder, self.main = folder, main
        self.aside, self.moving, self.removing = (folder / name for name in (ASIDE, MOVING, REMOVING))
        self._lock: int | None = None
        # set while what is aside is this run's to bring back
        self._holds = False

    def recover(self) -> None:
        """Finish what a killed run began: its predecessor goes back, or goes for good if the successor stood.

        Raises UsageError while the other run is alive.
        """
        if not self.main or not any(path.exists() for path in (self.aside, self.moving, self.removing)):
            return
        self._claim()
        if self.aside.exists() or self.moving.exists():
            self._put_back()
            logger.warning(
                "output_dir: a run in %s was killed before it saved anything; the run that it was to replace is back "
                "in its place",
                self.folder,
            )
        shutil.rmtree(self.removing, ignore_errors=True)
        self.release()

    def set_aside(self) -> None:
        """Move the former run, if there is one, into the aside folder; all of it or, with a SourceError, nothing."""
        if not self.main:
            return
        found = left_behind(self.folder)
        if not found:
            return
        self._claim()
        self._holds = True
        try:
            self.moving.mkdir()
            for path in found:
                os.rename(path, self.moving / path.name)
            os.rename(self.moving, self.aside)
        except OSError as error:
            self._put_back()
            raise SourceError(
                f"output_dir: the former run in {self.folder} can't be moved aside ({type(error).__name__}: "
                f"{error.strerror}), so nothing was changed; give another output_dir"
            ) from error
        logger.warning(
            "output_dir: the former run is kept in %s until this one has saved its first checkpoint or its model",
            self.aside,
        )

    def remove(self, successor: str) -> None:
        """The successor stands on disk: the former run goes."""
        if not self._holds or not self.aside.exists():
            return
        self._holds = False
        os.rename(self.aside, self.removing)
        # what can't be removed now goes with the next start
        shutil.rmtree(self.removing, ignore_errors=True)
        self.release()
        logger.warning("output_dir: the former run in %s is removed, now that %s stands", self.folder, successor)

    def bring_back(self) -> None:
        """The new run failed before it saved anything: its remains go, the former run is back in its place."""
        if not self._holds or not (self.aside.exists() or self.moving.exists()):
            return
        try:
            self._put_back()
        except OSError as error:
            logger.error(
                "output_dir: the former run can't be brought back now (%s); nothing of it is lost: it lies in %s and "
                "%s, and the next run in %s puts it back first",
                error.strerror, self.aside.name, self.moving.name, self.folder,
            )  # fmt: skip
            return
        logger.warning("output_dir: this run saved nothing; the former run is back in %s", self.folder)

    def release(self) -> None:
        """Let other runs have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _put_back(self) -> None:
        if self.aside.exists():
            for path in left_behind(self.folder):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            # from here on both places hold parts of one run
            os.rename(self.aside, self.moving)
        if self.moving.exists():
            for path in list(self.moving.iterdir()):
                os.rename(path, self.folder / path.name)
            self.moving.rmdir()

    def _claim(self) -> None:
        """Lock the folder, until `release` or the death of this process; UsageError if another run has it."""
        try:
            import fcntl
        except ImportError:  # Windows: there one run a folder is left to the user
            return
        if self._lock is not None:
            return
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in NO_FLOCK:  # as on Windows
                return
            self.release()
            raise UsageError(
                f"output_dir: another run is replacing the one in {self.folder}; allowed: another folder, or the same "
                "one when that run is over"
            ) from error


@contextmanager
def replacing(folder: Path, *, main: bool) -> Iterator[FormerRun]:
    """The former run of `folder`, brought back if the block ends in any error while it is still aside."""
    former = FormerRun(folder, main=main)
    try:
        yield former
    except BaseException:
        former.bring_back()
        raise
    finally:
        former.release()


class RemoveFormer(TrainerCallback):
    """Removes the former run when the first checkpoint is complete, every process's part of it."""

    def __init__(self, former: FormerRun, accelerator: Any) -> None:
        self.former, self.accelerator = former, accelerator
        self.done = False

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.done:
            return
        self.done = True
        self.accelerator.wait_for_everyone()
        self.former.remove(f"checkpoint-{state.global_step}")
