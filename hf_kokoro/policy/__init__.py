"""What may leave this machine: the one gate before every way to the Hub, and what it looks for."""

from __future__ import annotations

from .gate import ClaimError, Gate, GateError, PrivacyError
from .policy_file import Policy, PolicyError, read_policy

__all__ = ["ClaimError", "Gate", "GateError", "Policy", "PolicyError", "PrivacyError", "read_policy"]
