"""Tokens and passwords: kept out of messages, and refused before a request where no header could carry them."""

from __future__ import annotations

import re

from ..errors import UsageError

_TOKEN = re.compile(r"\b(?:hf_[A-Za-z0-9]{12,}|sk-[A-Za-z0-9_-]{12,})")
_LOGIN = re.compile(r"(://)[^/\s]*@")


def looks_like_token(text: str) -> bool:
    """Whether a token stands anywhere in a text."""
    return _TOKEN.search(text) is not None


def masked(text: str, *secrets: str | None) -> str:
    """A text as messages may show it: without tokens, those `secrets`, and user name and password of an address."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "...")
    return _LOGIN.sub(r"\1", _TOKEN.sub(lambda found: found[0][:3] + "...", text))


def check_secret(value: object, name: str, step: str) -> None:
    """Raise UsageError, which doesn't show it, for a key or token that no HTTP header carries as it is."""
    if not isinstance(value, str) or not value:
        return
    if value != value.strip():
        end = "begins" if value == value.rstrip() else "ends"
        fault = f"{end} with {'white space' if value == value.strip(chr(10) + chr(13)) else 'a line end'}"
    else:
        odd = next((i for i, char in enumerate(value, 1) if not "!" <= char <= "~"), None)
        if odd is None:
            return
        fault = f"has a character at place {odd} of {len(value)} that is not printable ASCII"
    raise UsageError(f"{name} {fault}; nothing was sent; allowed: the key alone, as it was issued; {step}")
