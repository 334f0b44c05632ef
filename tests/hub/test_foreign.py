"""A place that holds another dataset is refused by name, at every door, and stays as it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from datasets import Dataset
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, DatasetCardData, constants

import hf_kokoro as hk
from hf_kokoro.cards import publish, write_card
from hf_kokoro.cli import main
from hf_kokoro.hub.errors import ForeignData

from .double import HubDouble
from .places import LocalPlace, Place
from .rows import numbers, row, rows

DATA = "data/pilot.jsonl"
PARQUET = "data/train-00000-of-00001.parquet"
CSV = Path(__file__).resolve().parents[2] / "hf_kokoro" / "samples" / "counsel_chat.csv"


class Door(Protocol):
    """A place as somebody types it: `text` and all that is there, hidden files and revisions too."""

    text: str

    def everything(self) -> dict[str, bytes]: ...

    def write(self, path: str, content: bytes) -> None: ...


class _Folder:
    text = "./pairs"

    def __init__(self, root: Path) -> None:
        self.root = root / "pairs"

    def everything(self) -> dict[str, bytes]:
        return {str(file.relative_to(self.root)): file.read_bytes() for file in self.root.rglob("*") if file.is_file()}

    def write(self, path: str, content: bytes) -> None:
        LocalPlace(self.root).write(path, content)


class _Repo:
    text = "user/pairs"

    def __init__(self, hub: HubDouble) -> None:
        self.hub = hub

    def everything(self) -> dict[str, bytes]:
        repo = self.hub.repo(self.text)
        refs = {ref: oid.encode() for ref, oid in repo.refs.items()}
        return refs | {path: self.hub.store.read(blob) for path, blob in repo.head().tree.items()}

    def write(self, path: str, content: bytes) -> None:
        self.hub.repo(self.text).commit({path: content})


@pytest.fixture(params=["folder", "hub"])
def door(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    monkeypatch.chdir(tmp_path)
    if request.param == "folder":
        yield _Folder(tmp_path)
        return
    with HubDouble(tmp_path / "hub") as hub:
        hub.repo("user/pairs")
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_TOKEN", "hf_writes")
        yield _Repo(hub)


def pushed(door: Door, tmp_path: Path) -> None:
    """Parquet and a card, as `Dataset.push_to_hub` writes them."""
    data = Dataset.from_list(rows(7, 8))
    data.to_parquet(tmp_path / "train.parquet")
    card = DatasetCardData()
    DatasetInfosDict({"default": data.info}).to_dataset_card_data(card)
    files = {"data_files": [{"split": "train", "path": "data/train-*"}]}
    MetadataConfigs({"default": files}).to_dataset_card_data(card)
    door.write(PARQUET, (tmp_path / "train.parquet").read_bytes())
    door.write("README.md", str(DatasetCard(f"---\n{card}\n---\n")).encode())


def with_series(door: Door, tmp_path: Path) -> None:
    """The same, and rows that somebody put beside it: what a former `append` did."""
    pushed(door, tmp_path)
    door.write(DATA, json.dumps(row(1), ensure_ascii=False).encode() + b"\n")


def without_card(door: Door, tmp_path: Path) -> None:
    pushed(door, tmp_path)
    data = door.everything()[PARQUET]
    door.write(PARQUET, data)
    door.write("README.md", b"# Mine\n")


def verb(*arguments: str) -> Callable[[Door], object]:
    def run(door: Door) -> None:
        monkeypatch = pytest.MonkeyPatch()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["hf-kokoro", *(a.replace("PLACE", door.text) for a in arguments)])
            main()

    return run


DOORS: dict[str, Callable[[Door], object]] = {
    "append_rows": lambda door: hk.append_rows(door.text, rows(2)),
    "append_rows dry run": lambda door: hk.append_rows(door.text, rows(2), dry_run=True),
    "write_card": lambda door: write_card(door.text, figures=False),
    "publish from Python": lambda door: publish("./mine", door.text),
    "append": verb("append", "rows.jsonl", "--to", "PLACE"),
    "append --dry-run": verb("append", "rows.jsonl", "--to", "PLACE", "--dry-run"),
    "append --watch": verb("append", "--watch", "journal.jsonl", "--to", "PLACE", "--once"),
    "judge --append-to": verb(
        "judge", "--source", str(CSV), "--judge", "rule", "--journal", "new.jsonl", "--append-to", "PLACE"
    ),
    "card": verb("card", "PLACE", "--no-figures"),
    "publish": verb("publish", "./mine", "--to", "PLACE", "--no-figures"),
    "publish --dry-run": verb("publish", "./mine", "--to", "PLACE", "--no-figures", "--dry-run"),
}


@pytest.fixture
def material(tmp_path: Path) -> None:
    """Rows, a folder to publish and a journal to follow."""
    (tmp_path / "rows.jsonl").write_text(json.dumps(row(2), ensure_ascii=False) + "\n", "utf-8")
    hk.append_rows(tmp_path / "mine", rows(2))


@pytest.mark.usefixtures("material")
@pytest.mark.parametrize("state", [pushed, with_series, without_card])
@pytest.mark.parametrize("name", DOORS)
def test_parquet_of_another_hand_is_refused_and_stays_as_it_is(
    door: Door,
    tmp_path: Path,
    name: str,
    state: Callable[[Door, Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    state(door, tmp_path)
    before = door.everything()
    with pytest.raises((ForeignData, SystemExit)) as refused:
        DOORS[name](door)
    if isinstance(refused.value, SystemExit):
        assert refused.value.code == 1
    said = str(refused.value) + capsys.readouterr().err
    assert (PARQUET if state is without_card else "data/train-*") in said
    assert DATA in said
    assert "use another one" in said
    assert door.everything() == before
    assert not (tmp_path / "new.jsonl").exists(), "nothing is judged for rows that have nowhere to go"


@pytest.mark.parametrize("name", ["append_rows", "append_rows dry run"])
def test_no_branch_is_made_from_a_main_one_that_holds_another_dataset(door: Door, tmp_path: Path, name: str) -> None:
    if isinstance(door, _Folder):
        pytest.skip("a folder has no branches")
    pushed(door, tmp_path)
    before = door.everything()
    with pytest.raises(ForeignData, match="data/train-"):
        hk.append_rows("user/pairs@new", rows(2), dry_run=name.endswith("dry run"))
    assert door.everything() == before


@pytest.mark.parametrize(
    "path", ["data/pilot2.jsonl", "train.csv", "more/x.json", "old.parquet", "data/rows.jsonl.gz", "pairs/train.jsonl"]
)
def test_without_a_card_any_other_data_file_is_named(place: Place, path: str) -> None:
    hk.append_rows(place.target(), rows(1))
    place.write(path, b"x")
    before = place.files()
    with pytest.raises(ForeignData, match=path):
        hk.append_rows(place.target(), rows(2))
    assert place.files() == before
    place.write("README.md", b"---\nconfigs: [{config_name: default, data_files: data/pilot.jsonl}]\n---\n")
    assert hk.append_rows(place.target(), rows(2)).rows_total == 2


@pytest.mark.parametrize("other", [["assets/a.png", "assets/b.png"], ["docs/train.md"], ["docs/a.md", "docs/b.md"]])
def test_files_that_a_loader_takes_for_the_data_are_named_though_they_are_no_tables(
    place: Place, other: list[str]
) -> None:
    for path in other:
        place.write(path, b"x")
    with pytest.raises(ForeignData, match=other[0]):
        hk.append_rows(place.target(), rows(1))


def test_files_that_a_loader_passes_over_are_no_hindrance(place: Place) -> None:
    for path in ("LICENSE", "notes.txt", "assets/a.png", "make.py", ".cache/x.parquet"):
        place.write(path, b"{}")
    assert hk.append_rows(place.target(), rows(1)).rows_total == 1


@pytest.mark.parametrize(
    ("configs", "said"),
    [
        ("[{config_name: only, data_files: other/*.jsonl}]", "config 'only' is made of other/*.jsonl"),
        ("[{config_name: a, data_files: x.csv}, {config_name: b, data_files: y.csv}]", "no default config among a, b"),
        (
            "[{config_name: a, data_files: x.csv}, {config_name: b, data_files: data/pilot.jsonl}]",
            "mark the one of 'b' with default: true",
        ),
        (
            "[{config_name: a, data_files: x.csv, default: true}, {config_name: b, data_files: data/*}]",
            "config 'a' is made of x.csv",
        ),
    ],
)
def test_a_card_whose_default_config_is_another_is_refused(place: Place, configs: str, said: str) -> None:
    place.write("README.md", f"---\nconfigs: {configs}\n---\n".encode())
    before = place.files()
    with pytest.raises(ForeignData) as refused:
        hk.append_rows(place.target(), rows(1))
    assert said in str(refused.value)
    assert place.files() == before


@pytest.mark.parametrize(
    "configs",
    [
        "[{config_name: default, data_files: data/pilot.jsonl}]",
        "[{config_name: only, data_files: [{split: train, path: [data/pilot.jsonl]}]}]",
        "[{config_name: a, data_files: x.csv}, {config_name: b, default: true, data_files: 'data/pilo[s-u].jsonl'}]",
        "[{config_name: default, data_files: data/pilot.jsonl}, {config_name: mine, data_files: mine/*.csv}]",
    ],
)
def test_a_card_prepared_for_the_rows_takes_them(place: Place, configs: str) -> None:
    place.write("README.md", f"---\nconfigs: {configs}\n---\n".encode())
    place.write("mine/x.csv", b"a,b\n")
    hk.append_rows(place.target(), rows(1))
    assert numbers(place.files()[DATA]) == [1]


def test_a_card_that_was_deleted_is_rendered_again(tmp_path: Path) -> None:
    hk.append_rows(tmp_path / "pairs", rows(1, 2))
    write_card(tmp_path / "pairs", figures=False)
    (tmp_path / "pairs" / "README.md").unlink()
    assert "README.md" in write_card(tmp_path / "pairs", figures=False).changed


def test_a_card_with_configs_costs_no_listing_of_the_repo(hub: HubDouble, hub_target: Callable[..., object]) -> None:
    hub.repo().commit({"README.md": b"---\nconfigs: [{config_name: default, data_files: data/pilot.jsonl}]\n---\n"})
    hk.append_rows(hub_target(), rows(1))
    assert [seen.path for seen in hub.requests("GET", "/tree/") if "recursive=True" in seen.path] == []
