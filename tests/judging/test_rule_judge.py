"""The rule judge on answers written for the purpose: every dimension, level, and the ways to be fooled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hf_kokoro.errors import UsageError
from hf_kokoro.judging import RuleJudge
from hf_kokoro.judging.rule_cues import content_words, fold, folded_sentences

JUDGE = RuleJudge()
QUESTION = "My sister stopped calling after our argument about the wedding money. I feel so alone with it."


def scores(answer: str, question: str = QUESTION) -> dict[str, int]:
    found = JUDGE.score(question, answer).scores
    assert found is not None
    return dict(found)


EMPATHY = {
    1: "Silence among siblings is common. Most families go through phases like this and they pass.",
    2: "I am so sorry to hear about this. Families are complicated. Money often plays a role.",
    3: "It sounds like the wedding money was only the start. That must be painful. Families are complicated.",
    4: "I am sorry that you are going through this. It sounds like the silence hurts more than the quarrel did. "
    "You feel alone, and that makes sense given how close you two were. Siblings often fall out over money.",
    5: "It sounds like the silence hurts more than the quarrel did. Part of you may be waiting for her call, and "
    "part of you is too hurt to make it. You feel alone, and that is so painful. I'm sorry that you carry this. "
    "Underneath the anger about money, I wonder if you miss her.",
}
PARTNERSHIP = {
    1: "You need to call her. You should apologize first. Make sure you pay the money back. You must not wait.",
    2: "You should call her soon. Weddings are expensive. Money is often behind a quarrel. It will calm down.",
    3: "Weddings are expensive and money is often behind a quarrel between siblings.",
    4: "You know her best, so whether and when to call is your decision.",
    5: "What do you think she would say about it? You have already tried to talk once, and you know her best. "
    "Whether and when to call is your decision, and we can think about the first words together.",
}


@pytest.mark.parametrize("level", EMPATHY)
def test_empathy_follows_its_anchors(level: int) -> None:
    assert scores(EMPATHY[level])["empathy"] == level


@pytest.mark.parametrize("level", PARTNERSHIP)
def test_partnership_follows_its_anchors(level: int) -> None:
    assert scores(PARTNERSHIP[level])["partnership"] == level


def test_an_answer_gains_nothing_by_saying_the_same_again() -> None:
    for text in (*EMPATHY.values(), *PARTNERSHIP.values()):
        once, often = scores(text), scores(" ".join([text] * 6))
        assert often["partnership"] == once["partnership"]
        # a second reflection is a kind of its own, so repeating one may lift the first levels by one
        assert often["empathy"] - once["empathy"] <= (1 if once["empathy"] < 4 else 0)


def test_information_around_it_dilutes_empathy() -> None:
    filler = " ".join(f"Fact {n} about money in families is widely known." for n in range(40))
    assert scores(EMPATHY[5] + " " + filler)["empathy"] < 5


@pytest.mark.parametrize(
    "answer",
    [
        "It sounds like the wedding left a crack.",
        "It seems that you miss her.",
        "What I hear is that you wanted fairness.",
        "You're feeling torn about the first step.",
        "You have been carrying this alone.",
        "You mentioned that she stopped calling.",
        "On the one hand you want her back, on the other you want to be heard.",
        "Your sister stopped calling once the wedding money came between you.",
        "It\u00a0sounds\u00a0like you\u2019re exhausted.",
        "You\u2019re feeling torn.",
        "ＩＴ ＳＯＵＮＤＳ ＬＩＫＥ you are worn out.",
    ],
)
def test_a_reflection_is_found(answer: str) -> None:
    assert scores(answer)["reflection_present"] == 1


@pytest.mark.parametrize(
    "answer",
    [
        "Do you feel alone?",
        "If you feel alone, there are groups.",
        "When you are feeling stuck, a walk can help.",
        "It sounds like you need to see a lawyer.",
        "I'm sorry to hear that.",
        "People who feel alone tend to sleep badly.",
        "Write a letter so that you feel better.",
        "You should talk to your sister about the wedding money argument.",
        "How are you feeling about it?",
        "My own sister and I fell out over money too.",
    ],
)
def test_questions_conditions_sympathy_and_advice_are_no_reflections(answer: str) -> None:
    assert scores(answer)["reflection_present"] == 0


@pytest.mark.parametrize(
    "answer",
    [
        "You should call her.",
        "You really need to let it go.",
        "You must apologize.",
        "Call her tonight.",
        "First, write her a letter. Second, wait a week.",
        "1. Write it down. 2. Send it.",
        "Don't wait for her.",
        "I recommend a mediator.",
        "It is important to set boundaries.",
        "Make sure that she hears your side.",
        "If she does not answer, send a letter.",
        "You might try a letter. Another option is to visit. Have you considered a mediator?",
        "You should\u00a0call her.",
    ],
)
def test_pressing_advice_and_a_row_of_suggestions_break_no_persuade(answer: str) -> None:
    assert scores(answer)["no_persuade"] == 0


@pytest.mark.parametrize(
    "answer",
    [
        "It sounds like the silence is loud.",
        "You should not have to carry this alone.",
        "You don't have to decide today.",
        "You shouldn\u2019t have to beg for a call.",
        "It must have been hard, and you must be exhausted.",
        "Take care of yourself. Feel free to write again.",
        "You say everyone tells you that you should forgive her.",
        'Her voice in your head says "you should be ashamed".',
        "You might find that a letter is easier.",
        "If you'd like, I can share what others did. Write her a letter.",
        "Would you be open to an idea? You could write to her. It may help to keep it short. You might visit.",
        "Call it grief, or call it pride?",
        "What would it be like to call her?",
    ],
)
def test_permission_denial_courtesy_and_one_offer_do_not_break_no_persuade(answer: str) -> None:
    assert scores(answer)["no_persuade"] == 1


def test_who_asks_what_to_do_may_be_given_more_suggestions_but_no_pressure() -> None:
    suggestions = "You might try a letter. You could ask your mother to help. It may help to wait for her birthday."
    assert scores(suggestions)["no_persuade"] == 0
    assert scores(suggestions, QUESTION + " What should I do?")["no_persuade"] == 1
    assert scores("You must call her.", QUESTION + " What should I do?")["no_persuade"] == 0


@pytest.mark.parametrize(
    "answer",
    [
        "You are being selfish.",
        "You\u2019re just being dramatic.",
        "This is your own fault.",
        "You only have yourself to blame.",
        "Stop making excuses.",
        "Grow up and call her.",
        "What did you expect?",
        "You should have known better.",
        "That's ridiculous.",
        "Why do you put up with her?",
        "You fail to see her side.",
        "You\u00a0are\u00a0so immature.",
    ],
)
def test_blame_and_mockery_are_confrontation(answer: str) -> None:
    assert scores(answer)["no_confront"] == 0


@pytest.mark.parametrize(
    "answer",
    [
        "You should not have to hear that.",
        "You are not selfish.",
        "That doesn't mean you're selfish for asking.",
        "It is not your fault.",
        "Maybe you fear that you are being selfish.",
        "People may tell you that you are too dramatic.",
        'She said "you are so immature", and that stung.',
        "You grew up in a house where children grow up quickly.",
        "You deserve it to be fair.",
        "You're entitled to your anger.",
        "You can stop blaming yourself.",
        "Her behavior was selfish, and you paid for it.",
    ],
)
def test_denied_quoted_or_feared_blame_is_no_confrontation(answer: str) -> None:
    assert scores(answer)["no_confront"] == 1


def test_apostrophes_and_spaces_of_any_kind_make_no_difference() -> None:
    plain = "It sounds like you're exhausted. You don't have to call. I'm sorry that you're alone - it's so hard."
    fancy = plain.replace("'", "\u2019").replace(" ", "\u00a0").replace("-", "\u2014")
    assert scores(fancy) == scores(plain)


def test_sentences_end_where_an_export_lost_the_line_break() -> None:
    assert folded_sentences("Love heals.Call her. Is 3.5 enough?Yes: 1) Write 2) Wait") == [
        "love heals.",
        "call her.",
        "is 3.5 enough?",
        "yes",
        "1) write 2) wait",
    ]


def test_folding_is_a_copy_for_comparison() -> None:
    assert fold("Ｉｔ\u2019s\u00a0 OK\n") == "it's ok"
    assert content_words("the weddings and the wedding dress") == content_words("wedding dress")
    assert len(content_words("the weddings and the wedding dress")) == 2


def test_every_text_gets_five_scores_and_a_reason_without_its_words() -> None:
    for answer in ("x", "!!!", "日本語だけの答えです。", "word " * 5000, "a" * 100_000, '"' * 999):
        opinion = JUDGE.score("", answer)
        assert opinion.status == "scored"
    assert "sister" not in JUDGE.score(QUESTION, "Your sister stopped calling about wedding money.").reason


def test_the_strict_variant_is_another_judge_and_rates_lower() -> None:
    strict = RuleJudge("strict")
    assert strict.judge_model != JUDGE.judge_model
    assert strict.rubric_sha256 != JUDGE.rubric_sha256
    assert strict.score(QUESTION, "You might try a letter.").scores["no_persuade"] == 0  # type: ignore[index]
    with pytest.raises(UsageError, match="strict"):
        RuleJudge("lenient")


@pytest.mark.real_data
def test_on_the_real_answers_the_scores_spread_and_few_questions_tie(real_data_dir: Path) -> None:
    from hf_kokoro.corpora.counsel_chat import read_counsel_chat

    chat = read_counsel_chat(real_data_dir / "counsel-chat" / "20200325_counsel_chat.csv")
    questions = [question for question in chat.questions if len(question.answers) >= 3]
    totals = [[sum(scores(a.text, q.prompt).values()) for a in q.answers] for q in questions]
    spread = Counter(total for question in totals for total in question)
    assert len(spread) >= 9
    assert max(spread.values()) < 0.35 * sum(spread.values())
    assert sum(len(set(question)) == 1 for question in totals) <= 10
