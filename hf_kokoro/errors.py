"""The KokoroError family.

Every message says what was wrong, what was found, what is allowed and what to do next, and never a
client's words: use `describe` for a value that may hold text. `retryable` is decided by the class,
so callers retry by type and never by message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

FAULTS_SHOWN = 20

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}\Z")


def describe(value: object, *, show: bool = False) -> str:
    """Say what a value is without quoting free text.

    Numbers, booleans and None are shown; strings and containers only by type and size. With `show=True`
    (fields that hold names, not prose) a string that looks like an identifier is shown too.
    """
    if value is None or isinstance(value, bool | int | float):
        text = repr(value)
        return text if len(text) <= 32 else f"a number of {len(text)} digits"
    if isinstance(value, str):
        if show and _IDENTIFIER.match(value):
            return repr(value)
        return f"text of {len(value)} characters"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    return f"a {type(value).__name__}"


class KokoroError(Exception):
    """Base of all errors of this package."""

    retryable = False


class UsageError(KokoroError):
    """The call itself is wrong: an unknown name, option or combination. Exit code 2 on the command line."""


class MissingExtraError(KokoroError):
    """An optional dependency is not installed; the message holds the pip line."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install 'hf-kokoro[{extra}]'")


class SourceError(KokoroError):
    """An upstream file, folder or archive can't be used at all (missing, unreadable, unsafe, empty)."""


class EditionError(SourceError):
    """The upstream files are not the pinned edition."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with one input: where it is, what was found, what is allowed, what to do."""

    where: str
    field: str
    got: str
    allowed: str
    next_step: str = ""

    def __str__(self) -> str:
        step = f"; {self.next_step}" if self.next_step else ""
        name = f" {self.field}" if self.field else ""
        return f"{self.where}{name}: got {self.got}; allowed: {self.allowed}{step}"


class InputError(KokoroError):
    """Input was read but holds faults. `faults` are those kept (at most FAULTS_SHOWN), `count` is all of them."""

    def __init__(self, what: str, faults: Iterable[Fault], count: int | None = None, hint: str = "") -> None:
        kept = list(faults)
        self.what, self.faults, self.count, self.hint = what, kept[:FAULTS_SHOWN], count or len(kept), hint
        super().__init__(self._render())

    def _render(self) -> str:
        lines = [f"{self.what}: {self.count} fault{'s' if self.count != 1 else ''}"]
        lines += [f"  {fault}" for fault in self.faults]
        if self.count > len(self.faults):
            lines.append(f"  ... and {self.count - len(self.faults)} more")
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, list[Fault], int, str]]:
        # Worker processes of num_proc send their errors back pickled.
        return type(self), (self.what, self.faults, self.count, self.hint)


class RowError(InputError):
    """Rows break their schema or its invariants."""


@dataclass
class Faults:
    """Collects faults: all are counted, the first FAULTS_SHOWN are kept."""

    kept: list[Fault] = field(default_factory=list)
    count: int = 0

    def add(self, fault: Fault) -> None:
        self.count += 1
        if len(self.kept) < FAULTS_SHOWN:
            self.kept.append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self.add(fault)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.kept)

    def __bool__(self) -> bool:
        return self.count > 0

    def raise_if_any(self, what: str, error: type[InputError] = InputError, hint: str = "") -> None:
        """Raise `error` with everything collected, or do nothing."""
        if self.count:
            raise error(what, self.kept, self.count, hint)
