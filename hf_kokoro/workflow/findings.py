"""Saying what may point to people and stays in rows."""

from __future__ import annotations

import logging
from collections.abc import Iterable


def finding_lines(findings: Iterable[str], allow: Iterable[str]) -> list[str]:
    """What was allowed, a line each, then what `publish` will ask about."""
    kinds, found = set(allow), list(findings)
    unasked = [line for line in found if line.partition(":")[0] not in kinds]
    lines = [f"  allowed: {line}" for line in found if line not in unasked]
    if unasked:
        lines.append(f"note: texts may point to people: {'; '.join(unasked)}; `publish` will ask")
    return lines


def say_findings(logger: logging.Logger, findings: Iterable[str], allow: Iterable[str]) -> None:
    """Log the lines as they are: `plain` has the command line print them without the program's name."""
    for line in finding_lines(findings, allow):
        logger.warning("%s", line, extra={"plain": True})
