"""AnnoMI's facts and row contracts (Wu et al. 2022, 2023): motivational interviewing, coded by experts.

133 transcripts of public videos that show good or poor motivational interviewing. Every utterance carries the codes
of one expert, a few transcripts those of all ten. Upstream states no licence.
"""

from __future__ import annotations

from datasets import ClassLabel, Features, List, Value

VERSION = "1.0.0"
"""Version of the views; a change of any Features below bumps it."""

SOURCE = "uccollab/AnnoMI"
"""Upstream's repository on GitHub."""

EXPERTS = 10
"""Who coded. Most utterances carry the codes of one of them, those of a few transcripts of all."""
QUALITIES = ("low", "high")
SPEAKERS = ("client", "therapist")
ABSENT = "none"
"""The kind of a code that the annotator did not give."""
KINDS: dict[str, tuple[str, ...]] = {
    "reflection": (ABSENT, "simple", "complex"),
    "therapist_input": (ABSENT, "information", "advice", "options", "negotiation"),
    "question": (ABSENT, "open", "closed"),
}
"""Codes of a therapist's utterance, each with its kinds; upstream calls them NAME_exists and NAME_subtype."""
BEHAVIOURS = ("reflection", "question", "therapist_input", "other")
CLIENT_TALK = ("change", "neutral", "sustain")

_DIALOGUE = {
    "dialogue_id": Value("string"),
    "quality": ClassLabel(names=list(QUALITIES)),
    "topic": Value("string"),
}
_BEHAVIOUR, _TALK = ClassLabel(names=list(BEHAVIOURS)), ClassLabel(names=list(CLIENT_TALK))

UTTERANCES_FEATURES = Features(
    {
        **_DIALOGUE,
        "utterance": Value("int32"),
        "speaker": ClassLabel(names=list(SPEAKERS)),
        "seconds": Value("int32"),
        "text": Value("string"),
        "annotators": Value("int32"),
        **{name: Value("float64") for name in KINDS},
        "behaviour": _BEHAVIOUR,
        "client_talk": _TALK,
        "codes": List(
            {
                "annotator": Value("string"),
                **{name: ClassLabel(names=list(kinds)) for name, kinds in KINDS.items()},
                "behaviour": _BEHAVIOUR,
                "client_talk": _TALK,
            }
        ),
    }
)
"""`seconds` from the video's start, null where upstream's timestamp is none. `codes`: what each annotator gave; codes
of the other speaker are null. `reflection`, `therapist_input`, `question`: the share of annotators who gave any kind of
it, 0 to 1, null for clients. `behaviour`, `client_talk`: what more than half of them gave, null where there is no such.
"""

DIALOGUES_FEATURES = Features(
    {
        **_DIALOGUE,
        "video_title": Value("string"),
        "video_url": Value("string"),
        "utterances": Value("int32"),
        "turns": List({"speaker": ClassLabel(names=list(SPEAKERS)), "text": Value("string")}),
    }
)
"""`turns`: runs of one speaker's utterances, joined by a line break; `utterances` counts them before that."""
