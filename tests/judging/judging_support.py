"""What the judge tests share: the command line in this process, a clock that nobody waits for, a key."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "hf_kokoro" / "samples" / "counsel_chat.csv"
KEY = "sk-ant-not-a-real-key-0123456789"


class Clock:
    """Time that passes only by waiting for it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*words: object, cwd: Path) -> Done:
    """The command line with these words, in this process (a new one costs seconds of imports)."""
    from hf_kokoro.cli import main

    out, err, here, before = io.StringIO(), io.StringIO(), Path.cwd(), sys.argv
    code = 0
    try:
        os.chdir(cwd)
        sys.argv = ["hf-kokoro", *map(str, words)]
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        os.chdir(here)
        sys.argv = before
    return Done(code, out.getvalue(), err.getvalue())


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
