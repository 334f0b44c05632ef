"""`hf-kokoro-policy.toml`: what somebody decided once for runs at which nobody sits, such as those of cron.

The file is named by its user (`--policy FILE`, `policy=`) and never looked for. What is given in a call wins over it.
A decision by row wins over both, because it is of one text that was looked at.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..core.suggest import allowed
from ..errors import FAULTS_SHOWN, UsageError, describe
from .private_data import KINDS

APPROVE, REDACT = "approve", "redact"
DECISIONS = (APPROVE, REDACT)
WRITERS = ("people", "model", "fictional")
ROW_DIGITS = 12
"""Least digits of a `row_id`: so many the gate's messages show."""

_ROW = re.compile(r"[0-9a-f]{12,64}")
_Table = Mapping[str, Any]
_Check = Callable[[Any], str]


class PolicyError(UsageError):
    """The policy file can't be read; the message lists every fault."""


@dataclass(frozen=True)
class Policy:
    """What the file says; None where it says nothing.

    `allow`: kinds of private data that may stay. `redact`: replace the others. `rows`: (first digits of a `row_id`,
    kind) to `approve` or `redact`. `max_wait` in seconds, `max_usd` in dollars a run.
    """

    file: str = ""
    allow: tuple[str, ...] | None = None
    redact: bool | None = None
    rows: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    source_dataset: str | None = None
    license: str | None = None
    written_by: str | None = None
    max_wait: float | None = None
    max_usd: float | None = None

    def of_row(self, row_id: str) -> dict[str, str]:
        """Kind to decision, for the row of this whole id."""
        return {kind: decided for (digits, kind), decided in self.rows.items() if row_id.startswith(digits)}

    def or_given(self, name: str, given: Any) -> Any:
        """A setting as the call gave it, or else as the file says (None, if neither does)."""
        return getattr(self, name) if given is None else given

    def told(self, *names: str) -> tuple[str, ...]:
        """For reports: the file and what it says of these settings, in one line; none if it says nothing of them."""
        said = [f"{name} {_shown(value)}" for name in names if (value := getattr(self, name)) not in (None, ())]
        return (f"policy {self.file}: {', '.join(said)}",) if said else ()


NOTHING = Policy()
"""No file: nothing is decided."""


def read_policy(policy: str | PathLike[str] | Policy | None) -> Policy:
    """The policy of a TOML file; None decides nothing. Raises PolicyError with every fault of the file."""
    if policy is None:
        return NOTHING
    if isinstance(policy, Policy):
        return policy
    file = Path(policy).expanduser()
    try:
        data = tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise PolicyError(f"--policy {file}: can't be read ({error.strerror}); give a TOML file") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"--policy {file}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = re.search(r"\(at [^()]*\)\Z", str(error))
        raise PolicyError(f"--policy {file}: no TOML {where[0] if where else ''}; see the README, 'A policy'") from None
    if faults := list(_faults(data)):
        shown = "\n".join(f"  {fault}" for fault in faults[:FAULTS_SHOWN])
        more = f"\n  ... and {len(faults) - FAULTS_SHOWN} more" if len(faults) > FAULTS_SHOWN else ""
        raise PolicyError(f"--policy {file}: {len(faults)} fault{'s' if len(faults) != 1 else ''}:\n{shown}{more}")
    return _policy(str(policy), data)


def _policy(file: str, data: _Table) -> Policy:
    private, declared, limits = (data.get(name, {}) for name in ("private_data", "declare", "limits"))
    allow = private.get("allow")
    return Policy(
        file,
        None if allow is None else tuple(allow),
        private.get("redact"),
        MappingProxyType({(row["id"], row["kind"]): row["decision"] for row in private.get("rows", ())}),
        **declared,
        **limits,
    )


def _faults(data: _Table) -> Iterator[str]:
    for table, keys in _KEYS.items():
        yield from _table_faults(table, data.get(table, {}), keys)
    yield from (_unknown("", key, _KEYS) for key in data if key not in _KEYS)
    private = data.get("private_data")
    rows = private.get("rows") if isinstance(private, dict) else None
    known: dict[tuple[Any, Any], Any] = {}
    for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
        where = f"private_data.rows {number}"
        faults = [*_table_faults(where, row, _ROW_KEYS)]
        if not faults:
            faults += [f"{where}: no {key}; every row has id, kind, decision" for key in _ROW_KEYS if key not in row]
        yield from faults
        if not faults and known.setdefault((row["id"], row["kind"]), row["decision"]) != row["decision"]:
            yield f"{where}: another decision on the same row and kind stands above; keep one"


def _table_faults(where: str, table: Any, keys: Mapping[str, _Check]) -> Iterator[str]:
    if not isinstance(table, dict):
        yield f"{where}: got {describe(table)}; allowed: a table with {', '.join(keys)}"
        return
    for key, value in table.items():
        if key not in keys:
            yield _unknown(f"{where}.", key, keys)
        elif fault := keys[key](value):
            yield f"{where}.{key}: got {_got(value)}; {fault}"


def _unknown(where: str, key: str, known: Mapping[str, Any]) -> str:
    return f"{where}{_got(key)}: unknown; {allowed(key, known)}"


def _got(value: Any) -> str:
    return describe(value, show=True).strip("'") if isinstance(value, str) else describe(value)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " and ".join(value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _one_of(choices: Sequence[str]) -> _Check:
    return lambda value: "" if isinstance(value, str) and value in choices else allowed(value, choices)


def _kinds(value: Any) -> str:
    if not isinstance(value, list):
        return f"allowed: a list of {', '.join(KINDS)}"
    return next((f"in it {_got(kind)}; {allowed(kind, KINDS)}" for kind in value if kind not in KINDS), "")


def _truth(value: Any) -> str:
    return "" if isinstance(value, bool) else "allowed: true, false"


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "allowed: a name"


def _amount(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if number and math.isfinite(value) and value >= 0 else "allowed: a number, 0 or more"


def _list(value: Any) -> str:
    return "" if isinstance(value, list) else "allowed: [[private_data.rows]] tables with id, kind, decision"


def _row_id(value: Any) -> str:
    fits = isinstance(value, str) and _ROW.fullmatch(value)
    return "" if fits else f"allowed: {ROW_DIGITS} to 64 hex digits of a row_id"


_KEYS: dict[str, dict[str, _Check]] = {
    "private_data": {"allow": _kinds, "redact": _truth, "rows": _list},
    "declare": {"source_dataset": _text, "license": _text, "written_by": _one_of(WRITERS)},
    "limits": {"max_wait": _amount, "max_usd": _amount},
}
_ROW_KEYS: dict[str, _Check] = {"id": _row_id, "kind": _one_of(KINDS), "decision": _one_of(DECISIONS)}
