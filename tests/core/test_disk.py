"""Errors of the file system become ours: the file, the reason, what was kept."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hf_kokoro.core.disk import disk_errors, reason
from hf_kokoro.errors import KokoroError, SourceError


def test_the_kernels_own_refusal_is_told_with_file_reason_and_next_step() -> None:
    says = r"^here: can't be written \(No space left on device: free some space\); kept$"
    full = Path("/dev/full")
    with pytest.raises(SourceError, match=says), disk_errors("here", "kept", SourceError), full.open("wb", 0) as stream:
        stream.write(b"x")


def test_a_missing_folder_is_named_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "none" / "x"
    says = rf"^{file}: can't be read or written \(No such file or directory\); kept$"
    with pytest.raises(KokoroError, match=says), disk_errors("here", "kept"):
        file.write_text("x")


def test_errors_of_ours_and_what_is_no_error_of_a_file_pass() -> None:
    with pytest.raises(SourceError, match="ours"), disk_errors("here", "kept"):
        raise SourceError("ours")
    with pytest.raises(ValueError, match="theirs"), disk_errors("here", "kept"):
        raise ValueError("theirs")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
def test_a_reason_begins_with_what_the_system_says(code: int) -> None:
    assert reason(OSError(code, os.strerror(code))).startswith(os.strerror(code))
    assert reason(OSError("no number")) == "OSError"
