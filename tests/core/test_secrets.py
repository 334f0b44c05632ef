"""Tokens and passwords are masked, and named where no request can carry them."""

from __future__ import annotations

import pytest

from hf_kokoro.core.secrets import check_secret, looks_like_token, masked
from hf_kokoro.errors import UsageError

TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"with {TOKEN}.", "with hf_...."),
        ("sk-ant-api03-abcdefghij", "sk-..."),
        ("http://ada:pw@host:80/x and https://tok@host", "http://host:80/x and https://host"),
        ("hf://datasets/user/repo@main", "hf://datasets/user/repo@main"),
        ("user/hf_kokoro", "user/hf_kokoro"),
        ("the secret word", "the ... word"),
    ],
)
def test_what_is_secret_is_masked_and_the_rest_stays(text: str, shown: str) -> None:
    assert masked(text, "secret", None, "") == shown


def test_a_token_is_known_anywhere_in_a_text() -> None:
    assert looks_like_token(f"x/{TOKEN}")
    assert not looks_like_token("hf_kokoro")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (f"{TOKEN}\n", "ends with a line end"),
        (f"{TOKEN}\r\n", "ends with a line end"),
        (f"{TOKEN} ", "ends with white space"),
        (f"\t{TOKEN}", "begins with white space"),
        ("hf_schlüssel", "has a character at place 8 of 12 that is not printable ASCII"),
        ("two words", "has a character at place 4 of 9"),
    ],
)
def test_a_key_that_no_header_carries_is_named_and_not_shown(value: str, fault: str) -> None:
    with pytest.raises(UsageError, match=rf"^THE_KEY {fault}.*set THE_KEY") as caught:
        check_secret(value, "THE_KEY", "set THE_KEY again")
    assert value.strip() not in str(caught.value)


@pytest.mark.parametrize("value", [TOKEN, "", None, True])
def test_a_key_that_a_header_carries_passes(value: object) -> None:
    check_secret(value, "THE_KEY", "set it")
