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


# From 3 with evidence. 1: three sentences or more and none takes up her view (-1), three of four press (-1). 2: the
# first of these alone; sympathy has no points. 3: neither. 4: one reflection (+1). 5: what was left unsaid as well.
EMPATHY = {
    1: "Silence among siblings is common. Call her. Send her the money. Make sure that you apologize.",
    2: "I am so sorry to hear about this. Families are complicated. Money often plays a role.",
    3: "Weddings are expensive, and money is often behind a quarrel.",
    4: "It sounds like the wedding money was only the start. Families are complicated.",
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


@pytest.mark.parametrize(
    "sympathy", ["I'm so sorry to hear that.", "Thank you for reaching out.", "My heart goes out."]
)
def test_sympathy_and_welcome_are_not_empathy(sympathy: str) -> None:
    for level, text in EMPATHY.items():
        assert scores(f"{text} {sympathy}")["empathy"] == level


def test_blame_and_belittling_lower_empathy() -> None:
    assert scores("You are being selfish.")["empathy"] == 2
    assert scores("Just get over it. You're being selfish.")["empathy"] == 1


def test_an_answer_gains_nothing_by_saying_the_same_again() -> None:
    for text in (*EMPATHY.values(), *PARTNERSHIP.values()):
        once, often = scores(text), scores(" ".join([text] * 6))
        assert often["partnership"] == once["partnership"]
        # one neutral sentence is no evidence; many of them take up nothing of what she said
        assert often["empathy"] == (2 if text in (EMPATHY[3], PARTNERSHIP[3]) else once["empathy"])


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
        # by its form
        "You miss her?",
        "Okay. So you have not spoken since then.",
        "You would not call her again.",
        "Seems like it is you who waits.",
        "That must be so lonely.",
        "Um, you- you lost more than the money.",
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
        "So, how long ago was that?",
        "Okay. So we can look at that next week.",
        "So there are some groups for that.",
        "You're welcome.",
        "You are not alone with that.",
        "Once you know more, it gets easier.",
        "You can't change her.",
    ],
)
def test_questions_conditions_sympathy_and_advice_are_no_reflections(answer: str) -> None:
    assert scores(answer)["reflection_present"] == 0


def test_who_was_told_much_takes_up_some_of_it() -> None:
    long = (
        "Since spring my neighbour plays the drums until midnight, the landlord ignores every letter, my daughter has "
        "exams next month, my husband sleeps at the office, and yesterday the police told me that noise before eleven "
        "is none of their business, which made me cry in the kitchen."
    )
    assert scores("You keep going through it.", "Every night.")["reflection_present"] == 1
    assert scores("You stand at a turning point.", long)["reflection_present"] == 0
    assert scores("You watch your daughter before her exams and can do nothing.", long)["reflection_present"] == 1
    # the topic without the person is none
    assert scores("Noise and drums before exams are a matter for the landlord.", long)["reflection_present"] == 0


def test_after_a_short_turn_the_persons_own_words_are_a_reflection() -> None:
    assert scores("The bus, at six.", "I take the bus at six.")["reflection_present"] == 1
    assert scores("The bus, at six.", "Not very often.")["reflection_present"] == 0


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
        "You might try a letter.",
        "Another option is to visit.",
        "Have you considered a mediator?",
        "Why don't you write first?",
        "I think you could just send a card.",
        "I hope you'll consider a mediator.",
        "You should\u00a0call her.",
    ],
)
def test_unasked_advice_breaks_no_persuade_pressing_or_not(answer: str) -> None:
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
        "You could write to her. It may help to keep it short. What you do with that is up to you.",
        "Call her. Of course it's your decision.",
        "Call it grief, or call it pride?",
        "Tell me more about her.",
        "What would you have to give up?",
        "There are things you can try.",
        "It is important to you that she hears your side.",
        "Many siblings write a letter first; three in four get an answer.",
        "What would it be like to call her?",
    ],
)
def test_permission_denial_courtesy_and_information_do_not_break_no_persuade(answer: str) -> None:
    assert scores(answer)["no_persuade"] == 1


@pytest.mark.parametrize("asks", ["What should I do?", "Any advice?", "Should I call?", "What do you suggest I do?"])
def test_advice_that_was_asked_for_is_no_persuasion(asks: str) -> None:
    for advice in ("You must call her.", "You might try a letter. You could ask your mother to help."):
        assert scores(advice)["no_persuade"] == 0
        assert scores(advice, f"{QUESTION} {asks}")["no_persuade"] == 1


def test_permission_covers_the_run_of_advice_beside_it_and_no_other() -> None:
    apart = "If you'd like, here is an idea. Write to her. {} Weddings are expensive. You should also pay her back."
    assert scores(apart.format("It may take time."))["no_persuade"] == 0
    assert scores("If you'd like, here is an idea. Write to her. Call her. Visit her.")["no_persuade"] == 1


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
        "Your relationship is toxic and you need to leave. It is your choice.",
        "If you don't call now, you will lose her.",
        "A good sister would have paid.",
        "You are a doormat.",
        "It sounds like you are hurt. You're making excuses. I care about you and only want to help.",
    ],
)
def test_blame_mockery_labels_and_warnings_are_confrontation_however_the_answer_goes_on(answer: str) -> None:
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
        "Nobody should call you a doormat, and you are not a doormat.",
    ],
)
def test_denied_quoted_or_feared_blame_is_no_confrontation(answer: str) -> None:
    assert scores(answer)["no_confront"] == 1


def test_a_label_that_the_person_used_first_is_none_of_the_writers() -> None:
    assert scores("That is an abusive relationship.")["no_confront"] == 0
    assert scores("That is an abusive relationship.", "Is he abusive?")["no_confront"] == 1


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


def test_english_text_gets_five_scores_and_a_reason_without_its_words() -> None:
    for answer in ("x", "word " * 5000, "a" * 100_000, "No, thanks. 日本語", "Ça va, señor?"):
        assert JUDGE.score("", answer).status == "scored"
    assert "sister" not in JUDGE.score(QUESTION, "Your sister stopped calling about wedding money.").reason


@pytest.mark.parametrize("answer", ["日本語だけの答えです。", "Просто позвоните ей.", "電話 OK しましょう", "24/7"])
def test_what_is_not_in_latin_letters_is_not_judged_and_says_so(answer: str) -> None:
    opinion = JUDGE.score(QUESTION, answer)
    assert (opinion.status, opinion.scores) == ("invalid", None)
    assert "the rule judge reads English" in opinion.reason


@pytest.mark.parametrize(
    ("answer", "status"), [("!!!", "placeholder"), ('"' * 999, "placeholder"), (" \u3000", "blank")]
)
def test_punctuation_alone_is_no_answer(answer: str, status: str) -> None:
    assert JUDGE.score(QUESTION, answer).status == status


def test_transcripts_are_read_without_notes_fillers_and_words_begun_twice() -> None:
    assert folded_sentences("Um, you- you lost [laughs] a lot. Uh-huh, it-it hurts.") == [
        "you lost a lot.",
        "it hurts.",
    ]


def test_the_strict_variant_is_another_judge_and_rates_lower() -> None:
    strict = RuleJudge("strict")
    assert strict.judge_model != JUDGE.judge_model
    assert strict.rubric_sha256 != JUDGE.rubric_sha256
    for answer, question, dimension in (
        ("You might try a letter.", "What should I do?", "no_persuade"),
        ("You miss her?", QUESTION, "reflection_present"),
    ):
        assert scores(answer, question)[dimension] == 1
        assert strict.score(question, answer).scores[dimension] == 0  # type: ignore[index]
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
