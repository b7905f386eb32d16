"""Whether replies follow instructions, kind by kind: 1 strictly, 0.5 loosely, 0 not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mmdyn.text import followed, lost_term, read_instruction, spell_instruction
from mmdyn.text.instructions import KINDS

NO, LOOSELY, YES = 0.0, 0.5, 1.0

CASES: list[tuple[str, dict[str, Any], str, float]] = [
    ("keywords:existence", {"keywords": ["war", "peace"]}, "WARLIKE times, and Peace.", YES),
    ("keywords:existence", {"keywords": ["war", "peace"]}, "Only war.", NO),
    ("keywords:existence", {"keywords": ["bold move"]}, "A **bold** move.", LOOSELY),
    ("keywords:existence", {"keywords": ["c++"]}, "It is C++.", YES),
    ("keywords:existence", {"keywords": ["c++"]}, "It is c.", NO),
    ("keywords:frequency", {"keyword": "war", "frequency": 3, "relation": "at least"}, "War, warm, unaware.", YES),
    ("keywords:frequency", {"keyword": "war", "frequency": 3, "relation": "less than"}, "War, warm, unaware.", NO),
    ("keywords:frequency", {"keyword": "a", "frequency": 3, "relation": "less than"}, "a\nba\na", LOOSELY),
    ("keywords:forbidden_words", {"forbidden_words": ["war"]}, "Warm words, no post.", YES),
    ("keywords:forbidden_words", {"forbidden_words": ["war"]}, "The post-WAR years.", NO),
    ("keywords:forbidden_words", {"forbidden_words": ["sure"]}, "Sure!\nHere it is.", LOOSELY),
    ("keywords:letter_frequency", {"letter": "E", "let_frequency": 2, "let_relation": "at least"}, "Eve", YES),
    ("keywords:letter_frequency", {"letter": "e", "let_frequency": 2, "let_relation": "less than"}, "Eve", NO),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}, "#a #b", YES),
    ("keywords:letter_frequency", {"letter": "!", "let_frequency": 1, "let_relation": "less than"}, "Hi!\nno", LOOSELY),
    ("length_constraints:number_words", {"num_words": 4, "relation": "at least"}, "It's post-war.", YES),
    ("length_constraints:number_words", {"num_words": 4, "relation": "less than"}, "It's post-war.", NO),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, "Sure thing\ntwo words", LOOSELY),
    ("length_constraints:number_words", {"num_words": 2, "relation": "less than"}, "नमस्ते", YES),
    ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "at least"}, "Mr. Fox ran. Why? No.", YES),
    ("length_constraints:number_sentences", {"num_sentences": 4, "relation": "at least"}, "Mr. Fox ran. Why? No.", NO),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"}, "Sure.\nIt is.", LOOSELY),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One\n***\nTwo", YES),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***\nOne\n***\nTwo\n***", YES),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One\n***\n***\nTwo", NO),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 1}, "One\n\nTwo", YES),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 1}, "One***\nTwo", LOOSELY),
    *[
        ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": n, "nth_paragraph": nth, "first_word": "Elm"}, reply, degree)
        for n, nth, reply, degree in (
            (2, 2, "One.\n\n\"Elm,\" she said.", YES),
            (2, 2, "One.\n\nelm-tree", NO),
            (2, 2, "One.\n\n\n\nElm", NO),
            (2, 1, "ELM!\n\nTwo.", YES),
            (1, 2, "Elm", NO),
            (1, 1, "Sure:\n\nElm it is", LOOSELY),
        )
    ],
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] at [home address]", YES),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] at [home\naddress]", NO),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\np. s. me too", YES),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\nPS: me too", NO),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Bye. P.P.S me too", YES),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Bye. P.S. me too", NO),
    ("detectable_content:postscript", {"postscript_marker": "N.B."}, "Bye. nxbx", NO),
    ("detectable_format:number_bullet_lists", {"num_bullets": 3}, "* a\n  - b\n*c", YES),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n** b\n* c", YES),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "x\n* a\n---\n* b\ny", NO),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "- Sure\n* a", LOOSELY),
    ("detectable_format:constrained_response", {}, "I say: My answer is maybe. Really.", YES),
    ("detectable_format:constrained_response", {}, "my answer is yes.", NO),
    ("detectable_format:constrained_response", {}, "My answer is **no**.", LOOSELY),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* and **b**", YES),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* and ** ** and *b\nc*", NO),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2}, "Section 1\na\nSection2", YES),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2}, "SECTION 1\nSection X", NO),
    ("detectable_format:json_format", {}, "```json\n{\"a\": [1]}\n```", YES),
    ("detectable_format:json_format", {}, "Here:\n```json\n{\"a\": [1]}\n```", LOOSELY),
    ("detectable_format:json_format", {}, "{'a': 1}", NO),
    ("detectable_format:json_format", {}, "[" * 100_000, NO),
    ("detectable_format:title", {}, "<<Joy>>\nRoses", YES),
    ("detectable_format:title", {}, "<< >> <Joy>", NO),
    ("detectable_format:title", {}, "<<Joy\nRoses>>", NO),
    ("combination:two_responses", {}, "One\n******\nTwo", YES),
    ("combination:two_responses", {}, "******\nOne\n******\nTwo", YES),
    ("combination:two_responses", {}, "One\n******\nOne", NO),
    ("combination:two_responses", {}, "One ****** Two ****** Three", NO),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Sing a song."}, " sing a SONG. La la.", YES),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Sing a song."}, "Sure.\nSing a song. La la.", LOOSELY),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Sing a song."}, "Sing a  song. La la.", NO),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, "So it is. \"Any QUESTIONS?\"\n", YES),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, "Any questions?\nThanks!", LOOSELY),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, "Any questions? Thanks!", NO),
    ("startend:quotation", {}, " \"All of\nit.\" ", YES),
    ("startend:quotation", {}, "\"", NO),
    ("startend:quotation", {}, "“Curly.”", NO),
    ("startend:quotation", {}, "**\"Bold.\"**", LOOSELY),
    ("change_case:capital_word_frequency", {"capital_frequency": 5, "capital_relation": "at least"}, "I'M at the U.S. base (NASA), COVID-19.", YES),
    ("change_case:capital_word_frequency", {"capital_frequency": 5, "capital_relation": "less than"}, "I'M at the U.S. base (NASA), COVID-19.", NO),
    ("change_case:capital_word_frequency", {"capital_frequency": 3, "capital_relation": "at least"}, "AT&T—GO Now", YES),
    ("change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": "less than"}, "WOW\nIt is.", LOOSELY),
    ("change_case:english_capital", {}, "THE DOG SLEEPS IN THE GARDEN, AND THE CAT WATCHES IT.", YES),
    ("change_case:english_capital", {}, "THE DOG SLEEPS IN THE GARDEN, AND the CAT WATCHES IT.", NO),
    ("change_case:english_capital", {}, "DER HUND SCHLÄFT IM GARTEN, UND DIE KATZE SIEHT IHM DABEI ZU.", NO),
    ("change_case:english_capital", {}, "Sure:\nTHE DOG SLEEPS IN THE GARDEN, AND THE CAT WATCHES IT.", LOOSELY),
    ("change_case:english_lowercase", {}, "the dog sleeps in the garden, and the cat watches it.", YES),
    ("change_case:english_lowercase", {}, "The dog sleeps in the garden, and the cat watches it.", NO),
    ("change_case:english_lowercase", {}, "le chien dort dans le jardin, et le chat le regarde.", NO),
    ("language:response_language", {"language": "de"}, "Der Hund schläft im Garten, und die Katze sieht ihm dabei zu.", YES),
    ("language:response_language", {"language": "de"}, "The dog sleeps in the garden, and the cat watches it.", NO),
    ("language:response_language", {"language": "kn"}, "ನಮಸ್ಕಾರ, ನನ್ನ ಹೆಸರು ಅನಾ.", YES),
    ("language:response_language", {"language": "hi"}, "माझे नाव आना आहे आणि मी माझ्या कुटुंबासोबत पुण्यात राहते.", NO),
    ("language:response_language", {"language": "zh"}, "今天天气很好，我们去公园吧。", YES),
    ("language:response_language", {"language": "ko"}, "Sure, here is what I would say to a new friend whom I meet for the first time in Seoul:\n안녕하세요, 제 이름은 안나입니다.", LOOSELY),
    ("language:response_language", {"language": "fr"}, "1, 2, 3!", YES),
    ("punctuation:no_comma", {}, "中文，没有英文逗号", YES),
    ("punctuation:no_comma", {}, "a,b", NO),
    ("punctuation:no_comma", {}, "Sure, here:\nclean\nHope, it helps", LOOSELY),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "reply", "degree"), CASES)
def test_a_reply_follows_an_instruction_or_not(kind: str, given: dict[str, Any], reply: str, degree: float) -> None:
    if kind.startswith(("language", "change_case:english")):
        pytest.importorskip("py3langid", reason="the extra build is not installed")
    assert followed([spell_instruction(kind, given)], reply) == (degree,)


def test_every_kind_has_cases_on_both_sides() -> None:
    assert {kind for kind, _, _, degree in CASES if degree == YES} == set(KINDS)
    assert {kind for kind, _, _, degree in CASES if degree == NO} == set(KINDS)
    assert len(KINDS) == 25


@pytest.mark.parametrize("reply", ["", " \n\t", "\u3000"])
def test_an_empty_reply_follows_nothing(reply: str) -> None:
    every = [spell_instruction(kind, given) for kind, given, _, _ in CASES]
    assert set(followed(every, reply)) == {NO}


def test_each_instruction_is_judged_by_itself() -> None:
    assert followed(["punctuation:no_comma", "startend:quotation"], 'Sure, here:\n"x"') == (LOOSELY, LOOSELY)
    assert followed(["punctuation:no_comma", "startend:quotation"], '"a b"') == (YES, YES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no_comma", "the instruction 'no_comma' is unknown: docs/scoring.md has all"),
        ("punctuation:no_commas", "the instruction 'punctuation:no_commas' is unknown (did you mean 'punctuation:no_comma'?): docs/scoring.md has all"),
        ('punctuation:no_comma {"x": 1}', "punctuation:no_comma: unknown key 'x'"),
        ("keywords:existence [1]", "keywords:existence: the whole must be an object, a list given"),
        ('keywords:existence {"keywords": "war"}', "keywords:existence: keywords must be a list, a text given"),
        ('keywords:existence {"keywords": []}', "keywords:existence: Expected `array` of length >= 1 (at keywords)"),
        ('keywords:existence {"keywords": [" "]}', r"keywords:existence: Expected `str` matching regex '\\S' (at keywords[0])"),
        ('detectable_format:number_bullet_lists {"num_bullets": true}', "detectable_format:number_bullet_lists: num_bullets must be a whole number, true or false given"),
        ('detectable_format:number_bullet_lists {"num_bullets": 2.5}', "detectable_format:number_bullet_lists: num_bullets must be a whole number, a number given"),
        ('length_constraints:number_words {"num_words": 3, "relation": "at most"}', "length_constraints:number_words: relation 'at most' is unknown (did you mean 'at least'?): use one of less than, at least"),
        ('length_constraints:number_words {"num_words": 3}', "length_constraints:number_words: the key 'relation' is missing: add it"),
    ],
)  # fmt: skip
def test_an_instruction_that_cannot_be_read_is_told_in_a_sentence(text: str, told: str) -> None:
    with pytest.raises(ValueError) as error:
        read_instruction(text)
    assert str(error.value) == told


def test_what_is_null_is_not_given() -> None:
    given = {"num_words": None, "keywords": ["a b", "ü"], "language": None}
    spelled = spell_instruction("keywords:existence", given)
    assert spelled == 'keywords:existence {"keywords":["a b","ü"]}'
    assert read_instruction(spelled) == ("keywords:existence", {"keywords": ["a b", "ü"]})
    assert spell_instruction("punctuation:no_comma", given | {"keywords": None}) == "punctuation:no_comma"


@pytest.mark.parametrize(
    ("given", "before", "after", "lost"),
    [
        ({"keywords": ["war", "Sea"]}, 'Say "War" and sea.', 'Say "War" and ocean.', "Sea"),
        ({"keywords": ["war"]}, "Say war, not warfare.", "Say war, not battle.", ""),
        ({"keywords": ["war"]}, "Say it.", "Tell it.", ""),
    ],
)
def test_a_text_that_an_instruction_gives_is_looked_for_in_the_new_question(
    given: dict[str, Any], before: str, after: str, lost: str
) -> None:
    assert lost_term([f"keywords:existence {json.dumps(given)}"], before, after) == lost


def test_letters_and_languages_do_not_bind_the_words_of_a_question() -> None:
    rules = [
        'keywords:letter_frequency {"letter": "e", "let_frequency": 2, "let_relation": "less than"}',
        'language:response_language {"language": "it"}',
    ]
    assert lost_term(rules, "Is it here? Use e less than twice.", "Is this there? Use e less than twice.") == ""
    assert lost_term(rules, "Use the letter e less than twice.", "Use that letter less than twice.") == "e"
    assert lost_term(rules, "Use it less than twice.", "Use it fewer than two times.") == "less than"
