"""Append-only datasets in a folder or on the Hub: `append_rows` grows them, `audit` proves it."""

from __future__ import annotations

from ..core.patience import Patience
from .append import AppendReport, append_rows
from .audit import AuditReport, audit
from .local import LocalTarget
from .remote import HubTarget
from .resolve import resolve_target
from .sending import SendError, send_spooled
from .spool import Spool
from .target import ExtraFiles, Growth, Target

__all__ = [
    "AppendReport",
    "AuditReport",
    "ExtraFiles",
    "Growth",
    "HubTarget",
    "LocalTarget",
    "Patience",
    "SendError",
    "Spool",
    "Target",
    "append_rows",
    "audit",
    "resolve_target",
    "send_spooled",
]
