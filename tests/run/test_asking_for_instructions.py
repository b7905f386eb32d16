"""Questions with instructions: asked in their own words, scored by rules, told by four numbers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from running import evaluated, typed
from serving import scripted

from making import choice, instructions, write_set
from mmdyn import report
from mmdyn.errors import MissingExtra, UserError
from mmdyn.record import Condition, Reply
from mmdyn.run.render import Renderer
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer
from mmdyn.text import language
from perturb import perturb

NO_COMMA, QUOTED = "punctuation:no_comma", "startend:quotation"
WORDS = 'length_constraints:number_words {"num_words": 3, "relation": "at least"}'
REPLIES = {
    "both": ((NO_COMMA, WORDS), "Three plain words", (1.0, 1.0)),
    "loose": ((NO_COMMA,), "Sure, here:\nwords", (0.5,)),
    "half": ((NO_COMMA, WORDS, QUOTED), "<think>Well, well.</think>\n\nOne, two and three", (0.0, 1.0, 0.0)),
    "none": ((QUOTED, NO_COMMA), "", ()),
}
"""By its name a question's instructions, a reply, and how far that follows each."""


def asked_set(folder: Path) -> Path:
    samples = [instructions(id=name, question=f"Q-{name}?", answer=rules) for name, (rules, _, _) in REPLIES.items()]
    return write_set(folder / "set", samples).folder


def model(folder: Path) -> str:
    return scripted(folder, *({"match": f"Q-{name}?", "reply": reply} for name, (_, reply, _) in REPLIES.items()))


@pytest.mark.parametrize(("policy", "values"), [("mdk12", (1, 0, 1 / 3, 0)), ("strict", (1, 0, 0, 0))])
def test_a_policy_credits_what_is_followed_strictly(policy: str, values: tuple[float, ...]) -> None:
    for value, (rules, reply, parts) in zip(values, REPLIES.values(), strict=True):
        score = Scorer(policy).score(instructions(answer=rules), Reply(reply))
        assert (score.value, score.parts, score.needs_judge) == (value, parts, False)
    assert score.status == "unparsed" and score.rule == "empty"


def test_reasoning_that_never_ends_follows_nothing_and_waits_for_no_judge() -> None:
    score = Scorer().score(instructions(), Reply("<think>no commas so far"))
    assert (score.value, score.status, score.rule, score.needs_judge) == (0.0, "unparsed", "cut_off", False)


def test_a_long_reply_is_read_from_its_first_character() -> None:
    long = "a, " + "word " * 30_000
    assert Scorer().score(instructions(), Reply(long)).value == 0
    assert Scorer().score(instructions(), Reply(long.replace(",", ""))).value == 1


def test_the_four_numbers_stand_in_the_report_with_intervals(tmp_path: Path) -> None:
    run = evaluated(asked_set(tmp_path), model(tmp_path), tmp_path / "run")
    rows = {row.quantity: row for part in report(run).parts if part.kind == "scores" for row in part.rows}
    values = {name: round(row.value or 0, 6) for name, row in rows.items()}
    assert values == {
        "score": round((1 + 0 + 1 / 3 + 0) / 4, 6), "unread": 0.25,
        "prompt_strict": 0.25, "prompt_loose": 0.5, "instruction_strict": 0.375, "instruction_loose": 0.5,
    }  # fmt: skip
    assert all(rows[name].ci95 and rows[name].n == 4 for name in values if name != "unread")
    shown = typed("report", run.folder)
    assert shown.exit_code == 0 and " 25 [5, 70]  50 [15, 85]   38 [9, 78]  50 [15, 85] " in shown.output
    page = typed("report", run.folder, "-o", tmp_path / "page.html")
    assert page.exit_code == 0 and '<th class="num">Prompt strict</th>' in (tmp_path / "page.html").read_text("utf-8")
    table = typed("report", run.folder, "--pivot", "model", "--measure", "instruction_loose", "--json")
    found = [row for part in json.loads(table.stdout)["parts"] for row in part["rows"]]
    assert {row["value"] for row in found} == {0.5}


def test_other_questions_have_none_of_these_numbers(tmp_path: Path) -> None:
    run = evaluated(write_set(tmp_path / "set", [choice()]).folder, scripted(tmp_path, "B"), tmp_path / "run")
    assert "strict" not in typed("report", run.folder).output


@pytest.mark.parametrize("style", ["direct", "cot"])
def test_a_question_is_asked_in_its_own_words_alone(tmp_path: Path, style: str) -> None:
    opened = write_set(tmp_path / "set", [instructions(question="Name a city. No commas.")])
    (message,) = Renderer(opened.images).messages(next(iter(opened)), Condition(style=style))
    assert message.text == "Name a city. No commas."


def test_what_does_not_fit_is_refused_in_a_sentence(tmp_path: Path) -> None:
    given, asked = asked_set(tmp_path), model(tmp_path)
    told = {
        ("--shots", "1"): "holds no examples, only variants or instructions: give --examples SET",
        ("--policy", "rouge_l"): "metric.rouge_l compares texts",
        ("--judge", asked, "--judge-mode", "wrong"): "whether a reply follows instructions is a matter of rules",
    }
    for more, words in told.items():
        done = typed("eval", given, "-m", asked, "-o", tmp_path / "run", *more)
        assert isinstance(done.exception, UserError) and words in str(done.exception)
    done = typed("eval", given, "-m", asked, "-o", tmp_path / "run", "--judge", asked)
    assert done.exit_code == 0, "a judge of what rules leave open is asked about none of these"


def test_a_missing_identifier_of_languages_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    language._identifier.cache_clear()
    given = write_set(tmp_path / "set", [instructions(answer=("change_case:english_lowercase",))]).folder
    done = typed("eval", given, "-m", scripted(tmp_path, "x"), "-o", tmp_path / "run")
    assert isinstance(done.exception, MissingExtra)
    assert str(done.exception) == "py3langid is needed for this and is not installed: pip install 'mmdyn[build]'"
    assert not list(tmp_path.glob("run/records/*"))


KEYWORD = 'keywords:existence {"keywords": ["Distance"]}'


@pytest.mark.parametrize(
    ("rules", "text", "kept"),
    [
        ((KEYWORD,), "Work out how far the car went. Mention the distance twice.", True),
        ((KEYWORD,), "Work out how far the car went. Mention the way twice.", False),
        ((NO_COMMA,), "Work out how far the car went. Mention the way twice.", True),
    ],
)
def test_a_variant_keeps_the_words_that_instructions_name(
    tmp_path: Path, rules: tuple[str, ...], text: str, kept: bool
) -> None:
    sample: Sample = instructions(question="Find how far the car went. Mention the distance twice.", answer=rules)
    source = write_set(tmp_path / "set", [sample])
    rewriter = scripted(tmp_path, {"reply": json.dumps({"question": text})})
    made = perturb(source, tmp_path / "dynamic", ops="paraphrase", rewriter=rewriter, quiet=True)
    reasons = [(one.status, one.operator, one.reason) for one in made.dropped()]
    if kept:
        assert [one.question for one in made] == [text] and [one.answer for one in made] == [rules]
    else:
        assert reasons == [("not_applicable", "text.paraphrase", "it changes 'Distance', which an instruction names")]
