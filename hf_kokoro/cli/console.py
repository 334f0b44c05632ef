"""What the verbs share for talking to people and machines."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130


def print_error(message: str) -> None:
    """Print to stderr with the program's name in front."""
    print(f"hf-kokoro: {message}", file=sys.stderr)


def print_findings(findings: Iterable[str], allow: Iterable[str]) -> None:
    """Say what may point to people and stays in the rows: what was allowed, and what `publish` will ask about."""
    from ..workflow.findings import finding_lines

    for line in finding_lines(findings, allow):
        print(line, file=sys.stderr)


class StderrHandler(logging.Handler):
    """What the package logs, said on stderr as the verbs say their own."""

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "plain", False):
            print(record.getMessage(), file=sys.stderr)
        else:
            print_error(record.getMessage())


def show_logs() -> None:
    """Print what `hf_kokoro.workflow` logs to stderr, and every wait, from now on and once."""
    for name in ("workflow", "core.patience", "core.told", "core.lock"):
        logger = logging.getLogger(f"hf_kokoro.{name}")
        if not any(isinstance(handler, StderrHandler) for handler in logger.handlers):
            logger.addHandler(StderrHandler())
            logger.setLevel(logging.INFO)


@contextmanager
def interruptible(kept: str) -> Iterator[None]:
    """Ctrl-C within ends the program with 130 and says what was kept: what the work noted, else `kept`."""
    try:
        yield
    except KeyboardInterrupt as error:
        for note in getattr(error, "__notes__", None) or [f"interrupted; {kept}"]:
            print_error(note)
        raise SystemExit(INTERRUPTED) from None


def print_json(report: Any) -> None:
    """Print one JSON document: stable key order as given, characters as they are."""
    print(json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """Print a plain aligned table that reads the same on a terminal, in a pipe and in a README."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(header)]
    numeric = [all(_is_number(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        parts = [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric, strict=True)]
        return "  ".join(parts).rstrip()

    if title:
        print(title)
    print(line(header))
    print("  ".join("-" * width for width in widths))
    for row in cells:
        print(line(row))


def _is_number(text: str) -> bool:
    return bool(text) and text.replace(",", "").replace(".", "", 1).lstrip("+-−").rstrip("%×").isdigit()
