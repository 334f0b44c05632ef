"""The gate before every Hub commit of rows: private data, and what is said of where rows are from."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.suggest import allowed
from ..errors import KokoroError, UsageError
from ..miti.contract import NOT_STATED, row_id
from ..miti.no_answers import no_answer
from .licences import DECLARING
from .policy_file import APPROVE, NOTHING, REDACT, ROW_DIGITS, Policy
from .private_data import KINDS, LINES_SHOWN, PrivacyReport, redact

_ID_SHOWN = ROW_DIGITS
_CLAIMS = ("source_dataset", "license")


class GateError(KokoroError):
    """Rows may not leave as they are; nothing was sent."""


class PrivacyError(GateError):
    """Texts hold what may point to a person; the message lists rows and kinds, never the text."""


class ClaimError(GateError):
    """Rows don't say which dataset or licence they are of."""


def _is_stated(claim: object) -> bool:
    """Does a claim say anything? Another case, spaces or a word for nothing do not; a key that is not there may be."""
    if claim is None:
        return True
    text = unicodedata.normalize("NFKC", str(claim)).strip().casefold()
    return text not in (NOT_STATED, "unknown") and no_answer(text) is None


def check_kinds(allow: Iterable[str]) -> frozenset[str]:
    """The kinds of private data that may stay. Raises UsageError for an unknown one."""
    kinds = frozenset(allow)
    for kind in sorted(kinds - set(KINDS)):
        raise UsageError(f"--allow: got {kind!r}; {allowed(kind, KINDS)}")
    return kinds


class Gate:
    """Takes the valid rows of one batch, one by one; `check` then says whether they may leave.

    `allow`: kinds of private data that may stay. `redact`: other findings are replaced by `[kind]`, before row
    ids are computed. What they leave open (nothing, None) is as the policy says. Without `stops` (a local folder)
    nothing is refused, only reported. Raises UsageError for an unknown kind.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        redact: bool | None = None,
        policy: Policy = NOTHING,
        stops: bool = True,
    ) -> None:
        self._allow = check_kinds(allow) or frozenset(policy.allow or ())
        self._redact, self._policy, self._stops = bool(policy.or_given("redact", redact)), policy, stops
        self._replaced = frozenset(KINDS) - self._allow
        self._found = PrivacyReport()
        self._by_row = {APPROVE: PrivacyReport(), REDACT: PrivacyReport()}
        self._fixed = False
        self._unstated: list[str] = []

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        """Look at a MITI-ST row; gives the row to send."""
        name = row_id(row)[:_ID_SHOWN]
        self._look_at_claims(name, row)
        found = PrivacyReport()
        kinds = found.add(name, row)
        decided = {kind: choice for kind, choice in self._policy.of_row(row_id(row)).items() if kind in kinds}
        for choice, report in self._by_row.items():
            _pour(found.without({kind for kind in kinds if decided.get(kind) != choice}), report)
        _pour(found.without(decided), self._found)
        self._found.help_lines += found.help_lines
        replaced = {kind for kind in kinds & self._replaced if self._redact and kind not in decided}
        replaced |= {kind for kind, choice in decided.items() if choice == REDACT}
        return redact(row, replaced) if replaced else row

    def record(self, where: str, record: Mapping[str, Any]) -> None:
        """Look at a record of a file that is sent as it is, so that nothing can be replaced in it."""
        self._fixed = True
        self._look_at_claims(where, record)
        self._found.add(where, record)

    def _look_at_claims(self, name: str, row: Mapping[str, Any]) -> None:
        if not all(_is_stated(row.get(key)) for key in _CLAIMS) and self._unstated[-1:] != [name]:
            self._unstated.append(name)

    def check(self) -> None:
        """Raise ClaimError or PrivacyError, naming the rows, if what came by may not leave."""
        if not self._stops:
            return
        if self._unstated:
            count, more = len(self._unstated), len(self._unstated) - LINES_SHOWN
            named = ", ".join(self._unstated[:LINES_SHOWN]) + (f" and {more} more" if more > 0 else "")
            raise ClaimError(
                f"nothing was sent: {' or '.join(_CLAIMS)} is {NOT_STATED!r} in {count} row{'s' if count != 1 else ''} "
                f"({named}); say them when the rows are made: `hf-kokoro pair … {DECLARING}`"
            )
        rest = self._found.without(self._allow)
        if rest and (self._fixed or not self._redact):
            lines = "\n".join(f"  {line}" for line in rest.lines())
            step = "--allow KIND" if self._fixed else "--redact (redact=True), or --allow KIND (allow=[KIND])"
            named = "" if self._fixed else f"rows are named by the first {_ID_SHOWN} digits of their row_id; "
            raise PrivacyError(
                f"nothing was sent: texts may point to people:\n{lines}\n  {named}look at them, then {step}"
            )

    @property
    def staying(self) -> PrivacyReport:
        """Findings that stay in what is sent: those allowed, and in a folder all that were not replaced."""
        return self._found.without(self._replaced) if self._redact else self._found

    @property
    def redacted(self) -> int:
        """Findings that were replaced."""
        everywhere = sum(self._found.without(self._allow).counts.values()) if self._redact else 0
        return everywhere + sum(self._by_row[REDACT].counts.values())

    @property
    def allowed(self) -> tuple[str, ...]:
        """Kinds that may stay in every row, as the call or the policy says."""
        return tuple(kind for kind in KINDS if kind in self._allow)

    @property
    def decided(self) -> tuple[str, ...]:
        """What the policy's file decided, a line each: its settings, then its decisions on rows that came by."""
        rows = [f"by row, {choice}: {line}" for choice, report in self._by_row.items() for line in report.lines()]
        return (*self._policy.told("allow", "redact", "max_wait"), *(f"policy {self._policy.file}: {r}" for r in rows))


def _pour(found: PrivacyReport, into: PrivacyReport) -> None:
    into.counts.update(found.counts)
    for kind, rows in found.rows.items():
        into.rows.setdefault(kind, []).extend(rows)
