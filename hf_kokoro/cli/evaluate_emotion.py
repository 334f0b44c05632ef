"""`hf-kokoro evaluate emotion`: which of 28 emotions a patient's dialogue shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from . import evaluate_runs as runs
from .console import print_json, print_table

if TYPE_CHECKING:
    from ..evaluation.emotion import Answer
    from ..evaluation.generate import PromptRow


def emotion(
    context: typer.Context,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", help="JSONL with prediction (free text) and label, or a run folder.")
    ] = None,
    model: runs.Model = None,
    source: runs.Source = None,
    split: runs.Split = None,
    fasttext: Annotated[Path | None, typer.Option(help="fastText .vec file for the similarity of label names.")] = None,
    bert: Annotated[str | None, typer.Option(help="Model folder or Hub id for BERTScore of label names.")] = None,
    names: Annotated[str, typer.Option(help="Label names that are compared: ja or en.")] = "ja",
    figure: Annotated[Path | None, typer.Option(help="Draw the confusion matrix into this file (PNG, SVG).")] = None,
    out: runs.Out = None,
    seed: runs.Seed = 42,
    limit: runs.Limit = None,
    batch_size: runs.BatchSize = 8,
    max_new_tokens: runs.MaxNewTokens = 32,
    max_prompt_tokens: runs.MaxPromptTokens = None,
    four_bit: runs.FourBit = False,
    json_: runs.AsJson = False,
) -> None:
    """Exact match and macro-F1 of predicted emotions, and how near the wrong ones are by name.

    An answer is mapped to a label by its English name, Japanese name or an alias; one that names none, or
    several, is "no label" and a miss. fastText and BERTScore are computed only if they are given.

    Example: hf-kokoro evaluate emotion --predictions emotions.jsonl --figure confusion.png
    """
    from ..evaluation.emotion import draw_confusion, emotion_report, read_emotion_rows

    kind = runs.one_of(predictions=predictions, model=model)
    if names not in ("ja", "en"):
        raise UsageError(f"--names {names}: allowed: ja, en")
    if kind == "model":
        rows = runs.load_rows("emplifai", "emotion", source, split or "test", context.args, limit, seed=seed)
        run = runs.ModelRun(model or "", out, batch_size, max_new_tokens, max_prompt_tokens, 0.0, four_bit, seed)
        predictions = run.write(_prompts(rows))
    else:
        runs.no_options(context.args)
        runs.not_with(kind, source=source, split=split, limit=limit)
    answers = read_emotion_rows(predictions or Path())
    report = emotion_report(answers)
    found: dict[str, Any] = {**report.to_dict(), "similarity": _similarity(answers, fasttext, bert, names)}
    if figure is not None:
        draw_confusion(report, figure)
    runs.keep_report(out, found)
    if json_:
        print_json(found)
    else:
        _print(found, figure)


def _prompts(rows: Any) -> Iterator[PromptRow]:
    from ..corpora.emplifai.emotions import EMOTIONS
    from ..evaluation.generate import PromptRow

    labels = "、".join(f"{e.name}（{e.name_ja}）" for e in EMOTIONS)
    names = rows.features["label"].names
    for row in rows:
        prompt = (
            "次の状況と対話を読み、患者の感情を最もよく表すラベルを一つだけ選び、その名前だけを答えてください。\n"
            f"ラベル：{labels}\n\n{row['text']}"
        )
        yield PromptRow(str(row["dialogue_id"]), [{"role": "user", "content": prompt}], {"label": names[row["label"]]})


def _similarity(
    answers: list[tuple[str, Answer]], fasttext: Path | None, bert: str | None, language: str
) -> dict[str, Any]:
    from ..evaluation.emotion import display_names
    from ..evaluation.name_similarity import BertScoreNames, FastTextNames, mean_similarity

    names = display_names(language)
    rows = [(gold, answer.label) for gold, answer in answers]
    found: dict[str, Any] = {}
    if fasttext is not None:
        vectors = FastTextNames(fasttext, names.values())
        similarity = mean_similarity(rows, names, vectors.similarity)
        found["fasttext"] = {
            "file": fasttext.name,
            "names": language,
            **asdict(similarity),
            "composed": vectors.composed,
            "missing": vectors.missing,
        }
    if bert is not None:
        similarity = mean_similarity(rows, names, BertScoreNames(bert).similarity)
        found["bertscore_f1"] = {"model": bert, "names": language, **asdict(similarity)}
    return found


def _print(found: dict[str, Any], figure: Path | None) -> None:
    how = ", ".join(f"{name} {count}" for name, count in found["how"].items())
    print(f"{found['rows']} answers; label found in: {how}; {found['no_label']} have no label")
    rows = [("exact match (%)", runs.percent(found["exact_match"])), ("macro-F1 (%)", runs.percent(found["macro_f1"]))]
    for name, similarity in found["similarity"].items():
        mean = "-" if similarity["mean"] is None else f"{similarity['mean']:.4f}"
        rows.append((f"{name} of names", f"{mean} ({similarity['undefined']} without a vector)"))
    print_table(("metric", "value"), rows)
    worst = sorted(found["by_label"].items(), key=lambda entry: entry[1])[:5]
    print("lowest F1: " + ", ".join(f"{name} {100 * score:.1f}" for name, score in worst))
    if figure is not None:
        print(f"confusion matrix: {figure}")
