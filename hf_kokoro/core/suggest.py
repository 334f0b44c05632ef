"""What somebody may have meant: the nearest of the names that are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import describe

_NAMELESS = re.compile(r"column \d+")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like this one, or None; `cutoff` is a share of what they have in common."""
    # late: most runs have no misspelt name to think about
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def did_you_mean(name: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`; did you mean 'pairs'?`, for the end of a message; empty if nothing comes near."""
    near = nearest(name, known, cutoff) if isinstance(name, str) else None
    return f"; did you mean {near!r}?" if near else ""


def with_nearest(names: Iterable[str], known: Iterable[str], cutoff: float = 0.75) -> str:
    """`veiws (did you mean 'views'?), note`: unknown names, each with the known one that it may stand for."""
    there = [*known]
    parts = []
    for name in names:
        near = nearest(name.casefold(), there, cutoff)
        # a name that was given to a nameless column is ours; others may be a row that was taken for a header
        shown = name if _NAMELESS.fullmatch(name) else describe(name, show=True).strip("'")
        parts.append(shown + (f" (did you mean {near!r}?)" if near else ""))
    return ", ".join(parts)


def allowed(name: object, known: Iterable[object], more: str = "", cutoff: float = 0.6) -> str:
    """`allowed: rows, pairs; did you mean 'pairs'?`: how a message about an unknown name ends.

    `more` stands behind the names (", or null").
    """
    names = [*map(str, known)]
    return f"allowed: {', '.join(names)}{more}{did_you_mean(name, names, cutoff)}"
