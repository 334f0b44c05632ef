"""Tokens of Japanese text, what a report says about them, and no silent change of tokenizer."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_kokoro.errors import UsageError
from hf_kokoro.evaluation.tokenizers import text_tokenizer


def test_mecab_finds_words_and_the_report_names_it_and_its_dictionary() -> None:
    tokenizer = text_tokenizer("mecab")
    assert tokenizer.tokenize("昨日は、あまり眠れませんでした。") == [
        "昨日", "は", "、", "あまり", "眠れ", "ませ", "ん", "でし", "た", "。",
    ]  # fmt: skip
    assert tokenizer.identity["tokenizer"] == "mecab"
    assert tokenizer.identity["dictionary"].startswith("unidic-lite 1.")
    assert tokenizer.identity["fugashi"]


@pytest.mark.parametrize("missing", ["fugashi", "unidic_lite"])
def test_without_mecab_or_its_dictionary_the_error_names_the_pip_line_and_nothing_takes_its_place(missing: str) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None\n"
        "from hf_kokoro.evaluation.tokenizers import text_tokenizer\n"
        "text_tokenizer('mecab')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"the mecab tokenizer needs {missing}" in done.stderr
    assert "pip install 'hf-kokoro[eval]'" in done.stderr


def test_an_unknown_tokenizer_or_normalization_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="allowed: mecab, char, space"):
        text_tokenizer("jieba")
    with pytest.raises(UsageError, match="allowed: none, nfkc"):
        text_tokenizer("mecab", "nfc")


def test_width_is_folded_only_on_demand_and_before_anything_else() -> None:
    half, full = "ﾜｶﾞﾊｲ", "ワガハイ"
    plain, folded = text_tokenizer("char"), text_tokenizer("char", "nfkc")
    assert plain.tokenize(half) != plain.tokenize(full)
    assert folded.tokenize(half) == folded.tokenize(full) == list(full)  # ｶﾞ is one letter only if folded first
    assert text_tokenizer("mecab", "nfkc").tokenize(half) == text_tokenizer("mecab").tokenize(full)


@pytest.mark.parametrize("name", ["mecab", "char", "space"])
@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_tokens_hold_every_character_but_white_space_and_nothing_else(name: str, text: str) -> None:
    tokens = text_tokenizer(name).tokenize(text)
    visible = "".join(text.split())
    assert "".join(tokens) == (visible.replace("\0", "") if name == "mecab" else visible)
    assert not any(token == "" or any(char.isspace() for char in token) for token in tokens)
