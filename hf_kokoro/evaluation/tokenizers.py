"""Tokenizers of the overlap metrics, each with the name and versions that its numbers depend on.

White space of any width separates tokens and is never one. Nothing is folded unless `normalize="nfkc"` asks
for it, and then first of all, on a copy: stored text stays as it is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

from ..core.suggest import allowed
from ..errors import MissingExtraError, UsageError

TOKENIZERS = ("mecab", "char", "space")
NORMALIZATIONS = ("none", "nfkc")


@dataclass(frozen=True)
class Tokenizer:
    """`tokenize` gives the tokens of one text; `identity` is what a report says about how they were made."""

    tokenize: Callable[[str], list[str]]
    identity: dict[str, str] = field(hash=False)


@cache
def text_tokenizer(name: str = "mecab", normalize: str = "none") -> Tokenizer:
    """The tokenizer of that name; `normalize` is applied before it.

    Raises UsageError for an unknown name and MissingExtraError where MeCab or its dictionary is not installed:
    another tokenizer gives other numbers, so none is put in its place.
    """
    if name not in TOKENIZERS:
        raise UsageError(f"tokenizer: got {name!r}; {allowed(name, TOKENIZERS)}")
    if normalize not in NORMALIZATIONS:
        raise UsageError(f"normalize: got {normalize!r}; {allowed(normalize, NORMALIZATIONS)}")
    identity = {"tokenizer": name, "normalize": normalize}
    if name == "mecab":
        split, versions = _mecab()
        identity |= versions
    else:
        split = str.split if name == "space" else _characters
    if normalize == "nfkc":
        identity["unicode"] = unicodedata.unidata_version
        return Tokenizer(lambda text: split(unicodedata.normalize("NFKC", text)), identity)
    return Tokenizer(split, identity)


def _characters(text: str) -> list[str]:
    return [char for char in text if not char.isspace()]


def _mecab() -> tuple[Callable[[str], list[str]], dict[str, str]]:
    """MeCab's surfaces with the unidic-lite dictionary, named explicitly: another UniDic would win otherwise."""
    try:
        import fugashi
        import unidic_lite
    except ImportError as error:
        raise MissingExtraError(error.name or "fugashi", "eval", "the mecab tokenizer") from None
    # /dev/null as the settings file: a mecabrc of the machine must not change the tokens
    tagger: Any = fugashi.GenericTagger(f'-r /dev/null -d "{unidic_lite.DICDIR}" -Owakati')

    def split(text: str) -> list[str]:
        # MeCab reads up to a NUL, and knows only ASCII spaces as such
        words: list[str] = tagger.parse(" ".join(text.replace("\0", " ").split())).split()
        return words

    versions = {
        "fugashi": version("fugashi"),
        "dictionary": f"unidic-lite {version('unidic-lite')}",
        "dictionary_words": str(sum(part["size"] for part in tagger.dictionary_info)),
    }
    return split, versions
