"""An append to the Hub when requests fail: by status, by connection, by other writers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from hf_kokoro import append_rows, audit
from hf_kokoro.hub.errors import AccessError, AppendFailed, HistoryError, TargetError, VerifyError
from hf_kokoro.hub.patience import Patience
from hf_kokoro.hub.remote import HubTarget
from hf_kokoro.hub.spool import Spool

from .double import Drop, Fault, Hang, Html, HubDouble, Repo, Reset, Sneak, Status, Wound
from .rows import numbers, row, rows

DATA = "data/pilot.jsonl"
Make = Callable[..., HubTarget]


@pytest.fixture
def repo(hub: HubDouble) -> Repo:
    return hub.repo()


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def data_commits(repo: Repo) -> list[str]:
    return [commit.title for commit in repo.log("main") if commit.author == "user"]


UNKNOWN_AND_LANDED: list[Fault] = [
    Drop(applied=True),
    Reset(applied=True),
    Status(500, applied=True),
    Status(502, applied=True),
    Status(503, applied=True),
    Status(504, applied=True),
    Status(408, applied=True),
    Html(),
]
NOT_LANDED: list[Fault] = [
    Drop(applied=False),
    Reset(),
    Status(500),
    Status(503),
    Status(409),
    Status(412),
    Status(429),
    Status(429, {"Retry-After": "3"}),
]


def name(fault: object) -> str:
    return repr(fault).replace("headers=", "")


@pytest.mark.parametrize("fault", UNKNOWN_AND_LANDED, ids=name)
def test_commit_that_landed_though_no_good_reply_came_is_found_and_not_sent_again(
    hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault
) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script("POST", "/commit/", fault)
    report = append_rows(hub_target(), rows(1, 2, 3))
    assert hub.faults.left == 0
    assert (report.added, report.duplicates, report.attempts) == (2, 1, 2)
    assert report.revision == repo.head().oid
    assert numbers(repo.read(DATA)) == [1, 2, 3]
    assert len(data_commits(repo)) == 2


@pytest.mark.parametrize("fault", NOT_LANDED, ids=name)
def test_commit_that_did_not_land_is_sent_again(hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script("POST", "/commit/", fault)
    report = append_rows(hub_target(), rows(1, 2, 3))
    assert (report.added, report.duplicates, report.attempts) == (2, 1, 2)
    assert numbers(repo.read(DATA)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("method", "part"),
    [("GET", "/revision/main"), ("GET", "/tree/"), ("POST", "/paths-info/"), ("GET", "/resolve/")],
    ids=["head", "tree", "paths-info", "download"],
)
@pytest.mark.parametrize("fault", [Drop(applied=False), Status(500), Status(503), Html(), Status(429)], ids=name)
def test_reading_that_fails_is_tried_again(
    hub: HubDouble, repo: Repo, hub_target: Make, *, method: str, part: str, fault: Fault
) -> None:
    append_rows(hub_target("elsewhere"), rows(1))
    hub.faults.script(method, part, fault)
    assert append_rows(hub_target(), rows(2)).added == 1
    assert hub.faults.left == 0
    assert numbers(repo.read(DATA)) == [1, 2]


@pytest.mark.parametrize("fault", [Html(), Wound(100), Wound(0)], ids=name)
def test_download_of_other_bytes_than_the_pinned_ones_is_not_taken(
    hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault
) -> None:
    append_rows(hub_target("elsewhere"), rows(1))
    hub.faults.script("GET", "/resolve/", fault)
    append_rows(hub_target(), rows(2))
    assert numbers(repo.read(DATA)) == [1, 2]


@pytest.mark.parametrize("fault", [Html(), Wound(100), Wound(0)], ids=name)
def test_tail_of_other_bytes_than_the_pinned_ones_is_no_rewritten_history(
    hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault
) -> None:
    append_rows(hub_target(), rows(1))
    append_rows(hub_target("elsewhere"), rows(2))
    hub.faults.script("GET", "/resolve/", fault, fault)
    append_rows(hub_target(), rows(3))
    assert numbers(repo.read(DATA)) == [1, 2, 3]


@pytest.mark.parametrize("fault", [Status(500), Status(409), Status(412), Status(429), Drop(False), Html()], ids=name)
def test_read_back_that_fails_is_no_reason_to_send_twice(
    hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault
) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script("POST", "/paths-info/", Sneak(lambda: None), fault)
    report = append_rows(hub_target(), rows(2))
    assert hub.faults.left == 0
    assert (report.added, report.attempts) == (1, 2)
    assert len(data_commits(repo)) == 2


def test_upload_of_large_files_survives_dropped_and_refused_requests(
    hub_target: Make, hub: HubDouble, repo: Repo
) -> None:
    hub.lfs_bytes = 1
    for part, fault in (
        ("POST /preupload/", Status(500)),
        ("POST /objects/batch", Drop(applied=False)),
        ("PUT /storage/", Status(503)),
        ("POST /commit/", Drop(applied=True)),
    ):
        hub.faults.script(*part.split(" "), fault)
    report = append_rows(hub_target(), rows(1, 2))
    assert hub.faults.left == 0
    assert report.added == 2
    assert repo.head().tree[DATA].lfs
    assert numbers(repo.read(DATA)) == [1, 2]


def test_other_writer_between_reading_and_committing_loses_nothing(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    append_rows(hub_target(), rows(1))
    other = hub_target("another-machine")
    hub.faults.script("POST", "/commit/", Sneak(lambda: append_rows(other, rows(7))))
    report = append_rows(hub_target(), rows(2))
    assert (report.added, report.attempts, report.rows_total) == (1, 2, 3)
    assert numbers(repo.read(DATA)) == [1, 7, 2]
    assert audit(hub_target()).ok


def test_other_writer_who_adds_the_same_row_first_makes_ours_a_duplicate(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    other = hub_target("another-machine")
    hub.faults.script("POST", "/commit/", Sneak(lambda: append_rows(other, rows(1))))
    report = append_rows(hub_target(), rows(1, 2))
    assert (report.added, report.duplicates) == (1, 1)
    assert numbers(repo.read(DATA)) == [1, 2]


def test_other_writer_who_changes_only_the_card_costs_one_more_try(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    hub.faults.script("POST", "/commit/", Sneak(lambda: repo.commit({"README.md": b"# card\n"})))
    assert append_rows(hub_target(), rows(1)).attempts == 2
    assert repo.read("README.md") == b"# card\n"


def test_waits_follow_retry_after_in_seconds_and_as_a_date(
    hub: HubDouble, hub_target: Make, waits: list[float]
) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    hub.faults.script("POST", "/commit/", Status(429, {"Retry-After": "30"}), Status(429, {"Retry-After": date}))
    append_rows(hub_target(), rows(1))
    assert 30 <= waits[0] < 32
    assert 90 < waits[1] < 102


def test_wait_longer_than_our_patience_is_refused_at_once(hub: HubDouble, hub_target: Make, spool: Spool) -> None:
    hub.faults.script("POST", "/commit/", Status(429, {"Retry-After": "7200"}))
    with pytest.raises(AppendFailed, match="429"):
        append_rows(hub_target(), rows(1), spool=spool.folder)
    assert [entry.rows for entry in spool.entries()] == [1]


def test_waits_grow_and_are_random_so_that_writers_part(hub: HubDouble, hub_target: Make) -> None:
    waits: list[float] = []
    patience = Patience(sleep=waits.append, random=lambda: 1.0)
    hub.faults.script("GET", "/revision/", *[Status(503)] * 4)
    append_rows(hub_target(patience=patience), rows(1))
    assert waits == [0.5, 1.0, 2.0, 4.0]
    still = Patience(sleep=waits.append, random=lambda: 0.0)
    hub.faults.script("GET", "/revision/", Status(503))
    append_rows(hub_target(patience=still), rows(2))
    assert len(waits) == 4


def test_faults_without_end_give_up_after_a_bounded_number_of_tries(
    hub: HubDouble, hub_target: Make, spool: Spool
) -> None:
    hub.faults.roll(1.0, 0, [Status(503)])
    with pytest.raises(AppendFailed) as caught:
        append_rows(hub_target(), rows(1, 2), spool=spool.folder)
    assert "gave up after 10 tries" in str(caught.value)
    assert "503" in str(caught.value)
    assert str(spool.folder) in str(caught.value)
    assert [entry.rows for entry in spool.entries()] == [2]


def test_faults_without_end_give_up_after_a_bounded_time(hub: HubDouble, hub_target: Make) -> None:
    clock = iter(range(0, 100_000, 400))
    patience = Patience(clock=lambda: float(next(clock)), sleep=lambda seconds: None, seconds=1000)
    hub.faults.roll(1.0, 0, [Status(503)])
    with pytest.raises(AppendFailed, match="gave up after 3 tries"):
        append_rows(hub_target(patience=patience), rows(1))


@pytest.mark.parametrize("status", [412, 409])
def test_conflict_for_ever_without_anybody_else_names_the_token_scope(
    hub: HubDouble, hub_target: Make, spool: Spool, status: int
) -> None:
    hub.faults.script("POST", "/commit/", *[Status(status)] * 100)
    with pytest.raises(AppendFailed) as caught:
        append_rows(hub_target(), rows(1), spool=spool.folder)
    assert str(status) in str(caught.value)
    assert "Write access to contents" in str(caught.value)
    assert "--pr" in str(caught.value)
    assert [entry.rows for entry in spool.entries()] == [1]
    assert hub.faults.left == 92


def test_conflicts_with_busy_others_are_borne_longer_but_not_for_ever(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    count = iter(range(1000))
    sneak = Sneak(lambda: repo.commit({"notes.txt": str(next(count)).encode()}))
    hub.faults.script("POST", "/commit/", *[sneak] * 30)
    assert append_rows(hub_target(), rows(1)).attempts == 31
    hub.faults.script("POST", "/commit/", *[sneak] * 30)
    with pytest.raises(AppendFailed, match="20 conflicts with other writers"):
        append_rows(hub_target(patience=Patience(conflicts=20, sleep=lambda seconds: None)), rows(2))


def test_lagging_head_after_a_conflict_is_waited_for(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    hub.faults.script("POST", "/commit/", Status(409), Status(409), Status(412))
    assert append_rows(hub_target(), rows(1)).attempts == 4
    assert numbers(repo.read(DATA)) == [1]


@pytest.mark.parametrize(
    ("token", "says"),
    [
        ("hf_reads", "403.*Write access to contents"),
        ("hf_wrong", "401.*hf auth login"),
        (False, "40[13]"),
    ],
)
def test_token_that_may_not_write_stops_at_once_and_names_what_it_lacks(
    hub: HubDouble, repo: Repo, hub_target: Make, waits: list[float], *, spool: Spool, token: str, says: str
) -> None:
    with pytest.raises(AccessError, match=says):
        append_rows(hub_target(token=token), rows(1), spool=spool.folder)
    assert waits == []
    assert DATA not in repo.head().tree
    assert spool.entries() == []


def test_private_repo_that_the_token_cannot_see_stops_at_once(hub: HubDouble, hub_target: Make) -> None:
    hub.store.create("user/hidden", private=True)
    with pytest.raises(AccessError, match="401"):
        append_rows(hub_target(repo="user/hidden", token=False), rows(1))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_commit_that_the_hub_refuses_stops_at_once(hub: HubDouble, hub_target: Make, status: int) -> None:
    hub.faults.script("POST", "/commit/", Status(status))
    with pytest.raises(TargetError, match=str(status)) as caught:
        append_rows(hub_target(), rows(1))
    assert not caught.value.retryable
    assert len(hub.requests("POST", "/commit/")) == 1


def test_path_in_gitignore_is_refused_before_anything_is_committed(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    repo.commit({".gitignore": b"data/pilot.jsonl\n", "README.md": b"# card\n"})
    before = repo.head().oid
    with pytest.raises(TargetError, match="gitignore"):
        append_rows(hub_target(), rows(1), extra_operations=lambda growth: {"README.md": b"# 1 row\n"})
    assert repo.head().oid == before


def test_commit_that_reads_back_as_other_bytes_fails_loudly(
    hub: HubDouble, repo: Repo, hub_target: Make, spool: Spool
) -> None:
    append_rows(hub_target(), rows(1))

    def corrupt() -> None:
        blob = repo.head().tree[DATA]
        tree = dict(repo.head().tree) | {DATA: hub.store.put(b"other\n", lfs=False)}
        object.__setattr__(repo.head(), "tree", tree)
        assert blob != tree[DATA]

    hub.faults.script("POST", "/paths-info/", Sneak(lambda: None), Sneak(corrupt))
    with pytest.raises(VerifyError, match=r"data/pilot\.jsonl reads back.*not known whether 1 row arrived") as caught:
        append_rows(hub_target(), rows(2), spool=spool.folder)
    assert "spool" not in str(caught.value)
    assert spool.entries() == []


def test_old_bytes_are_never_served_from_a_cache_when_the_hub_fails(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    append_rows(hub_target(), rows(1, 2, 3))
    append_rows(hub_target("another-machine"), rows(4, 5))
    hub.faults.script("GET", "/resolve/", *[Status(503)] * 3)
    report = append_rows(hub_target(), rows(6))
    assert report.rows_total == 6
    assert numbers(repo.read(DATA)) == [1, 2, 3, 4, 5, 6]


def test_only_the_missing_tail_is_fetched_with_a_warm_mirror(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    append_rows(hub_target(), [row(n, size=3000) for n in range(20)])
    append_rows(hub_target("another-machine"), rows(30))
    report = append_rows(hub_target(), rows(31))
    assert len(repo.read(DATA)) > 200_000
    assert report.bytes_received < 10_000
    assert numbers(repo.read(DATA)) == [*range(20), 30, 31]


def test_server_without_range_requests_is_read_whole(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    append_rows(hub_target(), rows(1, 2))
    append_rows(hub_target("another-machine"), rows(3))
    hub.ranges = False
    append_rows(hub_target(), rows(4))
    assert numbers(repo.read(DATA)) == [1, 2, 3, 4]


def test_rewritten_history_shows_the_first_differing_byte_and_where_our_copy_is(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    append_rows(hub_target(), rows(1, 2))
    ours = repo.read(DATA)
    theirs = bytearray(ours + b"{}\n")
    theirs[1234:1235] = b"#"
    repo.commit({DATA: bytes(theirs)})
    with pytest.raises(HistoryError) as caught:
        append_rows(hub_target(), rows(3))
    assert caught.value.offset == 1234
    copy = Path(str(caught.value).split("a copy is in ")[1].split(")")[0])
    assert copy.read_bytes() == ours
    assert repo.read(DATA) == bytes(theirs)


def test_missing_repo_is_made_private_and_public_on_demand(hub: HubDouble, hub_target: Make) -> None:
    append_rows(hub_target(repo="user/new"), rows(1))
    append_rows(hub_target(repo="user/open", private=False), rows(1))
    assert hub.store.repos["user/new"].private
    assert not hub.store.repos["user/open"].private


def test_dry_run_makes_no_repo_and_no_branch(hub: HubDouble, hub_target: Make) -> None:
    assert append_rows(hub_target(repo="user/new"), rows(1), dry_run=True).added == 1
    assert append_rows(hub_target(branch="later"), rows(1), dry_run=True).added == 1
    assert "user/new" not in hub.store.repos
    assert "refs/heads/later" not in hub.repo().refs
    assert [seen for seen in hub.seen if seen.method != "GET" and "/paths-info/" not in seen.path] == []


def test_branch_is_made_and_grows_apart_from_main(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    append_rows(hub_target(), rows(1))
    append_rows(hub_target(branch="try/this"), rows(2))
    assert numbers(repo.read(DATA, "try/this")) == [1, 2]
    assert numbers(repo.read(DATA)) == [1]
    assert audit(hub_target(branch="try/this")).rows == 2


def test_pull_request_leaves_the_branch_alone_and_is_not_opened_twice(
    hub: HubDouble, repo: Repo, hub_target: Make
) -> None:
    append_rows(hub_target(), rows(1))
    head = repo.head().oid
    opened = append_rows(hub_target(pr=True), rows(2))
    again = append_rows(hub_target(pr=True), rows(2))
    assert repo.head().oid == head
    assert numbers(repo.read(DATA, "refs/pr/1")) == [1, 2]
    assert (opened.added, again.added) == (1, 0)
    assert opened.pr_url == again.pr_url == f"{hub.endpoint}/datasets/user/pairs/discussions/1"
    assert len(repo.pull_requests) == 1


@pytest.mark.parametrize("fault", [Drop(applied=True), Status(502, applied=True), Html()], ids=name)
def test_pull_request_whose_reply_was_lost_is_found(hub: HubDouble, repo: Repo, hub_target: Make, fault: Fault) -> None:
    hub.faults.script("POST", "/commit/", fault)
    report = append_rows(hub_target(pr=True), rows(1, 2))
    assert (report.added, report.attempts, len(repo.pull_requests)) == (2, 2, 1)
    assert report.pr_url is not None


def test_pull_request_that_was_closed_may_be_opened_again(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    append_rows(hub_target(pr=True), rows(1))
    repo.pull_requests[0].status = "closed"
    assert append_rows(hub_target(pr=True), rows(1)).added == 1
    assert len(repo.pull_requests) == 2


def test_token_that_may_only_read_can_open_a_pull_request(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    assert append_rows(hub_target(pr=True, token="hf_reads"), rows(1)).pr_url is not None


def test_open_pull_request_can_be_grown_as_a_branch(hub: HubDouble, repo: Repo, hub_target: Make) -> None:
    append_rows(hub_target(pr=True), rows(1))
    append_rows(hub_target(branch="refs/pr/1"), rows(2))
    assert numbers(repo.read(DATA, "refs/pr/1")) == [1, 2]


@pytest.mark.parametrize(
    ("method", "part"),
    [("GET", "/revision/main"), ("POST", "/preupload/"), ("POST", "/commit/")],
    ids=["head", "preupload", "commit"],
)
@pytest.mark.parametrize("applied", [False, True])
def test_request_that_is_never_answered_ends_by_our_own_time_limit(
    hub: HubDouble, repo: Repo, hub_target: Make, *, method: str, part: str, applied: bool
) -> None:
    append_rows(hub_target(), rows(1))
    hub.faults.script(method, part, Hang(applied))
    report = append_rows(hub_target(read_seconds=0.2), rows(2, 3))
    assert hub.faults.left == 0
    assert hub.outwaited == 0
    assert report.added == 2
    assert numbers(repo.read(DATA)) == [1, 2, 3]


def test_time_limits_and_hooks_are_gone_after_the_append(hub: HubDouble, hub_target: Make) -> None:
    from huggingface_hub import get_session

    before = {kind: list(hooks) for kind, hooks in get_session().event_hooks.items()}
    append_rows(hub_target(), rows(1))
    hub.faults.script("GET", "/revision/", Drop(applied=False))
    append_rows(hub_target(), rows(2))
    assert {kind: list(hooks) for kind, hooks in get_session().event_hooks.items()} == before
