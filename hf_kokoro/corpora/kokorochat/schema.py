"""KokoroChat's facts and row contracts (Qi et al. 2025, arXiv 2506.01357).

The client-role player rates the counsellor on 20 items (0-5, summed to 0-100) and may check three
screening boxes. `SOURCE_FEATURES` are upstream's names and nesting, typo included; the other views are
ours. Scores are integers, times are seconds (local Japanese time, no zone upstream).
"""

from __future__ import annotations

from dataclasses import dataclass

from datasets import ClassLabel, Features, List, Value

from ...policy.licences import licence_of

VERSION = "1.0.0"
"""Version of the harmonised views; a change of any Features below bumps it."""

HUB_ID = "UEC-InabaLab/KokoroChat"
LICENSE_ID = licence_of(HUB_ID).id
ROLES = ("client", "counselor")
LANGUAGES = ("ja", "en", "zh")
SCORE_MAX = 100
ITEM_MAX = 5

TOPICS: dict[str, str] = {
    "Family Issues (Non-Spousal)": "家庭内問題（夫婦以外）",
    "Workplace Issues": "職場問題",
    "Mental Health Issues": "心理的問題",
    "School Issues": "学校問題",
    "Career and Educational Issues": "進路・キャリア問題",
    "Romantic Issues": "恋愛問題",
    "Family Issues (Spouse)": "家庭内問題（夫婦）",
    "Interpersonal Issues": "人間関係",
    "Financial Issues": "経済的問題",
    "Physical Health Issues": "身体的健康問題",
    "Others": "その他",
}
"""English topic (the ClassLabel names, most frequent first) to upstream's Japanese topic."""


@dataclass(frozen=True)
class ReviewKey:
    """One review field: our name, upstream's English key, upstream's Japanese key."""

    name: str
    source_en: str
    source_ja: str


def _key(name: str, source_ja: str, source_en: str | None = None) -> ReviewKey:
    return ReviewKey(name, source_en or name, source_ja)


HEADER = (
    _key("evaluation_id", "評価ID"),
    _key("evaluation_created_at", "評価作成日時"),
    _key("client_id", "クライアント役ID"),
    _key("counselor_id", "カウンセラー役ID"),
    _key("score", "点数"),
)
ITEMS = (
    _key("felt_heard_and_understood", "聴いてもらえた、わかってもらえたと感じた"),
    _key("felt_respected", "尊重されたと感じた"),
    _key("gained_new_insights", "新しい気づきや体験があった"),
    _key("felt_hopeful_or_expectant", "希望や期待を感じられた"),
    _key("concerns_were_addressed", "取り組みたかったことを扱えた"),
    _key("thought_through_concerns_together", "一緒に考えながら取り組めた"),
    _key("conversation_had_good_rhythm", "やりとりのリズムがあっていた"),
    _key("conversation_felt_comfortable", "居心地のよいやりとりだった"),
    _key("felt_appropriate_and_satisfying", "全体として適切でよかった"),
    _key("conversation_was_valuable", "今回の相談は価値があった"),
    _key("conversation_started_smoothly", "相談開始の円滑さ"),
    _key("conversation_ended_well", "相談終了のタイミング（不必要に聴きすぎていないか）、円滑さ"),
    _key("showed_acceptance_and_empathy", "受容・共感"),
    _key("provided_acknowledgment_and_affirmation", "肯定・承認"),
    _key("asked_effective_questions", "的確な質問による会話の促進"),
    _key("summarized_key_points_effectively", "要約"),
    _key("clarified_issues_clearly", "問題の明確化", source_en="clarified_issues_cleraly"),
    _key("helped_identify_goals", "この相談での目標の明確化"),
    _key("offered_actionable_suggestions", "次の行動につながる提案"),
    _key("encouraged_and_instilled_hope", "勇気づけ・希望の喚起"),
)
FLAGS = (
    _key("harmful_due_to_ignorance", "無理解と軽率さによる傷つけ発言"),
    _key("other_potentially_unethical", "その他の倫理違反が疑われる発言"),
    _key("unwilling_to_continue", "離脱"),
)
REVIEW = (*HEADER, *ITEMS, *FLAGS)
ITEM_NAMES = tuple(item.name for item in ITEMS)
FLAG_NAMES = tuple(flag.name for flag in FLAGS)


def published_score(item_sum: int, harmful: bool, unethical: bool, unwilling: bool) -> int:
    """Upstream's screening rule: either of the first two flags sets 0; the third halves, rounded down."""
    if harmful or unethical:
        return 0
    return item_sum // 2 if unwilling else item_sum


def _review_features(attribute: str) -> dict[str, Value]:
    features: dict[str, Value] = {}
    for key in REVIEW:
        text = key in FLAGS or key.name == "evaluation_created_at"
        features[getattr(key, attribute)] = Value("string") if text else Value("int32")
    return features


_TOPIC_SOURCE = {"main_jp": Value("string"), "main_en": Value("string"), "sub": Value("string")}

SOURCE_FEATURES = Features(
    {
        "dialogue": List({"role": Value("string"), "time": Value("string"), "utterance": Value("string")}),
        "topic": _TOPIC_SOURCE,
        "review_by_client_jp": _review_features("source_ja"),
        "review_by_client_en": _review_features("source_en"),
    }
)
SOURCE_TRANSLATED_FEATURES = Features(
    {
        "dialogue": List(
            {
                "role": Value("string"),
                "time": Value("string"),
                "origin": Value("string"),
                "content": Value("string"),
            }
        ),
        "topic": _TOPIC_SOURCE,
        "review_by_client": _review_features("source_en"),
    }
)

_IDENTITY = {
    "dialogue_id": Value("int32"),
    "client_id": Value("int32"),
    "counselor_id": Value("int32"),
    "score": Value("int32"),
}
_ROLE = ClassLabel(names=list(ROLES))
_TOPIC = ClassLabel(names=list(TOPICS))
_MESSAGES = List({"role": Value("string"), "content": Value("string")})


def _dialogues(utterance: dict[str, object]) -> Features:
    return Features(
        {
            **_IDENTITY,
            "item_sum": Value("int32"),
            "created_at": Value("timestamp[s]"),
            "topic": _TOPIC,
            "topic_sub": Value("string"),
            "items": {name: Value("int8") for name in ITEM_NAMES},
            "screening": {name: Value("bool") for name in FLAG_NAMES},
            "utterances": List(utterance),
        }
    )


DIALOGUES_FEATURES = _dialogues({"role": _ROLE, "time": Value("timestamp[s]"), "text": Value("string")})
DIALOGUES_TRANSLATED_FEATURES = _dialogues(
    {
        "role": _ROLE,
        "time": Value("timestamp[s]"),
        "text": Value("string"),
        "origin": Value("string"),
        "untranslated": Value("bool"),
    }
)
TURNS_FEATURES = Features(
    {
        "dialogue_id": Value("int32"),
        "turn": Value("int32"),
        "role": _ROLE,
        "time": Value("timestamp[s]"),
        "utterances": Value("int32"),
        "text": Value("string"),
    }
)


def response_generation_features(conversational: bool) -> Features:
    """`messages` (client = user, counselor = assistant, runs merged), or `text` with speaker names."""
    text = {"messages": _MESSAGES} if conversational else {"text": Value("string")}
    return Features({**text, **_IDENTITY, "topic": _TOPIC})


def next_turn_features(conversational: bool) -> Features:
    """`prompt` is the whole history up to a client turn, `completion` the counsellor's next turn."""
    return Features({**_prompt_completion(conversational), "dialogue_id": Value("int32"), "turn": Value("int32")})


def score_prediction_features(conversational: bool) -> Features:
    """`prompt` holds the whole dialogue, `completion` the 20 (item, score) pairs, also as int8 columns."""
    items = {name: Value("int8") for name in ITEM_NAMES}
    return Features({**_prompt_completion(conversational), **items, **_IDENTITY})


def unpaired_features(conversational: bool) -> Features:
    """`next_turn` rows with `label`: is the dialogue one to learn from (True) or away from (False)."""
    return Features(
        {
            **_prompt_completion(conversational),
            "label": Value("bool"),
            **_IDENTITY,
            "turn": Value("int32"),
            "label_score": Value("float32"),
        }
    )


def _prompt_completion(conversational: bool) -> dict[str, object]:
    text = _MESSAGES if conversational else Value("string")
    return {"prompt": text, "completion": text}
