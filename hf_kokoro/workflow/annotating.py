"""`annotate`: kits for people who rate blind, their ratings as a journal, and a sheet where they differ."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.reports import Report
from ..corpora.counsel_chat import CounselChat
from ..errors import Faults, UsageError, describe
from ..judging import Item, Journal, Opinion, load_rubric, no_answer, read_journal
from ..judging.kit import NAME, AskedQuestion, KitItem, assign, draw_questions
from ..judging.kit_files import codebook, label_studio_config, write_list
from ..judging.kit_ratings import Filled, KeyEntry, read_filled
from ..judging.validity import HUMAN
from ..judging.verdicts import Verdict, make_verdict
from ..miti.contract import DIMENSIONS
from . import joining as join

KEY = "key.json"
ADJUDICATED = "adjudicated"
"""Whose ratings an adjudication sheet's are."""
APART = 2
"""Levels of a score (of a code: any) that count as a disagreement."""
_MISSING_SHOWN = 5


@dataclass(frozen=True)
class KitReport(Report):
    """What was made: `items` counts those of each rater's list, repeats included."""

    out: str
    questions: int
    answers: int
    items: Mapping[str, int]
    files: Sequence[str]


@dataclass(frozen=True)
class RatingsReport(Report):
    """What was read: `missing` maps raters to items that they left out; `untouched` are files without a rating."""

    journal: str
    rated: Mapping[str, int]
    repeats: Mapping[str, int]
    missing: Mapping[str, int]
    written: int
    untouched: Sequence[str] = ()


def annotate_export(
    source: str | PathLike[str],
    out: str | PathLike[str],
    *,
    questions: int = 50,
    raters: int | Sequence[str] = 3,
    overlap: float = 1.0,
    repeats: float = 0.05,
    min_answers: int = 3,
    seed: int = 42,
) -> KitReport:
    """Write a kit: a codebook, a key, and each rater's list as CSV, XLSX, Label Studio, Argilla and an offline page.

    Whole questions are drawn, over topics; an `overlap` share of them goes to all raters, the others to one each; a
    `repeats` share of each list comes again, unmarked. `raters` is their number or names. Keep `key.json` from the
    raters: it says what the items are. Workbooks need openpyxl and are left out without it. Raises UsageError (also for
    a folder that isn't empty), SourceError.
    """
    names = [f"rater-{number}" for number in range(1, raters + 1)] if isinstance(raters, int) else [*raters]
    _check_names(names)
    chat = join.load_source(str(source))
    drawn = draw_questions(_asked(chat, min_answers), questions, seed)
    lists = assign(drawn, names, overlap=overlap, repeats=repeats, seed=seed)
    return _write_kit(Path(out), str(source), chat, lists, seed)


def annotate_import(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    journal: str | PathLike[str],
    *,
    allow_missing: bool = False,
) -> RatingsReport:
    """Make verdicts of filled lists: one a rating, by `human/<rater>`, repeats as passes of a retest.

    `files` may be a kit's folder. The same import again writes nothing; a changed rating is written behind the older
    one, and counts. Raises InputError with every fault, UsageError without a key or (unless `allow_missing`) for
    ratings that are missing, JournalError.
    """
    given = [files] if isinstance(files, str | PathLike) else files
    paths = sorted(path for one in map(Path, given) for path in (one.iterdir() if one.is_dir() else [one]))
    kit, key = _read_key(paths)
    faults = Faults()
    filled = read_filled(paths, key, faults)
    faults.raise_if_any("ratings")
    missing = _missing(filled, key)
    if missing and not allow_missing:
        raise UsageError(_say_missing(missing) + "; rate them, or take what is there with --allow-missing")
    written = _journal(Path(journal), filled, key, kit)
    if kit.get("source"):
        join.write_origin_note(Path(journal), str(kit["source"]), str(kit["source_sha256"]))
    passes = [Counter(key[item].rater for item in filled.scores if key[item].repeat == n) for n in (0, 1)]
    counts = {rater: len(items) for rater, items in missing.items()}
    return RatingsReport(str(journal), dict(passes[0]), dict(passes[1]), counts, written, filled.untouched)


def annotate_adjudicate(
    journal: str | PathLike[str], out: str | PathLike[str], *, source: str | None = None
) -> KitReport:
    """A kit of the answers on which people differ (a code at all, a score by two), to be settled by one more list.

    Its ratings come back as `human/adjudicated`. Raises UsageError if nobody differs, SourceError, JournalError.
    """
    book = Path(journal)
    found, chat = join.source_of_journal(book, source)
    people = [v for v in read_journal(book) if v.judge_model.startswith(HUMAN) and not v.repeat and v.scores]
    differing = _differing(people)
    items = {(item.question_sha256, item.answer_sha256): item for item in join.items_of(chat.questions)}
    wanted = [items[key] for key in items if key in differing]
    if not wanted:
        raise UsageError(f"{book}: no answer on which people differ, and whose text is in {found}")
    asked = [AskedQuestion("", (item,)) for item in wanted]
    lists = assign(asked, [ADJUDICATED], overlap=1, repeats=0, seed=0)
    return _write_kit(Path(out), found, chat, lists, 0)


def _check_names(names: Sequence[str]) -> None:
    if not names or len({*names}) < len(names):
        raise UsageError(f"--raters: got {describe(', '.join(names), show=True)}; allowed: one or more different names")
    for name in names:
        if not re.fullmatch(NAME, name):
            raise UsageError(f"--raters: got {describe(name, show=True)}; allowed: letters, digits, '.', '_' and '-'")


def _asked(chat: CounselChat, min_answers: int) -> list[AskedQuestion]:
    asked = []
    for question in join.judged_questions(chat, min_answers):
        items = [item for item in join.items_of([question]) if no_answer(item.answer) is None]
        distinct = {item.answer_sha256: item for item in items}
        asked.append(AskedQuestion(question.topic, tuple(distinct.values())))
    return asked


def _write_kit(
    out: Path, source: str, chat: CounselChat, lists: Mapping[str, Sequence[KitItem]], seed: int
) -> KitReport:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--out {out}: not an empty folder; give another, so that no filled list is written over")
    out.mkdir(parents=True, exist_ok=True)
    workbooks = find_spec("openpyxl") is not None
    files = [out / "codebook.md", out / "label-studio.xml", out / KEY]
    files[0].write_text(codebook(), "utf-8")
    files[1].write_text(label_studio_config(), "utf-8")
    key = {item.id: asdict(_entry(rater, item)) for rater, items in lists.items() for item in items}
    note = {"version": 1, "rubric_sha256": load_rubric().sha256, "source": source, "source_sha256": chat.digest}
    files[2].write_text(json.dumps({**note, "seed": seed, "items": key}, indent=1) + "\n", "utf-8")
    for rater, items in lists.items():
        files += write_list(out, rater, items, workbooks=workbooks)
    answers = {(e["question_sha256"], e["answer_sha256"]) for e in key.values()}
    counts = {rater: len(items) for rater, items in lists.items()}
    return KitReport(str(out), len({q for q, _ in answers}), len(answers), counts, [path.name for path in files])


def _entry(rater: str, item: KitItem) -> KeyEntry:
    one: Item = item.answered
    return KeyEntry(rater, one.question_id, one.question_sha256, one.answer_sha256, one.therapist, item.repeat)


def _read_key(paths: Sequence[Path]) -> tuple[dict[str, Any], dict[str, KeyEntry]]:
    folders = list(dict.fromkeys(path.parent for path in paths))
    if len(folders) != 1:
        raise UsageError("annotate import: got files of several folders, or none; allowed: the files of one kit")
    file = folders[0] / KEY
    try:
        kit = json.loads(file.read_text("utf-8"))
        return kit, {item: KeyEntry(**entry) for item, entry in kit["items"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{file}: no key of a kit ({type(error).__name__}); put the filled lists beside the key that "
            "`annotate export` made with them"
        ) from None


def _missing(filled: Filled, key: Mapping[str, KeyEntry]) -> dict[str, list[str]]:
    """Rater to items left out, of raters who rated something."""
    raters = {key[item].rater for item in filled.scores}
    if not raters:
        raise UsageError("annotate import: no rating in these files; fill one of the lists in")
    found: dict[str, list[str]] = {}
    for item, entry in key.items():
        if entry.rater in raters and item not in filled.scores:
            found.setdefault(entry.rater, []).append(item)
    return found


def _say_missing(missing: Mapping[str, Sequence[str]]) -> str:
    parts = []
    for rater, items in missing.items():
        more = f" and {len(items) - _MISSING_SHOWN} more" if len(items) > _MISSING_SHOWN else ""
        parts.append(f"{rater} left out {len(items)} items ({', '.join(items[:_MISSING_SHOWN])}{more})")
    return "; ".join(parts)


def _journal(path: Path, filled: Filled, key: Mapping[str, KeyEntry], kit: Mapping[str, Any]) -> int:
    written = 0
    with Journal(path) as book:
        there = {v.key: v.scores for v in read_journal(path)} if book.statuses else {}
        for item, scores in filled.scores.items():
            entry = key[item]
            opinion = Opinion("scored", scores, filled.notes.get(item, ""))
            verdict = make_verdict(entry, opinion, HUMAN + entry.rater, str(kit["rubric_sha256"]), entry.repeat)
            if there.get(verdict.key) != scores:
                book.append(verdict)
                written += 1
    return written


def _differing(verdicts: Iterable[Verdict]) -> set[tuple[str, str]]:
    levels: dict[tuple[str, str], dict[str, set[int]]] = {}
    for verdict in verdicts:
        found = levels.setdefault(
            (verdict.question_sha256, verdict.answer_sha256), {name: set() for name in DIMENSIONS}
        )
        for name in DIMENSIONS:
            found[name].add((verdict.scores or {})[name])
    return {
        key
        for key, found in levels.items()
        if any(max(s) - min(s) >= min(APART, DIMENSIONS[n][1] - DIMENSIONS[n][0]) for n, s in found.items())
    }
