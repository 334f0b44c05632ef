"""Bytes to text, never lossy: an undecodable byte is a fault with line and offset, never a replacement.

Order of decision: byte order mark, then strict UTF-8, then strict CP932 (what Excel in Japan writes). A
UTF-8 file with a broken byte often decodes as CP932 by accident, so CP932 is tried only on bytes that do
not look like UTF-8, and code points that no CP932 writer produces are refused. So is what decodes but reads as no text:
the escape sequences of ISO-2022-JP, which are UTF-8 too, and mostly half-width katakana, which is what CP932 makes of
EUC-JP and GBK.
"""

from __future__ import annotations

import codecs
import re

from ..errors import Fault, Faults

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"

# The bytes 80, A0, FD, FE and FF are unassigned, yet Python's cp932 codec lets them through.
_NOT_CP932 = re.compile("[\x80\xa0\uf8f0-\uf8f3]")
_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\$\([DQP]|\([IJ])")
"""What switches ISO-2022-JP to Japanese characters."""
_OTHERS = {
    "euc_jp": ("EUC-JP", re.compile("[\u3041-\u3093]")),
    "gbk": ("GBK", re.compile("[的一是不了我你在有这们说]")),
}
"""Encoding to its name and what hardly any of its texts is without: hiragana, the most frequent Chinese characters."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_FIRST_WIDE = 0x800
"""From this code point on UTF-8 takes three bytes; nearly all Japanese text does."""


def decode(name: str, data: bytes, faults: Faults, *, fallback: str | None = "cp932") -> str | None:
    """Return the text of `data`, or None after adding a fault that names file, line and byte offset.

    `fallback` is the encoding tried after UTF-8: "cp932", or None to allow UTF-8 only (CP932 would turn
    the quotes of a Windows-1252 file into kanji without a complaint).
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strict(name, data[len(mark) :], encoding, faults, offset=len(mark))
    if b"\0" in data:
        faults.add(_fault(_where(name, data, data.index(b"\0"), "utf-8"), "a NUL byte"))
        return None
    if escape := _ESCAPE.search(data):
        where = _where(name, data, escape.start(), "utf-8")
        faults.add(_fault(where, "an escape sequence; it looks like ISO-2022-JP"))
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if fallback is None or _looks_like_utf8(data):
            return _strict(name, data, "utf-8", faults)
    return _strict(name, data, fallback, faults)


def has_lone_surrogate(text: str) -> bool:
    """True for text that UTF-8 can't hold: half of a surrogate pair, as a JSON escape may leave it."""
    return _SURROGATE.search(text) is not None


def reject_other_content(name: str, data: bytes, faults: Faults) -> bool:
    """True, and a fault, if `data` is empty, a web page or a Git LFS pointer instead of a table."""
    if not data.strip():
        got, step = "an empty file", "download or save it again"
    elif _WEB_PAGE.match(data):
        got, step = "a web page", "the server sent a page instead of the file; download it again"
    elif data.startswith(_LFS_POINTER):
        got, step = "a Git LFS pointer", "fetch the file itself with: git lfs pull"
    else:
        return False
    faults.add(Fault(name, "", got, "a file with rows", step))
    return True


def _strict(name: str, data: bytes, encoding: str, faults: Faults, offset: int = 0) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        where = _where(name, data, error.start, encoding, offset)
        got = f"byte 0x{data[error.start]:02x}, which is not {encoding.upper()}{_looks_like(data)}"
        faults.add(_fault(where, got))
        return None
    stray = _NOT_CP932.search(text) if encoding == "cp932" else None
    if stray:
        start = len(text[: stray.start()].encode(encoding))
        where = _where(name, data, start, encoding)
        faults.add(_fault(where, f"byte 0x{data[start]:02x}, which is not CP932{_looks_like(data)}"))
        return None
    if encoding == "cp932" and (guess := _looks_like(data)) and _is_mostly_half_width(text):
        first = next(position for position, char in enumerate(text) if not char.isascii())
        where = _where(name, data, len(text[:first].encode(encoding)), encoding)
        faults.add(_fault(where, f"mostly half-width katakana if it is CP932{guess}"))
        return None
    return text


def _is_mostly_half_width(text: str) -> bool:
    wide = [char for char in text if not char.isascii()]
    return 2 * sum("\uff61" <= char <= "\uff9f" for char in wide) > len(wide)


def _looks_like(data: bytes) -> str:
    """`; it looks like EUC-JP`, for bytes that another encoding reads as its usual text; empty for others."""
    for encoding, (name, usual) in _OTHERS.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if usual.search(text):
            return f"; it looks like {name}"
    return ""


def _where(name: str, data: bytes, position: int, encoding: str, offset: int = 0) -> str:
    line = data[:position].decode(encoding, "replace").count("\n") + 1
    return f"{name} line {line} (byte {position + offset})"


def _fault(where: str, got: str) -> Fault:
    return Fault(where, "", got, "UTF-8 or CP932 text", "repair the byte, or save the file again as UTF-8")


def _looks_like_utf8(data: bytes) -> bool:
    """More valid wide characters than broken bytes: UTF-8 that was damaged, not another encoding."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    wide = sum(ord(char) >= _FIRST_WIDE for char in text) - broken
    return wide >= broken
