"""Emotion prediction: names in free text, figures against scikit-learn's documentation, similarity of names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hf_kokoro.corpora.emplifai.emotions import EMOTIONS
from hf_kokoro.errors import InputError, SourceError
from hf_kokoro.evaluation.emotion import (
    NO_LABEL,
    Answer,
    display_names,
    draw_confusion,
    emotion_report,
    read_answer,
    read_emotion_rows,
)
from hf_kokoro.evaluation.name_similarity import BertScoreNames, FastTextNames, bert_score_f1, mean_similarity


@pytest.mark.parametrize(
    ("text", "label", "how"),
    [
        ("joy", "joy", "whole"),
        (" ＪＯＹ ", "joy", "whole"),
        ("喜び", "joy", "whole"),
        ("嬉しさ", "joy", "whole"),
        ("患者の感情は「喜び」です。", "joy", "part"),
        ("Emotion: Nervousness.", "nervousness", "part"),
        ("fear（恐怖）", "fear", "part"),
        ("答えは喜びです", "joy", "inside"),
        ("不承認だと思う", "disapproval", "inside"),
        ("愛", "love", "whole"),
        ("可愛いと感じた", None, "none"),
        ("enjoyment", None, "none"),
        ("喜び、または悲しみ", None, "none"),
        ("joyかsadness", None, "none"),
        ("", None, "none"),
        ("分かりません", None, "none"),
    ],
)
def test_free_text_names_one_label_or_none(text: str, label: str | None, how: str) -> None:
    assert read_answer(text) == Answer(label, how)


def test_every_name_alias_and_japanese_name_maps_to_its_label() -> None:
    for emotion in EMOTIONS:
        for spelling in (emotion.name, emotion.name_ja, *emotion.aliases):
            assert read_answer(f"「{spelling}」").label == emotion.name, spelling


def rows_of(*pairs: tuple[str, str | None]) -> list[tuple[str, Answer]]:
    return [(gold, Answer(said, "whole" if said else "none")) for gold, said in pairs]


def test_macro_f1_is_worked_by_hand_and_an_answer_without_a_label_is_a_miss() -> None:
    # joy: 1 right, 1 missed, 1 false (F1 = 2 / 4); fear: 1 right, 1 missed (F1 = 2 / 3); grief: never (0)
    report = emotion_report(
        rows_of(("joy", "joy"), ("joy", None), ("fear", "fear"), ("fear", "joy"), ("grief", "love"))
    )
    assert report.exact_match == 0.4
    assert report.by_label == {"fear": 0.666667, "grief": 0.0, "joy": 0.5}
    assert report.macro_f1 == pytest.approx((2 / 3 + 1 / 2) / 3, abs=1e-6)
    assert report.no_label == 1
    joy, columns = report.labels.index("joy"), report.labels
    assert report.confusion[joy][columns.index(NO_LABEL)] == 1
    assert report.confusion[columns.index("fear")][joy] == 1
    assert sum(map(sum, report.confusion)) == 5


def test_figures_agree_with_scikit_learns_documented_example() -> None:
    # sklearn.metrics.f1_score's example: y_true 0 1 2 0 1 2, y_pred 0 2 1 0 0 1: macro F1 0.26...
    names = ["joy", "fear", "love"]
    gold, said = [0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1]
    report = emotion_report(rows_of(*((names[g], names[s]) for g, s in zip(gold, said, strict=True))))
    assert report.macro_f1 == pytest.approx(0.266667, abs=1e-6)


def test_all_right_is_one_and_all_wrong_is_zero() -> None:
    assert emotion_report(rows_of(("joy", "joy"), ("fear", "fear"))).macro_f1 == 1.0
    assert emotion_report(rows_of(("joy", "fear"), ("fear", None))).macro_f1 == 0.0


def test_a_file_is_read_with_gold_labels_in_any_spelling_and_faults_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"prediction": "喜び", "label": "嬉しさ"}) + "\n", "utf-8")
    assert read_emotion_rows(path) == [("joy", Answer("joy", "whole"))]
    path.write_text('{"prediction": "joy", "label": "happy"}\n{"label": "joy"}\n', "utf-8")
    with pytest.raises(InputError, match="one of the 28 labels") as error:
        read_emotion_rows(path)
    assert error.value.count == 2


def test_the_confusion_figure_is_a_picture(tmp_path: Path) -> None:
    report = emotion_report(rows_of(("joy", "joy"), ("fear", "joy")))
    draw_confusion(report, tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def write_vectors(path: Path, vectors: dict[str, list[float]]) -> Path:
    lines = [f"{len(vectors)} 2", *(f"{word} {' '.join(map(str, values))}" for word, values in vectors.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_name_similarity_is_the_cosine_of_the_files_vectors(tmp_path: Path) -> None:
    path = write_vectors(tmp_path / "v.vec", {"喜び": [1, 0], "恐怖": [0, 2], "悲しみ": [1, 1], "良心": [9, 9]})
    vectors = FastTextNames(path, ["喜び", "恐怖", "悲しみ", "誇り"])
    assert vectors.similarity("喜び", "恐怖") == 0.0
    assert vectors.similarity("喜び", "悲しみ") == pytest.approx(1 / np.sqrt(2))
    assert vectors.similarity("喜び", "喜び") == pytest.approx(1.0)
    assert vectors.similarity("喜び", "誇り") is None
    assert vectors.missing == ["誇り"]


def test_a_name_that_is_no_word_of_the_file_gets_the_mean_of_its_words(tmp_path: Path) -> None:
    path = write_vectors(tmp_path / "v.vec", {"恥ずかし": [1, 0], "さ": [0, 1], "喜び": [1, 1]})
    vectors = FastTextNames(path, ["恥ずかしさ", "喜び"])
    assert vectors.composed == ["恥ずかしさ"]
    assert vectors.similarity("恥ずかしさ", "喜び") == pytest.approx(1.0)


def test_the_mean_counts_no_label_as_zero_and_leaves_undefined_pairs_out() -> None:
    names = display_names("ja")
    values = {("喜び", "喜び"): 1.0, ("喜び", "恐怖"): 0.5, ("喜び", "愛"): None}
    rows = [("joy", "joy"), ("joy", "fear"), ("joy", None), ("joy", "love")]
    found = mean_similarity(rows, names, lambda one, other: values[one, other])
    assert (found.mean, found.undefined) == (0.5, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [("喜び 1 0\n", "line 1"), ("1 3\n喜び 1 0\n", "2 values; expected 3"), ("1 2\n喜び x 0\n", "ValueError")],
)
def test_a_file_that_is_no_fasttext_text_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "v.vec"
    path.write_text(content, "utf-8")
    with pytest.raises(SourceError, match=message):
        FastTextNames(path, ["喜び"])


def test_a_fasttext_binary_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"allowed: its text form, \.vec"):
        FastTextNames(tmp_path / "cc.ja.300.bin", ["喜び"])


def test_bert_score_is_worked_by_hand() -> None:
    # two candidate tokens, one reference token: best matches 1 and 0.6 give P 0.8, R 1, F1 = 1.6 / 1.8
    candidate, reference = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[1.0, 0.0]])
    assert bert_score_f1(candidate, reference) == pytest.approx(1.6 / 1.8)
    assert bert_score_f1(reference, reference) == 1.0


def test_bert_score_uses_token_vectors_of_a_local_model_without_special_tokens(tmp_path: Path) -> None:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoModel, BertConfig, BertModel, PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel({"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "喜": 3, "び": 4, "怖": 5}, "[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.post_processor = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=core, cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    ).save_pretrained(tmp_path)
    torch.manual_seed(3)
    config = BertConfig(vocab_size=6, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    BertModel(config).save_pretrained(tmp_path)
    found = BertScoreNames(tmp_path)
    model = AutoModel.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        one = model(torch.tensor([[0, 3, 4, 1]])).last_hidden_state[0, 1:3]
        other = model(torch.tensor([[0, 5, 1]])).last_hidden_state[0, 1:2]
    cosines = torch.nn.functional.cosine_similarity(one[:, None], other[None], dim=-1)
    precision, recall = cosines.max(1).values.mean().item(), cosines.max(0).values.mean().item()
    assert found.similarity("喜び", "怖") == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
    assert found.similarity("喜び", "喜び") == pytest.approx(1.0, abs=1e-9)
