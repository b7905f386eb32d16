"""Commands that a report advises run as they are printed."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from making_runs import SETS, STANDARD, answers, write_run
from msgspec.structs import replace
from running import evaluated, typed
from serving import serve

from making import choice, image_ref, picture, write_set
from mmdyn.data import ChainStrength, load
from mmdyn.record import Condition
from mmdyn.tables.why_page import CAPTIONER, NextRuns
from mmdyn.testing import write_script
from mmdyn.work import ModelEntry, RunFolder
from perturb import perturb

STRONG = ChainStrength(40, 0.0, 0.4)
BASELINE = ModelEntry("baseline:lexical", {"backend": "baseline", "model": "lexical", "version": 1})


def advised(*runs: RunFolder) -> dict[str, list[str]]:
    """All commands, by what they are for."""
    further = NextRuns(runs)
    chains = (name for run in runs for one in run.config.sets for name in one.strength)
    whats = {"noise": further.noise(), "factorial": further.factorial(chains), "doses": further.doses()}
    return whats | {"ladder": further.ladder(), "larger": further.larger(9)}


def made_of(folder: Path, *chains: str, models: tuple[ModelEntry, ...] = (BASELINE,), **config: Any) -> RunFolder:
    """A run whose sets lie in it, with variants of these chains."""
    sets = (SETS[0], replace(SETS[1], strength=dict.fromkeys(chains, STRONG)))
    for entry, points in zip(sets, (True, False), strict=True):
        write_set(folder / entry.folder, [choice()], entry.name)
        if points:
            (folder / entry.folder / "knowledge.jsonl").write_text(
                '{"point": "Polygons", "text": "They have sides."}\n'
            )
    return write_run(folder, answers("10"), sets=sets, models=models, **config)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    """A run over a set with pictures and knowledge, by a model of a server with options of its own."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    captions = {"match": "captions", "reply": json.dumps({"captions": ["A box with a label."]})}
    drawn = [picture(text=str(number)) for number in range(4)]
    samples = [choice(f"s{number}", images=(image_ref(data),)) for number, data in enumerate(drawn)]
    exam = write_set(tmp_path / "my exam", samples, "exam", images=drawn)
    (exam.folder / "knowledge.jsonl").write_text('{"point": "Polygons", "text": "They have corners."}\n')
    dynamic = perturb(exam, tmp_path / "varied", ops="color,pad@strong+shuffle,image.pad@mild", quiet=True)
    with serve(reply=write_script(tmp_path / "replies.jsonl", captions, "Answer: B")) as server:
        model = f"openai:m,base_url={server.url},max_tokens=99,label=mine"
        yield evaluated([exam, dynamic], [model, "baseline:lexical"], tmp_path / "run", n=3)


def test_all_of_them_run(asked: RunFolder) -> None:
    commands = {name: [shlex.split(line) for line in lines] for name, lines in advised(asked).items()}
    assert {name: [" ".join(words[1:3]) for words in lines] for name, lines in commands.items()} == {
        "noise": [f"perturb {asked.set_folder(asked.config.sets[0])}", f"eval {asked.folder.parent / 'my exam'}"],
        "factorial": [f"perturb {asked.set_folder(asked.config.sets[0])}", f"eval {asked.folder.parent / 'my exam'}"],
        "doses": [f"perturb {asked.set_folder(asked.config.sets[0])}", f"eval {asked.folder.parent / 'my exam'}"],
        "ladder": ["build caption", f"eval {asked.folder.parent / 'my exam-captioned'}"],
        "larger": [f"plan {asked.folder.parent / 'my exam'}"],
    }
    for words in (words for lines in commands.values() for words in lines):
        shown = typed(*words[1:], *{"eval": ["--dry-run"], "plan": []}.get(words[1], ["-q"]))
        assert shown.exit_code == 0, (words, shown.output, shown.exception)
    captioned = load(asked.folder.parent / "my exam-captioned")
    assert [sample.meta["caption"] for sample in captioned] == [["A box with a label."]] * 4


def test_a_model_is_named_with_its_options_and_a_run_with_its_own(asked: RunFolder) -> None:
    _, command = advised(asked)["noise"]
    base_url = asked.config.models[0].identity["endpoint"]
    mine = f"openai:m,base_url={base_url},max_tokens=99,label=mine"
    assert shlex.split(command)[4:] == (
        ["-m", mine, "-m", "baseline:lexical", "-o", f"{asked.folder}-null", "--limit", "3"]
    )
    assert f" -m {shlex.quote(mine)}" in advised(asked)["ladder"][0]
    assert [*NextRuns([asked]).remarks()] == [
        "run.json keeps no keys, limits and prices: add api_key_env=, timeout=, --prices where you gave them."
    ]


@pytest.mark.parametrize(
    ("chains", "ops"),
    [
        (("image.pad", "pad@strong", "shuffle"), "image.pad,shuffle"),
        (("color", "image.invert", "pad+shuffle"), "color,pad,shuffle"),
        (("blur+invert", "color@mild"), "blur,invert,image.salt_pepper"),
        (("gone.away", "image.pad@strong+pad@mild", "text.convert:claim"), "image.pad@strong,text.convert:claim"),
        (("pad@1", "pad@3"), ""),
    ],
)
def test_each_operator_is_named_once_as_the_set_was_made_with_it(
    chains: tuple[str, ...], ops: str, tmp_path: Path
) -> None:
    commands = advised(made_of(tmp_path / "run", *chains))["factorial"]
    assert [shlex.split(line)[6] for line in commands[:1]] == [ops] * bool(ops)
    for line in commands[:1]:
        assert typed(*shlex.split(line)[1:], "-q").exit_code == 0


def test_many_operators_are_put_in_some_orders(tmp_path: Path) -> None:
    chains = ["blur", "invert", "jpeg", "pad", "paraphrase", "rotate", "salt_pepper", "scale", "shuffle", "style"]
    line = advised(made_of(tmp_path / "run", *chains, "substitute"))["factorial"][0]
    assert line.endswith(f"--ops {','.join(chains)} --factorial --design permutations:4")
    assert typed(*shlex.split(line)[1:], "-q").exit_code == 0


def test_doses_are_of_the_first_operator_that_has_any(tmp_path: Path) -> None:
    line = advised(made_of(tmp_path / "run", "invert", "color@mild"))["doses"][0]
    levels = ",".join(f"image.salt_pepper@{level}" for level in range(1, 6))
    assert line.endswith(f"--ops {levels}")
    assert advised(made_of(tmp_path / "other", "shuffle"))["doses"] == []


def test_a_set_that_is_gone_is_named_in_no_command(tmp_path: Path) -> None:
    run = made_of(tmp_path / "run", "pad", "shuffle")
    shutil.rmtree(run.folder / "sets" / "exam")
    assert not any(advised(run).values())
    assert [*NextRuns([run]).remarks()] == [f"The set {run.folder}/sets/exam is gone: the commands leave it out."]


def test_contexts_are_those_that_the_set_can_be_asked_in(tmp_path: Path) -> None:
    run = made_of(tmp_path / "run", "pad")
    (line,) = advised(run)["ladder"]
    assert line.endswith("--mode standard --context none,kprag")
    (run.folder / "sets/exam/knowledge.jsonl").unlink()
    assert advised(run)["ladder"] == []
    shutil.rmtree(run.folder / "sets/exam")
    write_set(run.folder / "sets/exam", [choice(images=(image_ref(picture()),))], "exam", images=[picture()])
    lines = advised(run)["ladder"]
    assert lines[0].endswith(f" -m {CAPTIONER}") and lines[1].endswith("--context no-picture,caption,none")


def test_a_run_is_asked_again_as_it_was(tmp_path: Path) -> None:
    conditions = (Condition(style="cot", shots="5"), Condition("dynamic", style="cot"))
    run = made_of(tmp_path / "run", "pad", conditions=conditions, scorer="mmmu@2")
    _, line = advised(run)["noise"]
    assert line.endswith("-null --style cot --shots 5,0 --policy mmmu")


def test_what_run_json_does_not_keep_is_said(tmp_path: Path) -> None:
    script = ModelEntry("scripted:replies.jsonl", {"backend": "scripted", "script": "12"})
    other = ModelEntry("fast:m", {"backend": "fast"})
    run = made_of(tmp_path / "run", "pad", models=(script, other), prompt="{question}")
    remarks = [*NextRuns([run]).remarks()]
    assert remarks[0].startswith("run.json does not keep all of scripted:replies.jsonl, fast:m (a file, a folder")
    assert remarks[1] == "The prompt was a template of your own: add --prompt FILE."


def test_a_plan_rests_on_a_run_that_was_asked_both(tmp_path: Path) -> None:
    plain = made_of(tmp_path / "plain", "pad", conditions=(STANDARD,))
    assert advised(plain)["larger"] == []
    (line,) = advised(plain, made_of(tmp_path / "both", "pad"))["larger"]
    assert line.endswith(f"--detect 9.0 --pilot {tmp_path / 'both'}")


def test_a_set_of_two_runs_is_named_once(tmp_path: Path) -> None:
    runs = [made_of(tmp_path / name, "pad") for name in ("spring", "autumn")]
    _, line = advised(*runs)["noise"]
    sets = [str(tmp_path / "spring/sets" / name) for name in ("exam", "exam-null")]
    assert shlex.split(line)[2:5] == [*sets, "-m"]
    shutil.rmtree(tmp_path / "spring/sets/exam")
    assert [*NextRuns(runs).remarks()] == []
