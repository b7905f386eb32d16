"""Metrics: the values of their sources in English, Chinese by characters, and how samples are credited by them."""

from __future__ import annotations

import sys

import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.errors import MissingExtra, PluginError, UserError
from mmdyn.plugins import load, resolve
from mmdyn.record import Reply, Score
from mmdyn.sample import Match, Sample
from mmdyn.scoring import Scorer
from mmdyn.scoring.metrics._metric import credit_by_metric
from mmdyn.scoring.metrics._words import normal_words
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.text import plain_words

ICE = ("Ice floats, since it's less dense than water.", "Because ice is less dense than water.")
FOX = ("The quick brown fox jumps over the lazy dog", "The quick brown dog jumps on the log.")
冰 = ("冰的密度比水小，所以浮在水面上。", "因为冰的密度小于水。")


def compare(name: str, given: str, gold: str) -> float:
    return float(load("scorers", name)().compare(given, gold))


def score(sample: Sample, text: str, metric: str, **reply: object) -> Score:
    return Scorer(metric).score(sample, Reply(text=text, **reply))  # type: ignore[arg-type]


# ROUGE of the English pairs as rouge-score 0.1.2 gives them, without stemming; BLEU and chrF as sacrebleu 2.6.0 does for a
# sentence with effective order. F1, ANLS and the Chinese values of ROUGE are counted by hand.
@pytest.mark.parametrize(("name", "ice", "fox", "chinese"), [
    ("rouge_1", 0.625, 12 / 17, 12 / 23), ("rouge_2", 3 / 7, 4 / 15, 6 / 21), ("rouge_l", 0.625, 10 / 17, 12 / 23),
    ("bleu", 0.392815, 0.211053, 0.176093), ("chrf", 0.641191, 0.579767, 0.209847), ("f1", 2 / 3, 8 / 13, 12 / 23),
    ("anls", 33 / 45, 32 / 43, 0.0), ("exact_match", 0.0, 0.0, 0.0),
])  # fmt: skip
def test_values(name: str, ice: float, fox: float, chinese: float) -> None:
    values = [compare(name, *pair) for pair in (ICE, FOX, 冰)]
    assert values == pytest.approx([ice, fox, chinese], abs=5e-7)


@pytest.mark.parametrize(("text", "words"), [
    ("The U.S. is well-known.", ["us", "is", "wellknown"]), ("-5", ["-5"]), ("5-3", ["5-3"]), ("3.5 cm", ["3.5", "cm"]),
    (".5", [".5"]), ("1,000", ["1000"]), ("3,4,5", ["3", "4", "5"]), ("1/2", ["1/2"]), ("x<2, -x", ["x<2", "-x"]),
    ("５０％", ["50%"]), ("光合作用ATP，3个。", ["光", "合", "作", "用", "atp", "3", "个"]), ("A", ["a"]), ("The", ["the"]),
    ("?!", ["?!"]), ("\u200b", ["\u200b"]), (" \n", []),
])  # fmt: skip
def test_words_of_squad_but_signs_and_chinese_characters(text: str, words: list[str]) -> None:
    assert normal_words(text) == words


@pytest.mark.parametrize(("text", "words"), [
    ("Don't stop: 3.14, e_x!", ["don", "t", "stop", "3", "14", "e", "x"]), ("café Ω", ["café", "ω"]),
    ("水H₂O。", ["水", "h₂o"]), ("+ −", ["+", "−"]), ("", []),
])  # fmt: skip
def test_words_of_rouge(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


@pytest.mark.parametrize(
    ("given", "gold"),
    [("-5", "5"), ("1", "12345"), ("3.5", "35"), ("1/2", "12"), ("x<2", "x>2"), ("incorrect", "correct"), ("A", "the"), ("3,4", "34")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["exact_match", "f1"])
def test_another_number_or_word_is_no_match(name: str, given: str, gold: str) -> None:
    assert compare(name, given, gold) == compare(name, gold, given) == 0.0


@pytest.mark.parametrize(("name", "given", "gold", "value"), [
    ("anls", " Hello  World", "hello world", 1.0), ("anls", "abcd", "abce", 0.75), ("anls", "abcdefg", "abcdxyz", 4 / 7),
    ("anls", "abcd", "abef", 0.0), ("rouge_2", "Paris", "Paris", 1.0), ("rouge_2", "in Paris", "Paris", 2 / 3),
    ("rouge_2", "Paris", "in Paris", 0.0), ("f1", "no no no", "no", 0.5), ("f1", "water and ice", "ice and water", 1.0),
    ("rouge_l", "water and ice", "ice and water", 1 / 3),
])  # fmt: skip
def test_misspellings_up_to_one_half_single_words_for_pairs_and_words_as_often_as_they_stand(
    name: str, given: str, gold: str, value: float
) -> None:
    assert compare(name, given, gold) == pytest.approx(value)


def test_bleu_remembers_no_texts() -> None:
    bleu = load("scorers", "bleu")()
    for pair in (ICE, 冰):
        bleu.compare(*pair)
    assert [tokenize.cache_info().currsize for tokenize in bleu._remembering] == [0, 0, 0, 0]


def test_open_answers_are_compared_as_they_were_read() -> None:
    sample = open_ended()
    reply = "I looked it up: the answer is Paris. It is in France."
    assert score(open_ended(answer="Paris"), reply, "exact_match") == Score(
        "ok", 1.0, "Paris", "sentence", confidence=0.98, chance=0.0
    )
    assert score(sample, "no idea at all", "f1") == Score("unparsed", 0.0, None, "none", chance=0.0), "no lower bound"


@pytest.mark.parametrize(("reply", "compared", "rule"), [
    (ICE[0], ICE[0], "whole"), (f"Bonds matter.\n\nAnswer: {ICE[0]} It floats.", f"{ICE[0]} It floats.", "slot"),
    ("想一想。\n答案：冰的密度小于水。\n所以浮起来。", "冰的密度小于水。\n所以浮起来。", "slot"),
    (f"<think>Answer: bonds</think>{ICE[0]}", ICE[0], "whole"),
    ('{"answer": "Ice floats. It is light."}', "Ice floats. It is light.", "slot"),
    ("Answer: The boiling point is 100 degrees", "The boiling point is 100 degrees", "slot"),
    ("Answer: It floats because ice is light.\nSo do oils.", "It floats because ice is light.\nSo do oils.", "slot"),
    ("<answer>Ice floats. It is light.</answer> Done.", "Ice floats. It is light.", "slot"),
    ("Answer: **Ice floats. It is light.**", "**Ice floats. It is light.**", "slot"),
    ("The answer is ice. Well. The answer is water.", "The answer is ice. Well. The answer is water.", "whole"),
    (f"{ICE[0]}<|im_end|>Next", ICE[0], "whole"),
])  # fmt: skip
def test_whole_answers_to_open_questions_are_compared_where_the_metric_is_over_sentences(
    reply: str, compared: str, rule: str
) -> None:
    sample = open_ended(answer=compared)
    found = score(sample, reply, "rouge_l")
    assert found == Score("ok", 1.0, compared, rule, confidence=found.confidence, chance=0.0)
    assert score(sample, reply, "bleu").value == 1.0


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge_l", "f1", "anls", "exact_match"])
@pytest.mark.parametrize("answer", [ICE[1], 冰[1], ".5", '"Yes."'])
def test_the_accepted_text_itself_is_worth_one_whatever_readers_leave_out(metric: str, answer: str) -> None:
    assert score(open_ended(answer=answer), f"Answer: {answer}", metric).value == 1.0
    assert score(blank(answer=((answer,),)), f"Answer: {answer}", metric).value == 1.0


@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge_1", "rouge_2", "rouge_l", "f1", "anls", "exact_match"])
@pytest.mark.parametrize("answer", ["\x1c。", "\x85：'", "。", "the"])
def test_an_accepted_text_of_marks_and_blanks_alone_is_compared_as_it_stands(metric: str, answer: str) -> None:
    plugin = load("scorers", metric)()
    assert credit_by_metric(plugin, open_ended(answer=answer), answer) == (pytest.approx(1), ())
    assert credit_by_metric(plugin, open_ended(answer=answer), "5") == (0.0, ())


def test_statuses() -> None:
    sample = open_ended()
    assert score(sample, "", "f1") == Score("unparsed", 0.0, None, "empty", chance=0.0)
    assert score(sample, "I'm sorry, I can't help with that.", "f1") == Score(
        "refused", 0.0, None, "refused", chance=0.0
    )
    assert score(sample, "", "f1", error="timeout") == Score("failed", None, None, "failed", chance=0.0)
    assert score(open_ended(points=6), ICE[1], "f1").weight == 1.0


def test_blanks_are_worth_the_best_of_their_texts_and_the_mean_of_the_blanks() -> None:
    sample = blank(answer=(("New York", "New York City"), ("four",)))
    assert score(sample, "York; four", "f1").parts == (pytest.approx(2 / 3), 1.0)
    assert score(sample, "York; four", "f1").value == pytest.approx(5 / 6)
    assert score(sample, '["New York City", ""]', "f1").parts == (1.0, 0.0)
    assert score(sample, '["New York", "four", "five"]', "f1").parts == (0.0, 0.0)


def test_blanks_in_any_order_take_the_best_one() -> None:
    answer = (("New York",), ("New Jersey",))
    swapped = "New Jersey; York"
    assert score(blank(answer=answer), swapped, "f1").parts == (0.5, 0.0)
    assert score(blank(answer=answer, match=Match(ordered=False)), swapped, "f1").parts == (pytest.approx(2 / 3), 1.0)


@pytest.mark.parametrize("sample", [choice("q7"), multi("q7"), true_false("q7")])
def test_answers_that_are_no_texts_are_refused(sample: Sample) -> None:
    message = (
        f"metric.rouge_l compares texts, and q7 is a {sample.task_type}: score it by a policy, such as --policy strict"
    )
    for text in ("B", "", "I'm sorry, I can't help with that."):
        with pytest.raises(UserError) as error:
            score(sample, text, "rouge_l")
        assert str(error.value) == message
    with pytest.raises(UserError):
        Scorer("rouge_l").check(sample)
    Scorer("strict").check(sample)
    assert score(sample, "", "rouge_l", error="timeout").value is None


def test_names() -> None:
    assert Scorer("rouge-l").name == f"metric.rouge_l@{SCORING_VERSION}"
    assert resolve("scorers", "exact_match") == "metric.exact_match"
    with pytest.raises(PluginError, match="did you mean 'bleu'"):
        Scorer("blue")


@pytest.mark.parametrize(("name", "package"), [("bleu", "sacrebleu"), ("chrf", "sacrebleu")])
def test_a_library_that_is_missing(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as error:
        Scorer(name)
    assert str(error.value) == f"{package} is needed for this and is not installed: pip install 'mmdyn[metrics]'"
