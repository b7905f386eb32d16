"""How much the text operators change by their severity, what that does to the chances, and that a trail needs no
severity."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest
from making_items import apply, draw, item

from making import choice, open_ended
from mmdyn.sample import Language, Sample
from perturb import Operator
from perturb.rewrite._frames import splice
from perturb.rewrite._lexicon import lexicon, swaps
from perturb.text.paraphrase import Paraphrase
from perturb.text.shuffle import Shuffle
from perturb.text.substitute import Substitute

WORDS: dict[Language, str] = {
    "en": "Because Tom buys 3 candies and tosses a coin, calculate how many candies there are in total.",
    "zh": "，如果还剩下3个，一共有几个？这些数的最小值是（ ），下列说法正确的是（ ）",
}
SENTENCES: dict[Language, tuple[str, ...]] = {
    "en": ("What is the area of $A$?", "What is the area of $B$?", "Find the value of $x$.", "It is 3 cm."),
    "zh": ("三角形$A$的面积是多少？", "三角形$B$的面积是多少？", "求$C$的方程．", "正确．"),
}


@pytest.mark.parametrize("language", WORDS)
def test_mild_replaces_a_quarter_of_the_words_and_strong_all(language: Language) -> None:
    sample = open_ended(question=WORDS[language], language=language)
    hits = {hit.rule: sample.question[hit.start : hit.end] for hit in lexicon(language).hits(sample.question)}
    assert len(hits) >= 5

    def gone(severity: str, number: int) -> list[int]:
        made = draw(Substitute(severity=severity), sample, number)["question"]
        return [rule for rule, word in hits.items() if made.count(word) < sample.question.count(word)]

    mild = Counter(rule for number in range(400) for rule in gone("mild", number))
    quarter = (len(hits) + 2) // 4
    assert mild.total() == 400 * quarter, "exactly as many in each draw"
    assert set(mild) == set(hits) and min(mild.values()) > 0.7 * max(mild.values()), "each word is as likely"
    assert all(gone("strong", number) == list(hits) for number in range(50))
    share = sum(len(gone("", number)) for number in range(400)) / 400 / len(hits)
    assert 0.55 < share < 0.65


@pytest.mark.parametrize(
    ("language", "asking"),
    [("en", {"Because", "calculate", "in total"}), ("zh", {"如果", "是", "下列", "说法", "正确的是"})],
)
def test_what_was_replaced_is_found_again_and_what_of_it_asks_points_or_joins(
    language: Language, asking: set[str]
) -> None:
    sample = open_ended(question=WORDS[language], language=language)
    scaffolding, others = set[str](), set[str]()
    for number in range(40):
        after = apply(Substitute(), item(sample=sample), draw(Substitute(), sample, number)).sample
        found = [*swaps(sample, after)]
        assert splice(sample.question, [(hit.start, hit.end, now) for _, now, hit in found]) == after.question
        for word, _, hit in found:
            (scaffolding if hit.scaffolding else others).add(word)
    assert scaffolding == asking and others and not others & asking
    assert not [*swaps(sample, sample)]


def test_mild_replaces_one_word_where_there_are_few_and_strong_draws_among_synonyms() -> None:
    sample = open_ended(question="How many candies are there in total? Find the sum.")
    made = {draw(Substitute(severity="mild"), sample, number)["question"] for number in range(60)}
    kept = {text: [word in text for word in ("candies", "in total", "Find")] for text in made}
    assert {sum(words) for words in kept.values()} == {2} and len(made) == 4, "one of three words, one has two synonyms"
    made = {draw(Substitute(severity="strong"), sample, number)["question"] for number in range(60)}
    assert made == {
        f"How many sweets are there altogether? {verb} the sum." for verb in ("Determine", "Work out")
    }  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_mild_rephrases_one_sentence_and_strong_all_in_which_a_frame_fits(language: Language) -> None:
    sample = open_ended(question="\n".join(SENTENCES[language]), language=language)

    def left(severity: str, number: int) -> tuple[bool, ...]:
        made = draw(Paraphrase(severity=severity), sample, number)["question"]
        return tuple(sentence in made.splitlines() for sentence in SENTENCES[language])

    mild = Counter(left("mild", number) for number in range(300))
    assert set(mild) == {(False, True, True, True), (True, False, True, True), (True, True, False, True)}
    assert min(mild.values()) > 70, "each sentence is as likely"
    assert {left("strong", number) for number in range(50)} == {(False, False, False, True)}
    changed = sum(left("", number).count(False) for number in range(300)) / 300
    assert 2.2 < changed < 2.5, "one surely, two with a chance of 2/3"


def orders(severity: str, sample: Sample, draws: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(draw(Shuffle(severity=severity), sample, number)["order"]) for number in range(draws))


def moved(order: tuple[int, ...]) -> int:
    return sum(new != old for new, old in enumerate(order))


def test_mild_swaps_two_options_and_strong_leaves_none_at_its_place() -> None:
    """Every pair and every derangement is as likely; of four options there are 6 and 9."""
    for severity, those, draws in (("mild", {2}, 1200), ("strong", {4}, 1800)):
        found = orders(severity, choice(), draws)
        assert set(found) == {order for order in permutations(range(4)) if moved(order) in those}
        assert min(found.values()) > 150 and max(found.values()) < 255, "200 each, give or take four deviations"


@pytest.mark.parametrize("severity", ["", "mild", "strong"])
def test_two_that_may_move_trade_places_whatever_the_severity(severity: str) -> None:
    sample = choice(texts=("one", "two", "All of the above", "None of the above"), answer="A")
    assert orders(severity, sample, 20) == {(1, 0, 2, 3): 20}


CASES: list[tuple[type[Operator], Sample]] = [
    (Substitute, open_ended(question=WORDS["en"])),
    (Paraphrase, open_ended(question="\n".join(SENTENCES["en"]))),
    (Shuffle, choice()),
]


@pytest.mark.parametrize(("operator", "sample"), CASES, ids=[operator.__name__ for operator, _ in CASES])
def test_a_trail_replays_without_its_severity(operator: type[Operator], sample: Sample) -> None:
    for severity in ("mild", "strong"):
        for number in range(10):
            params: dict[str, Any] = draw(operator(severity=severity), sample, number)
            made = apply(operator(severity=severity), item(sample=sample), params).sample
            assert made != sample and apply(operator(), item(sample=sample), params).sample == made
