"""Joining a verdict journal with the source that it was made from.

The journal holds digests, not texts. Beside it, `<journal>.source.json` names the source (as it was given)
and the digest of its content, so that `pair`, `agree` and `bias` find the texts again or say why they can't.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..core.atomic import write_atomically
from ..core.disk import disk_errors
from ..corpora.counsel_chat import CounselChat, Question, read_counsel_chat
from ..corpora.fetch import local_source, origin
from ..errors import KokoroError, SourceError, UsageError
from ..judging import Item, Judge, Verdict, no_answer, read_journal, text_sha256
from ..judging.agreement import AnswerKey
from ..judging.bias import ScoredAnswer
from ..judging.judge import AsyncJudge
from ..judging.verdicts import VerdictKey
from ..miti.contract import SOURCE_DATASET
from ..miti.pairing import Candidate, CandidateSet, Pair

_PATTERNS = ("*.csv", "*.tsv", "*.json", "*.jsonl", "*.parquet")


@dataclass(frozen=True)
class Origin:
    """Where a journal's texts are: the source as given, and the digest of what it held."""

    source: str
    sha256: str


def load_source(source: str) -> CounselChat:
    """Read counsel-chat from a path or a Hub dataset id; what upstream's own repo served is known to be upstream's."""
    path = local_source(source, _PATTERNS)
    chat = read_counsel_chat(path)
    fetched = not Path(source).expanduser().exists()
    if fetched and origin(path).partition("@")[0].casefold() == f"hf://datasets/{SOURCE_DATASET}":
        return replace(chat, fetched=True)
    return chat


def judged_questions(chat: CounselChat, min_answers: int) -> list[Question]:
    """Questions with at least `min_answers` answers; a blank or placeholder text is none."""
    return [q for q in chat.questions if sum(no_answer(a.text) is None for a in q.answers) >= min_answers]


def items_of(questions: Iterable[Question]) -> list[Item]:
    """One item an answer, question by question, so that an interrupted run leaves whole questions behind."""
    return [Item(q.question_id, q.prompt, a.therapist, a.text) for q in questions for a in q.answers]


def drawn(items: list[Item], sample: int | None, seed: int) -> list[Item]:
    """Items of whole questions, drawn by seeded digest until they are `sample` answers or more; all if it is None.

    Whole, since pairs are made of all answers to a question. They stay in their order.
    """
    if sample is None:
        return items
    # blank and placeholder texts have nothing to measure a judge on, and a text that stands twice is judged once
    seen = {(item.question_sha256, item.answer_sha256): item for item in items if no_answer(item.answer) is None}
    sizes = Counter(question for question, _ in seen)
    kept: set[str] = set()
    for question in sorted(sizes, key=lambda digest: text_sha256(f"{seed}\0{digest}")):
        if sum(sizes[other] for other in kept) >= sample:
            break
        kept.add(question)
    chosen = {id(item) for item in seen.values() if item.question_sha256 in kept}
    return [item for item in items if id(item) in chosen]


def origin_path(journal: Path) -> Path:
    """The file beside the journal that names its source."""
    return journal.with_name(journal.name + ".source.json")


def write_origin(journal: Path, source: str, chat: CounselChat) -> None:
    """Note the source beside the journal, replacing an older note in one step. Raises JournalError where it can't."""
    write_origin_note(journal, source, chat.digest)


def write_origin_note(journal: Path, source: str, digest: str) -> None:
    """The same where only the digest of what the source held is known."""
    from ..judging.journal import JournalError

    note = json.dumps({"source": source, "sha256": digest}) + "\n"
    with disk_errors(origin_path(journal), "nothing was judged; the journal is as it was", JournalError):
        write_atomically(origin_path(journal), note.encode())


def read_origin(journal: Path) -> Origin:
    """Raises UsageError if the note is missing or is none: then only --source can say where the texts are."""
    path = origin_path(journal)
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return Origin(str(fields["source"]), str(fields["sha256"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            f"{journal}: no note of its source ({path.name} is missing or unreadable); name the source with --source"
        ) from None


def source_of_journal(journal: Path, source: str | None) -> tuple[str, CounselChat]:
    """The source as named, or as noted beside the journal; a noted one must still hold what it held then."""
    if source is not None:
        return source, load_source(source)
    origin = read_origin(journal)
    beside = journal.parent / origin.source
    found = str(beside) if not Path(origin.source).exists() and beside.exists() else origin.source
    try:
        chat = load_source(found)
    except SourceError as error:
        raise SourceError(f"{journal.name} was made from {origin.source}: {error}; or name it with --source") from error
    if chat.digest != origin.sha256:
        raise SourceError(
            f"{found}: changed since {journal.name} was made; judge it again (only what is new is "
            "sent), or name it with --source to use the verdicts whose texts are still there"
        )
    return found, chat


def not_used(chat: CounselChat, statuses: Mapping[VerdictKey, str]) -> int:
    """Scored verdicts of a journal on placeholder texts: given before those were known, kept, and not used."""
    found = placeholders_of(chat)
    return sum(status == "scored" and key.answer_sha256 in found for key, status in statuses.items())


def placeholders_of(chat: CounselChat) -> frozenset[str]:
    """Digests of the source's placeholder texts."""
    texts = {answer.text for question in chat.questions for answer in question.answers}
    return frozenset(text_sha256(text) for text in texts if no_answer(text) == "placeholder")


def placeholders_beside(journals: Iterable[Path]) -> frozenset[str]:
    """Digests of the placeholder texts in the journals' sources, as far as those are still on this machine."""
    found: frozenset[str] = frozenset()
    for journal in journals:
        try:
            noted = Path(read_origin(journal).source)
            path = next(place for place in (noted, journal.parent / noted) if place.exists())
            found |= placeholders_of(read_counsel_chat(path))
        except (KokoroError, StopIteration):
            # the usual spellings are known without the source
            continue
    return found


def say_not_used(count: int) -> str:
    """A line for every report; empty if there is nothing to say."""
    if count == 1:
        return "1 verdict of a placeholder text in this journal is not used"
    return f"{count} verdicts of placeholder texts in this journal are not used" if count else ""


def one_judge(verdicts: Iterable[Verdict], judge_model: str | None, where: str) -> list[Verdict]:
    """The verdicts of one judge with one rubric; retests (repeat > 0) are left out.

    Raises UsageError if that is not clear: rows of two judges are never mixed.
    """
    first = [verdict for verdict in verdicts if not verdict.repeat]
    chosen = verdicts_of(first, judge_model)
    tags = sorted({judge_tag(verdict) for verdict in chosen})
    if len(tags) == 1:
        return chosen
    known = ", ".join(sorted({judge_tag(verdict) for verdict in first}))
    if not tags:
        raise UsageError(f"{where}: no verdict of {judge_model!r}; it holds {known}")
    raise UsageError(f"{where}: verdicts of {len(tags)} judges ({known}); choose one with --judge-model")


def verdicts_of(verdicts: Iterable[Verdict], judge_model: str | None) -> list[Verdict]:
    """The verdicts of the judge named by its model or its tag (None: of all judges), without retests."""
    return [v for v in verdicts if not v.repeat and judge_model in (None, v.judge_model, judge_tag(v))]


def judge_tag(judge: Verdict | Judge | AsyncJudge) -> str:
    """Who judges by which instructions, in short."""
    return f"{judge.judge_model}@{judge.rubric_sha256[:12]}"


def scored_answers(sets: Iterable[CandidateSet]) -> list[ScoredAnswer]:
    """Every scored answer once; a question that the source lists under two ids counts once."""
    found: dict[tuple[AnswerKey, str], ScoredAnswer] = {}
    for source in sets:
        question = text_sha256(source.prompt)
        for candidate in source.candidates:
            if candidate.scores is not None:
                key = AnswerKey(question, text_sha256(candidate.text))
                scored = ScoredAnswer(key, candidate.therapist, source.topic, candidate.text, candidate.scores)
                found.setdefault((key, candidate.therapist), scored)
    return list(found.values())


def consensus_of(journals: Iterable[Path], first: Verdict) -> Callable[[Pair], bool]:
    """True for a pair whose chosen answer scores higher with every judge of these journals.

    An answer that one of them left unscored is no agreement. Raises UsageError if they hold no other judge.
    """
    mine = (first.judge_model, first.rubric_sha256)
    totals: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for journal in journals:
        for verdict in read_journal(journal):
            judge = (verdict.judge_model, verdict.rubric_sha256)
            if judge != mine and not verdict.repeat and verdict.total is not None:
                key = (verdict.question_sha256, verdict.answer_sha256)
                totals.setdefault(judge, {})[key] = verdict.total
    if not totals:
        raise UsageError("--consensus: these journals hold no scored verdict of another judge")

    def agreed(pair: Pair) -> bool:
        question = text_sha256(pair.source.prompt)
        chosen, rejected = (question, text_sha256(pair.chosen.text)), (question, text_sha256(pair.rejected.text))
        return all(
            chosen in judge and rejected in judge and judge[chosen] > judge[rejected] for judge in totals.values()
        )

    return agreed


class Joined(NamedTuple):
    """Questions with their verdicts."""

    sets: list[CandidateSet]
    without_text: int
    """Verdicts that found no text."""
    not_used: int
    """Scored verdicts of placeholder texts, which are no answers."""


def candidate_sets(questions: Iterable[Question], verdicts: Iterable[Verdict], judge_model: str) -> Joined:
    """Questions with their verdicts joined by digest."""
    by_digest: Mapping[tuple[str, str], Verdict] = {(v.question_sha256, v.answer_sha256): v for v in verdicts}
    used: set[tuple[str, str]] = set()
    not_answers: set[tuple[str, str]] = set()

    def candidate(question_sha256: str, therapist: str, text: str) -> Candidate:
        key = (question_sha256, text_sha256(text))
        verdict = by_digest.get(key)
        if verdict is not None:
            used.add(key)
            if no_answer(text) is not None:
                not_answers.update({key} if verdict.scores else ())
                verdict = None
        return Candidate(therapist, text, verdict.scores if verdict else None)

    sets = []
    for question in questions:
        digest = text_sha256(question.prompt)
        candidates = tuple(candidate(digest, a.therapist, a.text) for a in question.answers)
        sets.append(
            CandidateSet(question.question_id, question.topic, question.prompt, judge_model, candidates, question.key)
        )
    return Joined(sets, len(by_digest) - len(used), len(not_answers))
