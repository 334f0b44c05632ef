"""The two kinds of targets behind one face, for the contract tests: write by hand, read by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from hf_kokoro.hub import LocalTarget, Target
from hf_kokoro.hub.patience import Patience
from hf_kokoro.hub.remote import HubTarget

from .double import HubDouble

REPO = "user/pairs"


class Place(Protocol):
    def target(self) -> Target:
        """A fresh target object, as a new process on the same machine would make it."""

    def files(self) -> dict[str, bytes]:
        """Everything a user of the dataset sees."""

    def write(self, path: str, content: bytes | None) -> None:
        """Change the place by hand, past the package; None removes the file."""

    def forget(self) -> None:
        """Lose all memory of former appends, as on a new machine."""


class LocalPlace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def target(self) -> Target:
        return LocalTarget(self.folder)

    def files(self) -> dict[str, bytes]:
        files = (file for file in self.folder.rglob("*") if file.is_file())
        named = {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in files}
        return {path: content for path, content in named.items() if not path.startswith(".")}

    def write(self, path: str, content: bytes | None) -> None:
        file = self.folder / path
        if content is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def forget(self) -> None:
        index = self.folder / ".hf_kokoro" / "index"
        for file in index.glob("*"):
            file.unlink()


class HubPlace:
    def __init__(self, double: HubDouble, machines: Path) -> None:
        self.double, self.repo = double, double.repo(REPO)
        self._machines, self._machine = machines, 0

    def target(self) -> Target:
        return HubTarget(
            REPO,
            token="hf_writes",
            endpoint=self.double.endpoint,
            cache_dir=self._machines / str(self._machine),
            patience=Patience(sleep=lambda seconds: None),
        )

    def files(self) -> dict[str, bytes]:
        tree = self.repo.head().tree
        return {path: self.double.store.read(blob) for path, blob in tree.items() if not path.startswith(".")}

    def write(self, path: str, content: bytes | None) -> None:
        self.repo.commit({path: content})

    def forget(self) -> None:
        self._machine += 1
