"""Files of a Hub dataset at one commit, in the Hub's cache: bounded, tried again and told as every request of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.utils._paths import filter_repo_objects
from huggingface_hub.utils.tqdm import tqdm as progress_bar

from .hubclient import OwnClient, Traffic
from .patience import Patience, patiently
from .told import asked, told_apart

PATIENCE = Patience(faults=5, seconds=300.0, longest_wait=10.0)
"""Somebody waits for a source, and may have a copy of it: less patience than for rows that are to be sent."""
_T = TypeVar("_T")
_WORKERS = 8


class _NoBar(progress_bar):
    """For each of many files: one bar counts them all."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "disable": True})  # type: ignore[no-untyped-call]


def hub_call(doing: str, call: Callable[[], _T], token: str | bool | None = None) -> _T:
    """Run something that reads from the Hub through our client, again after what may pass.

    Raises TargetError for what the Hub or the connection did, and what `call` raises of its own.
    """
    own = OwnClient(Traffic(), token=token)

    def once() -> _T:
        try:
            with own.used():
                return call()
        except ValueError:
            raise  # not of the Hub: a reader's
        except Exception as error:
            if (known := told_apart(error, doing)) is None:
                raise
            raise known from None

    return patiently(once, PATIENCE)


@dataclass(frozen=True)
class Snapshot:
    """A dataset repo at one commit, and the files that it has there."""

    repo_id: str
    commit: str
    files: Sequence[str]
    token: str | bool | None
    own: OwnClient

    @classmethod
    def of(cls, repo_id: str, revision: str | None, token: str | bool | None) -> Snapshot:
        """The newest commit of a branch, tag or commit. Raises TargetError."""
        own = OwnClient(Traffic(), token=token)

        def look() -> Snapshot:
            with own.used():
                info = HfApi(token=token).dataset_info(repo_id, revision=revision)
            return cls(repo_id, info.sha or "", [file.rfilename for file in info.siblings or ()], token, own)

        return patiently(lambda: asked(f"{repo_id}: looking up the commit", look), PATIENCE)

    def download(self, patterns: Sequence[str]) -> Path | None:
        """The folder of the snapshot, with the files that match a pattern; None if none does. Raises TargetError."""
        wanted = list(filter_repo_objects(self.files, allow_patterns=list(patterns)))
        if not wanted:
            return None
        bar = progress_bar(total=len(wanted), desc=f"{self.repo_id}: files")  # type: ignore[no-untyped-call]
        each = progress_bar if len(wanted) == 1 else _NoBar
        with self.own.used(), bar, ThreadPoolExecutor(min(_WORKERS, len(wanted))) as pool:
            # a thread has none of our context unless it is given it
            jobs = [pool.submit(copy_context().run, self._file, path, each) for path in wanted]
            try:
                for job in jobs:
                    place = job.result()
                    bar.update()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return place.parents[len(PurePosixPath(wanted[-1]).parts) - 1]

    def _file(self, path: str, bar: type[progress_bar]) -> Path:
        def download() -> Path:
            place = hf_hub_download(
                self.repo_id, path, repo_type="dataset", revision=self.commit, token=self.token, tqdm_class=bar
            )
            return Path(place)

        return patiently(lambda: asked(f"{self.repo_id}: downloading {path}", download), PATIENCE)
