"""Licence ids of the SPDX list, as `packaging` has it."""

from __future__ import annotations

from .suggest import nearest

_OTHER_NAMES = {
    "mit license": "MIT",
    "expat": "MIT",
    "apache": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "cc0": "CC0-1.0",
    "public domain": "CC0-1.0",
    "cc by": "CC-BY-4.0",
    "cc by-sa": "CC-BY-SA-4.0",
    "cc by-nc": "CC-BY-NC-4.0",
    "cc by-nc-sa": "CC-BY-NC-SA-4.0",
    "gpl": "GPL-3.0-or-later",
    "bsd": "BSD-3-Clause",
}
"""What people write for a licence, to what they may mean; only ever a hint."""


def licence_id(name: str) -> str | None:
    """The id as the SPDX list spells it (`mit` is MIT), or None if the list has no such licence.

    One id, no expression: whoever reads a row has to know what holds, and `A OR B` would leave it open.
    """
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        found = str(canonicalize_license_expression(name.strip()))
    except InvalidLicenseExpression:
        return None
    return found if " " not in found and not found.startswith("LicenseRef-") else None


def meant(name: str) -> str | None:
    """The licence id that somebody may have meant who wrote `name`."""
    from packaging import licenses

    folded = " ".join(name.casefold().replace("_", " ").split())
    if folded in _OTHER_NAMES:
        return _OTHER_NAMES[folded]
    # the list itself is no public name of `packaging`; without it there is no hint
    known = {key: str(value["id"]) for key, value in getattr(licenses, "LICENSES", {}).items()}
    near = nearest(folded.replace(" ", "-"), known)
    return known[near] if near else None
