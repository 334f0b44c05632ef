"""What the Hub says reaches the user, what it was told in secret does not; and what can't help isn't advised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hf_kokoro import append_rows
from hf_kokoro.errors import KokoroError, UsageError
from hf_kokoro.hub import HubTarget, send_spooled
from hf_kokoro.hub.errors import AccessError, AppendFailed, HistoryError, TargetError

from .double import HubDouble, Sneak, Status
from .rows import rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]
TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Your push was rejected because it contains binary files"),
        (402, "Payment required: your private storage is used up"),
        (403, "Private repository storage limit reached, please upgrade your plan"),
        (422, "Invalid metadata in README.md"),
        (451, "Unavailable for legal reasons"),
    ],
)
def test_the_hubs_own_words_reach_the_user(hub: HubDouble, hub_target: Make, status: int, words: str) -> None:
    hub.faults.script("POST", "/commit/", Status(status, says=words))
    with pytest.raises(TargetError, match=f"HTTP {status}: {words}") as caught:
        append_rows(hub_target(), rows(1))
    assert "Write access" not in str(caught.value)
    assert "same command again" not in str(caught.value)
    assert str(caught.value).endswith("; 1 row is not there")


def test_a_token_in_the_hubs_words_is_masked(hub: HubDouble, hub_target: Make) -> None:
    hub.tokens[TOKEN] = "write"
    hub.tokens["shortOne"] = "write"
    for token in (TOKEN, "shortOne"):
        hub.faults.script("POST", "/commit/", Status(400, says=f"bad token {token} at http://ada:pw@host/x"))
        with pytest.raises(TargetError, match="bad token ") as caught:
            append_rows(hub_target(token=token), rows(1))
        assert token not in str(caught.value)
        assert "pw" not in str(caught.value)


def test_a_proxys_page_is_not_taken_for_the_hubs_words(hub: HubDouble, hub_target: Make) -> None:
    hub.faults.script("POST", "/commit/", Status(403, says="x" * 5000))
    with pytest.raises(AccessError) as caught:
        append_rows(hub_target(), rows(1))
    assert len(str(caught.value)) < 700


def test_a_gated_repo_is_never_made_again(hub: HubDouble, hub_target: Make) -> None:
    gated = Status(403, {"X-Error-Code": "GatedRepo"}, says="Access to dataset user/pairs is restricted")
    hub.faults.script("GET", "/revision/", gated)
    with pytest.raises(AccessError, match=r"Access to dataset user/pairs is restricted; the repo is gated: ask") as e:
        append_rows(hub_target(), rows(1))
    assert "same command again" not in str(e.value)
    assert hub.requests("POST", "/create") == []


def test_a_deleted_repo_is_never_made_again(hub: HubDouble, hub_target: Make) -> None:
    append_rows(hub_target(), rows(1))
    del hub.store.repos["user/pairs"]
    with pytest.raises(HistoryError, match="no longer on the Hub"):
        append_rows(hub_target(), rows(2))
    assert hub.store.repos == {}


def test_a_repo_that_is_deleted_between_two_tries_is_not_made_again(hub: HubDouble, hub_target: Make) -> None:
    hub.faults.script("POST", "/commit/", Sneak(hub.store.repos.clear))
    with pytest.raises(AccessError):
        append_rows(hub_target(), rows(1))
    hub.repo()
    hub.faults.script("POST", "/preupload/", Status(503))
    hub.faults.script("GET", "/revision/", Sneak(lambda: None), Sneak(hub.store.repos.clear))
    with pytest.raises(AccessError, match=r"was there and is gone.*not made again"):
        append_rows(hub_target("other"), rows(1))
    assert hub.store.repos == {}


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f" {TOKEN}", "hf_schl\u00fcsselschl\u00fcssel", f"{TOKEN}\r\n"])
def test_a_token_that_no_request_can_carry_is_named_before_any(hub: HubDouble, hub_target: Make, token: str) -> None:
    with pytest.raises(UsageError, match=r"the Hub's token (ends|begins|has a character).*nothing was sent") as caught:
        append_rows(hub_target(token=token), rows(1))
    assert token.strip() not in str(caught.value)
    assert hub.seen == []


def test_an_endpoint_with_a_password_is_in_no_message_and_in_no_spool(hub: HubDouble, tmp_path: Path) -> None:
    endpoint = hub.endpoint.replace("://", "://ada:pa55word@")
    target = HubTarget("user/pairs", token="hf_writes", endpoint=endpoint, cache_dir=tmp_path / "m", max_wait=0)
    said = [target.name, target.route, repr(target)]
    hub.faults.script("*", "", *[Status(503)] * 3)
    with pytest.raises(AppendFailed) as caught:
        append_rows(target, rows(1), spool=tmp_path / "spool")
    said.append(str(caught.value))
    hub.faults.stop()
    with pytest.raises(KokoroError) as sent:
        send_spooled(tmp_path / "spool")
    said += [str(sent.value), *(file.read_text("utf-8") for file in (tmp_path / "spool").glob("*.jsonl"))]
    assert not [text for text in said if "pa55word" in text or "ada:" in text]


@pytest.mark.parametrize("given", [f"user/pairs@{TOKEN}", f"hf://datasets/user/pairs@{TOKEN}"])
def test_a_branch_that_looks_like_a_token_is_refused_and_not_shown(given: str) -> None:
    for target, branch in ((given, None), ("user/pairs", TOKEN)):
        with pytest.raises(UsageError, match="looks like a token") as caught:
            append_rows(target, rows(1), branch=branch)
        assert TOKEN not in str(caught.value)
    assert TOKEN not in HubTarget("user/pairs", TOKEN).name
