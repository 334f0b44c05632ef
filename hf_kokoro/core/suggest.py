"""What somebody may have meant: the nearest of the names that are allowed."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like this one, or None; `cutoff` is a share of what they have in common."""
    # late: most runs have no misspelt name to think about
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def did_you_mean(name: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`; did you mean 'pairs'?`, for the end of a message; empty if nothing comes near."""
    near = nearest(name, known, cutoff) if isinstance(name, str) else None
    return f"; did you mean {near!r}?" if near else ""


def allowed(name: object, known: Iterable[object], more: str = "", cutoff: float = 0.6) -> str:
    """`allowed: rows, pairs; did you mean 'pairs'?`: how a message about an unknown name ends.

    `more` stands behind the names (", or null").
    """
    names = [*map(str, known)]
    return f"allowed: {', '.join(names)}{more}{did_you_mean(name, names, cutoff)}"
