"""Prompts that ask a model to rewrite or to judge: places are filled once, and eval runs know nothing of them."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from tracked import tracked

from mmdyn.keys import digest
from mmdyn.prompts import LANGUAGES, asking_digest, filled, template, templates_digest

REWRITE = {
    "substitute": {"mark", "question", "options", "extent"},
    "paraphrase": {"mark", "question", "options", "extent", "manner"},
    "distractors": {"mark", "question", "answer", "count"},
    "standalone": {"mark", "question", "options", "answer"},
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", REWRITE)
def test_what_is_put_in_is_not_looked_at_again(name: str, language: str) -> None:
    values = {place: f"<{place}>" for place in REWRITE[name]} | {"question": "Is {answer} {mark}? {x} \\frac{1}{2}"}
    text = filled("rewrite", name, language, **values)
    assert "Is {answer} {mark}? {x} \\frac{1}{2}" in text
    assert all(value in text for value in values.values())
    assert re.search(r"^\{\"cannot\": \".+\"\}$", text, re.MULTILINE), "the shape of a reply stays"


def test_places_and_values_belong_together() -> None:
    values = dict.fromkeys(REWRITE["substitute"], "x")
    with pytest.raises(KeyError, match="rewrite/en/substitute has no place for manner"):
        filled("rewrite", "substitute", "en", **values, manner="x")
    with pytest.raises(KeyError, match="options"):
        filled("rewrite", "substitute", "en", mark="x", question="x", extent="x")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_wanted_reply_is_shown_as_json(language: str) -> None:
    for name, places in REWRITE.items():
        text = filled("rewrite", name, language, **dict.fromkeys(places, "2"))
        shapes = [line for line in text.splitlines() if line.startswith('{"')]
        assert len(shapes) == 2
        for shape in shapes:
            if "distractors" not in shape:
                json.loads(shape)


def test_each_language_has_its_own_manners() -> None:
    manners = {language: filled("rewrite", "manners", language).splitlines() for language in LANGUAGES}
    assert all(len(lines) == 3 and all(lines) for lines in manners.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_asking_again_names_the_problem(language: str) -> None:
    assert "it holds no JSON object {x}" in filled("again", "again", language, problem="it holds no JSON object {x}")


def test_prompts_for_asking_are_no_templates_of_an_eval_run() -> None:
    styles = ("cot", "direct", "likelihood")
    forms = ("", "kprag_", "knowledge_", "expansion_", "hint_")
    names = [f"{form}{style}" for form in forms for style in styles if (form, style) != ("kprag_", "likelihood")]
    names += ["elaborate", "lead_in", "verdicts", "weighed_true_false"]
    kinds = ("single_choice", "multi_select", "fill_in_the_blank", "true_false", "open_ended")
    names += [f"answer_{kind}" for kind in kinds]
    texts = {f"{language}/{name}.txt": template(name, language).text + "\n" for language in LANGUAGES for name in names}
    assert templates_digest() == digest([texts, None])
    assert asking_digest("rewrite") != templates_digest() and len(asking_digest("rewrite")) == 32


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["kprag", "knowledge", "expansion", "hint"])
def test_what_lies_beside_a_question_is_introduced_alike_in_every_style(form: str, language: str) -> None:
    forms = {"direct": form, "cot": form, "likelihood": "knowledge" if form == "kprag" else form}
    texts = {style: template(f"{forms[style]}_{style}", language).text for style in forms}
    heading = {"en": "Question:", "zh": "题目："}[language]
    (before,) = {text.partition("{instruction}")[0].rpartition("\n\n")[0] for text in texts.values()}
    assert re.fullmatch(rf"[^\n]+[:：]\n\n{{knowledge}}\n\n{heading}\n\n{{question}}\n\n{{options}}", before)
    assert texts["likelihood"].endswith("{options}\n\n{instruction}")
    alone = {"en": "Reply with that line alone.", "zh": "只回复这一行。"}[language]
    assert [style for style, text in texts.items() if alone in text] == (["direct"] if form != "kprag" else [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_points_are_set_out_without_a_question(language: str) -> None:
    text = template("elaborate", language).text
    assert re.findall(r"\{\w+\}", text) == ["{knowledge}"]
    assert not re.search("question|题|answer:|答案", text, re.IGNORECASE)


@pytest.mark.parametrize("name", [file.name for file in tracked("mmdyn/prompts/rubrics/en/*")])
def test_rubrics_ask_for_the_same_in_both_languages(name: str) -> None:
    texts = [files("mmdyn.prompts").joinpath("rubrics", language, name).read_text("utf-8") for language in LANGUAGES]
    places = [re.findall(r"\{\w+\}", text) for text in texts]
    assert sorted(places[0]) == sorted(places[1]), "the same places, as often"
    keys = [re.findall(r'"(\w+)":', text) for text in texts]
    assert keys[0] == keys[1], "the same object is wanted"
    assert len(texts[0].splitlines()) == len(texts[1].splitlines())


def test_a_digest_of_some_prompts_is_not_that_of_all() -> None:
    assert (
        len({asking_digest("rubrics"), asking_digest("rubrics", "match"), asking_digest("rubrics", "checklist")}) == 3
    )
    assert asking_digest("rubrics", "match", "cut") == asking_digest("rubrics", "cut", "match")
