"""`evaluate_emotion`: which of 28 emotions a patient's dialogue shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.reports import Report
from ...errors import UsageError
from ..progress import Progress
from . import runs

if TYPE_CHECKING:
    from ...evaluation.emotion import Answer, EmotionReport
    from ...evaluation.generate import PromptRow


@dataclass(frozen=True)
class EmotionEvaluation(Report):
    """Shares and the confusion matrix, and how near wrong labels are by name, by each way that was asked for."""

    measured: EmotionReport
    similarity: dict[str, dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as `--json` prints it."""
        return {**self.measured.to_dict(), "similarity": self.similarity}


def evaluate_emotion(
    predictions: runs.Place | None = None,
    *,
    model: str | None = None,
    source: runs.Place | None = None,
    split: str | None = None,
    fasttext: runs.Place | None = None,
    bert: str | None = None,
    names: str = "ja",
    figure: runs.Place | None = None,
    out: runs.Place | None = None,
    seed: int = 42,
    limit: int | None = None,
    batch_size: int = 8,
    max_new_tokens: int = 32,
    max_prompt_tokens: int | None = None,
    four_bit: bool = False,
    progress: Progress | None = None,
    **view: Any,
) -> EmotionEvaluation:
    """Exact match and macro-F1 of predicted emotions, and how near the wrong ones are by name.

    Give `predictions` (a file or run folder), or a `model` that writes them into `out`. An answer that names no
    label, or several, is a miss. `fasttext` (a .vec file) and `bert` (a model) compare label names (`names`: ja, en);
    `figure` is drawn with the confusion matrix. Raises UsageError, SourceError, InputError, MissingExtraError.
    """
    from ...evaluation.emotion import draw_confusion, emotion_report, read_emotion_rows

    kind = runs.one_of(predictions=predictions, model=model)
    if names not in ("ja", "en"):
        raise UsageError(f"--names {names}: allowed: ja, en")
    if kind == "model":
        rows = runs.load_rows(("emplifai", "emotion"), source, split or "test", view, limit, seed=seed)
        run = runs.ModelRun(
            model or "", out, batch_size, max_new_tokens, max_prompt_tokens, 0.0, four_bit, seed, progress
        )
        predictions = run.write(_prompts(rows))
    else:
        runs.no_view(view)
        runs.not_with(kind, source=source, split=split, limit=limit)
    answers = read_emotion_rows(Path(predictions or ""))
    report = EmotionEvaluation(emotion_report(answers), _similarity(answers, fasttext, bert, names))
    if figure is not None:
        draw_confusion(report.measured, Path(figure))
    runs.keep_report(out, report.as_dict())
    return report


def _prompts(rows: Any) -> Iterator[PromptRow]:
    from ...corpora.emplifai.emotions import EMOTIONS
    from ...evaluation.generate import PromptRow

    labels = "、".join(f"{e.name}（{e.name_ja}）" for e in EMOTIONS)
    names = rows.features["label"].names
    for row in rows:
        prompt = (
            "次の状況と対話を読み、患者の感情を最もよく表すラベルを一つだけ選び、その名前だけを答えてください。\n"
            f"ラベル：{labels}\n\n{row['text']}"
        )
        yield PromptRow(str(row["dialogue_id"]), [{"role": "user", "content": prompt}], {"label": names[row["label"]]})


def _similarity(
    answers: list[tuple[str, Answer]], fasttext: runs.Place | None, bert: str | None, language: str
) -> dict[str, Any]:
    from ...evaluation.emotion import display_names
    from ...evaluation.name_similarity import BertScoreNames, FastTextNames, mean_similarity

    names = display_names(language)
    rows = [(gold, answer.label) for gold, answer in answers]
    found: dict[str, Any] = {}
    if fasttext is not None:
        vectors = FastTextNames(Path(fasttext), names.values())
        similarity = mean_similarity(rows, names, vectors.similarity)
        found["fasttext"] = {
            "file": Path(fasttext).name,
            "names": language,
            **asdict(similarity),
            "composed": vectors.composed,
            "missing": vectors.missing,
        }
    if bert is not None:
        similarity = mean_similarity(rows, names, BertScoreNames(bert).similarity)
        found["bertscore_f1"] = {"model": bert, "names": language, **asdict(similarity)}
    return found
