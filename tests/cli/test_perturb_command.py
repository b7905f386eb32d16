"""mmdyn perturb: what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import mmdyn

from making import choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import WEAKNESS, SampleSet

MEASURED = (
    "no model judged the variants, and rules are a sieve: on 240 exam pairs that it was not made on, the embedded judge"
    " caught 80 % of the changed questions and kept 84 % of the unchanged ones; `mmdyn perturb --judge MODEL`, or"
    " nli:MODEL, asks a model"
)

UNJUDGED = "nobody judged the variants: `mmdyn perturb --judge` keeps those that still ask the same"
SEEN = "no model judged the variants, in which only pictures changed: `mmdyn perturb --judge MODEL` asks one that sees"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    data = picture()
    samples = [choice(images=(image_ref(data),)), multi(), true_false(), open_ended()]
    return write_set(tmp_path / "set", samples, "small", [data]).folder


def test_it_makes_a_set_and_sums_up_on_standard_error(source: Path, tmp_path: Path) -> None:
    done = mmdyn("perturb", source, "-o", tmp_path / "out", "--ops", "pad,shuffle,convert", "--draws", 2, "--seed", 1)
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("perturbing: 4/4 (")
    assert lines[1:] == [
        "pad: 2 made, 6 not applicable",
        "    median strength: 0.0 % of the tokens changed, SSIM of pictures 1.00, unseen frames 0.50 (weak)",
        "    6 the sample has no picture",
        "shuffle: 4 made, 4 not applicable",
        "    median strength: 30.9 % of the tokens changed",
        "    4 there are no options to shuffle",
        "convert: 6 made, 2 not applicable",
        "    became single_choice 2 (33%), true_false 2 (33%), fill_in_the_blank 1 (17%), open_ended 1 (17%)",
        "    100% of 2 claims are true",
        "    median strength: 57.1 % of the tokens changed",
        "    2 the answer is not short and definite",
        f"12 variants: {tmp_path / 'out'}",
        f"weak: {WEAKNESS}",
        UNJUDGED,
    ]
    assert len(SampleSet(tmp_path / "out")) == 12
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "dropped.jsonl", "images", "samples.jsonl", "set.json",
    ]  # fmt: skip


def test_again_it_says_that_it_is_done(source: Path, tmp_path: Path) -> None:
    command = ("perturb", source, "-o", tmp_path / "out", "--ops", "shuffle")
    mmdyn(*command)
    again = mmdyn(*command, "--workers", 2)
    assert again.returncode == 0
    assert again.stderr.splitlines() == [
        f"{tmp_path / 'out'} is finished: nothing to do",
        "shuffle: 2 made, 2 not applicable",
        "    median strength: 23.8 % of the tokens changed",
        "    2 there are no options to shuffle",
        f"2 variants: {tmp_path / 'out'}",
        UNJUDGED,
    ]
    other = mmdyn("perturb", source, "-o", tmp_path / "out", "--ops", "shuffle", "--seed", 5)
    assert other.returncode == 2
    said = "was made with other settings (seed 0, now 5): choose another folder, or remove this one"
    assert other.stderr == f"mmdyn: {tmp_path / 'out'} {said}\n"


@pytest.mark.parametrize("named", ["embedded", "a model"])
def test_what_is_known_of_rules_is_said_where_no_model_judged(source: Path, tmp_path: Path, named: str) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(json.dumps({"reply": json.dumps({"same": True, "confidence": 0.9, "reason": ""})}))
    judge = f"scripted:{script}" if named == "a model" else named
    done = mmdyn("perturb", source, "-o", tmp_path / "out", "--ops", "shuffle", "--judge", judge)
    assert done.returncode == 0 and (MEASURED in done.stderr.splitlines()) is (named != "a model")


@pytest.mark.parametrize(("ops", "judge", "said"), [
    ("pad,shuffle", (), UNJUDGED), ("pad,shuffle", ("--judge", "embedded"), MEASURED),
    ("pad,color", ("--judge", "embedded"), SEEN), ("image.null,text.null", (), ""),
    ("image.null,pad", (), UNJUDGED), ("image.null,text.null,pad", ("--judge", "embedded"), SEEN),
])  # fmt: skip
def test_what_was_measured_of_rules_is_said_of_words_alone(
    source: Path, tmp_path: Path, ops: str, judge: tuple[str, ...], said: str
) -> None:
    done = mmdyn("perturb", source, "-o", tmp_path / "out", "--ops", ops, *judge)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line in (MEASURED, UNJUDGED, SEEN)] == [said] * bool(said)


@pytest.mark.parametrize(("question", "share"), [
    ("Find the area.", "100%"), ("Tom buys two candies.", "0%"),
    ("下列说法正确的是什么？", "100%"), ("小明一共有几种不同的方法？", "0%"),
])  # fmt: skip
def test_it_says_which_share_of_the_replaced_words_is_scaffolding(tmp_path: Path, question: str, share: str) -> None:
    language = "en" if question.isascii() else "zh"
    source = write_set(tmp_path / "set", [open_ended(question=question, language=language)]).folder
    out = tmp_path / "elsewhere" / "out"
    ops = ("--ops", "substitute@strong,convert", "--seed", 3)
    done = mmdyn("perturb", source, "-o", out, *ops)
    command = f"mmdyn perturb {source} -o {out}-by-model --ops substitute@strong,convert --draws 1 --seed 3"
    assert done.stderr.endswith(
        f"substitute: {share} of the replaced words ask, point or join (find, shown, the following, if) and say nothing"
        " of the subject; to replace keywords, as MDK12-Bench does, ask a model:\n"
        f"    {command} --rewriter openai:MODEL --judge openai:JUDGE\n    or, on a GPU here, with hf:MODEL\n"
    )


def test_where_a_model_rewords_or_no_word_was_replaced_nothing_is_said_of_scaffolding(
    source: Path, tmp_path: Path
) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(json.dumps({"reply": json.dumps({"question": "For what reason does ice float on water?"})}))
    done = mmdyn("perturb", source, "-o", tmp_path / "out", "--ops", "substitute", "--rewriter", f"scripted:{script}")
    assert "substitute: " in done.stderr and "ask, point or join" not in done.stderr
    assert "ask, point or join" not in mmdyn("perturb", source, "-o", tmp_path / "b", "--ops", "convert").stderr


def test_quiet_says_nothing(source: Path, tmp_path: Path) -> None:
    options = ("--ops", "invert", "--quiet", "--name", "mine", "--limit", 1)
    for _ in range(2):
        done = mmdyn("perturb", source, "-o", tmp_path / "out", *options)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert SampleSet(tmp_path / "out").name == "mine"


def test_failures_are_listed_and_end_with_1(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice(images=("images/gone.png",))])
    done = mmdyn("perturb", source.folder, "-o", tmp_path / "out", "--ops", "pad,shuffle")
    assert done.returncode == 1
    assert "pad: 0 made, 1 failed\n    1 a picture cannot be decoded (images/gone.png: " in done.stderr
    assert "shuffle: 0 made, 1 failed\n    1 a picture cannot be carried over (images/gone.png: " in done.stderr
    again = mmdyn("perturb", source.folder, "-o", tmp_path / "out", "--ops", "pad,shuffle", "--quiet")
    assert again.returncode == 1


def test_a_file_is_imported_once(tmp_path: Path) -> None:
    line = {"task_type": "true_false", "answer": True}
    lines = [{**line, "id": str(n), "question": f"Is {n} even?"} for n in range(0, 10, 2)]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ("perturb", file, "-o", tmp_path / "out", "--ops", "convert")
    done = mmdyn(*command)
    assert done.returncode == 0, done.stderr
    out = SampleSet(tmp_path / "out")
    assert len(out) == 5 and out.name == "mine-dynamic" and out.root == "mine"
    again = mmdyn(*command)
    assert "is finished: nothing to do" in again.stderr
    file.write_text(json.dumps(lines[0]) + "\n")
    changed = mmdyn(*command)
    assert changed.returncode == 2 and "was made with other settings (source " in changed.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--ops", "padd"), "there is no operator 'padd' (did you mean 'pad'?); `mmdyn list operators` names them all"),
        (("--ops", "pad,"), "--ops has an empty name in '': write chains such as pad,color,pad+color"),
        (("--ops", "pad", "--draws", "0"), "Invalid value for '--draws': 0 is not in the range x>=1."),
        (("--ops", "pad", "--seed", "x"), "Invalid value for '--seed'"),
        ((), "Missing option '--ops'"),
        (
            ("--ops", "shuffle", "--judge", ""),
            "Invalid value for '--judge': it is empty: give a value, or leave the option out",
        ),
        (
            ("--ops", "shuffle", "--votes", "3"),
            "votes is 3, and nobody judges: give a judge too, or leave the votes out",
        ),
        (("--ops", "shuffle", "--rewriter", "embeded"), "there is no rewriter 'embeded' (did you mean 'embedded'?)"),
        (("--ops", "shuffle", "--style-backend", "flx"), "there is no style backend 'flx' (did you mean 'flux'?)"),
        (("--ops", "shuffle", "--judge", "embeded"), "there is no judge 'embeded' (did you mean 'embedded'?)"),
    ],
)
def test_bad_usage_makes_nothing(source: Path, tmp_path: Path, arguments: tuple[str, ...], problem: str) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text('{"id": "1", "question": "Is it?", "task_type": "true_false", "answer": true}')
    for given in (source, file):
        done = mmdyn("perturb", given, "-o", tmp_path / "out", *arguments)
        assert done.returncode == 2
        assert problem in done.stderr and "Traceback" not in done.stderr
        assert not (tmp_path / "out").exists()


def test_what_is_no_set(tmp_path: Path) -> None:
    done = mmdyn("perturb", tmp_path / "nothing", "-o", tmp_path / "out", "--ops", "pad")
    assert done.returncode == 2
    assert done.stderr == f"mmdyn: {tmp_path / 'nothing'}: no such file or folder: check the path\n"
    assert not (tmp_path / "out").exists()
