"""A double of the Hub: speaks HTTP to the real client, keeps commits, and fails on demand."""

from __future__ import annotations

from .faults import Delay, Drop, Fault, Hang, Html, Reset, Sneak, Status, Wound
from .server import HubDouble
from .store import Repo, Store

__all__ = [
    "Delay",
    "Drop",
    "Fault",
    "Hang",
    "Html",
    "HubDouble",
    "Repo",
    "Reset",
    "Sneak",
    "Status",
    "Store",
    "Wound",
]
