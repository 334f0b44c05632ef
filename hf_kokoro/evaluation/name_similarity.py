"""How near a wrong label's name is to the right one's: cosine of fastText vectors, and BERTScore."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.stats import rounded
from ..errors import MissingExtraError, SourceError
from .tokenizers import text_tokenizer

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Similarity:
    """Mean over rows, an answer without a label counting 0; `undefined` rows, without a vector, are left out."""

    mean: float | None
    undefined: int


def mean_similarity(
    rows: Sequence[tuple[str, str | None]], names: Mapping[str, str], similarity: Callable[[str, str], float | None]
) -> Similarity:
    """Mean of `similarity(gold name, answered name)` over (gold label, answered label or None)."""
    cache: dict[tuple[str, str], float | None] = {}
    values, undefined = [], 0
    for gold, said in rows:
        if said is None:
            values.append(0.0)
            continue
        if (gold, said) not in cache:
            cache[gold, said] = similarity(names[gold], names[said])
        found = cache[gold, said]
        if found is None:
            undefined += 1
        else:
            values.append(found)
    return Similarity(rounded(float(np.mean(values))) if values else None, undefined)


class FastTextNames:
    """Vectors of names from a fastText text file (`.vec`: a line a word).

    A name that is no word of the file gets the mean of its MeCab words' vectors, if all of them are there.
    """

    def __init__(self, path: str | Path, names: Iterable[str]) -> None:
        self._vectors: dict[str, Vector] = {}
        wanted = {*names}
        words = {word for name in wanted for word in (name, *text_tokenizer("mecab").tokenize(name))}
        vectors = _read_vectors(Path(path), words)
        self.composed = []
        self.missing = []
        for name in sorted(wanted):
            parts = [vectors.get(word) for word in text_tokenizer("mecab").tokenize(name)]
            if name in vectors:
                self._vectors[name] = vectors[name]
            elif parts and all(part is not None for part in parts):
                self._vectors[name] = np.mean([part for part in parts if part is not None], axis=0)
                self.composed.append(name)
            else:
                self.missing.append(name)

    def similarity(self, first: str, second: str) -> float | None:
        """Cosine; None if a name has no vector."""
        if first not in self._vectors or second not in self._vectors:
            return None
        one, other = self._vectors[first], self._vectors[second]
        length = float(np.linalg.norm(one) * np.linalg.norm(other))
        return float(one @ other) / length if length else None


def _read_vectors(path: Path, words: set[str]) -> dict[str, Vector]:
    """The vectors of `words`, read as a stream. Raises SourceError with the line of a fault."""
    if path.suffix == ".bin":
        raise SourceError(f"{path.name}: a fastText binary; allowed: its text form, .vec")
    found: dict[str, Vector] = {}
    try:
        with open(path, encoding="utf-8", newline="\n") as lines:
            header = lines.readline().split()
            if len(header) != 2 or not all(part.isdigit() for part in header):
                raise SourceError(f"{path.name} line 1: no fastText text file; it starts with: words dimensions")
            for number, line in enumerate(lines, start=2):
                word, _, rest = line.partition(" ")
                if word in words and word not in found:
                    values = rest.split()
                    if len(values) != int(header[1]):
                        raise SourceError(f"{path.name} line {number}: {len(values)} values; expected {header[1]}")
                    found[word] = np.array([float(value) for value in values])
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise SourceError(f"{path.name}: can't be read as a fastText text file ({type(error).__name__})") from error
    return found


class BertScoreNames:
    """BERTScore F1 (Zhang et al. 2020) between names: greedy matching of the last layer's token vectors.

    Without idf weights and without rescaling; special tokens have no part in it. Needs transformers.
    """

    def __init__(self, model: str | Path) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError(error.name or "transformers", "train", "BERTScore") from None
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(model))
            self._model = AutoModel.from_pretrained(str(model), dtype=torch.float32).eval()
        except OSError as error:
            raise SourceError(
                f"model {str(model)!r} can't be loaded ({type(error).__name__}); allowed: a model folder or a Hub id"
            ) from error
        self._vectors: dict[str, Vector] = {}

    def similarity(self, first: str, second: str) -> float | None:
        """F1 of two names; None if a name has no token but special ones."""
        one, other = self._embed(first), self._embed(second)
        if not len(one) or not len(other):
            return None
        return bert_score_f1(one, other)

    def _embed(self, name: str) -> Vector:
        """(tokens, dimensions), each row of length 1."""
        if name not in self._vectors:
            self._vectors[name] = self._run(name)
        return self._vectors[name]

    def _run(self, name: str) -> Vector:
        import torch

        encoded: Any = self._tokenizer(name, return_tensors="pt", return_special_tokens_mask=True)
        special = encoded.pop("special_tokens_mask")[0].bool()
        with torch.no_grad():
            hidden = self._model(**encoded).last_hidden_state[0][~special].double().numpy()
        lengths = np.linalg.norm(hidden, axis=1, keepdims=True)
        vectors: Vector = hidden / np.where(lengths == 0, 1.0, lengths)
        return vectors


def bert_score_f1(candidate: Vector, reference: Vector) -> float:
    """F1 of greedy matching: (tokens, dimensions) unit vectors of each side. Zhang et al. 2020, section 3."""
    cosines = candidate @ reference.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
