"""Errors of the file system in words: which file, what is wrong with it, what was kept, what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import KokoroError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
_STEPS = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some of your quota",
    errno.EFBIG: "this file system or its limits take no larger file",
    errno.EROFS: "it is mounted read-only",
    errno.EACCES: "check the rights of the folder",
    errno.EPERM: "check the rights of the folder",
}


def reason(error: OSError) -> str:
    """What the system says, and what helps."""
    said = error.strerror or type(error).__name__
    step = _STEPS.get(error.errno or 0)
    return f"{said}: {step}" if step else said


@contextmanager
def disk_errors(place: str | os.PathLike[str], after: str, error: type[KokoroError] = KokoroError) -> Iterator[None]:
    """Turn an OSError of the file system into `error`: the file (else `place`), the reason, and `after` (what was
    kept, what to do). Errors of ours pass."""
    try:
        yield
    except OSError as found:
        if isinstance(found, KokoroError):
            raise
        # of a file that was to take another's place, that other one is what people know
        names = (name for name in (found.filename2, found.filename) if isinstance(name, str) and name)
        name = next(names, os.fspath(place))
        what = "written" if found.errno in _FULL or found.filename2 else "read or written"
        raise error(f"{name}: can't be {what} ({reason(found)}); {after}") from found
