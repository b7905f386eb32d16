"""Sets and models in, a run out: what is asked, recorded and scored, and how a run goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from run.tools import tools_for
from running import QUIET, estimated, evaluated

import mmdyn
from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import Busy, InputError, UserError
from mmdyn.models import open_model
from mmdyn.record import Record
from mmdyn.run import ConditionSpec, evaluate, read_config, run_config, score
from mmdyn.run.ask_all import ask_all
from mmdyn.run.plan import plan
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.testing import FakeServer
from mmdyn.work import ProgressBar, RunFolder, Store


def small_set(folder: Path, name: str = "small") -> SampleSet:
    data = picture()
    known = {"knowledge_points": ("Polygons",)}
    samples = [choice("a", images=(image_ref(data),), **known), multi("m", **known), blank("b"), true_false("t"), open_ended("o")]  # fmt: skip
    return write_set(folder, samples, name, images=[data])


def script(file: Path, *lines: dict[str, str]) -> str:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{file}"


def records(run: RunFolder) -> dict[tuple[str, str], Record]:
    return {(record.sample, record.condition.mode): record for record in run.records()}


def values(run: RunFolder) -> dict[str, float | None]:
    return {record.sample: record.score.value if record.score else None for record in run.records()}


GOLD = ({"match": "triangle", "reply": "Answer: B"}, {"match": "prime?", "reply": "Answer: A"}, {"match": "2 + 2", "reply": "Answer: 4"})  # fmt: skip
REST = ({"match": "Seven", "reply": "Answer: False"}, {"match": "", "reply": "I cannot answer that."})


def test_every_sample_is_asked_scored_and_recorded(tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", *GOLD, *REST)
    run = evaluated(small_set(tmp_path / "set"), model, tmp_path / "run")
    assert values(run) == {"a": 1.0, "m": 0.5, "b": 1.0, "t": 0.0, "o": 0.0}
    assert run.config.planned == 5
    record = records(run)["a", "standard"]
    assert (record.set, record.parent, record.reply.text, record.task_type) == ("small", "a", "Answer: B", "single_choice")  # fmt: skip


def test_kprag_asks_only_samples_with_knowledge_points_and_counts_the_rest(tmp_path: Path) -> None:
    run = evaluated(small_set(tmp_path / "set"), "baseline:lexical", tmp_path / "run", modes=["standard", "kprag"])
    assert {mode for _, mode in records(run)} == {"standard", "kprag"}
    assert {sample for sample, mode in records(run) if mode == "kprag"} == {"a", "m"}
    assert run.config.skipped == {"kprag": 3}


def test_variants_are_made_on_the_way_and_kept_beside_the_run(tmp_path: Path) -> None:
    opened, made = small_set(tmp_path / "set"), {"ops": "pad,shuffle", "draws": 2, "seed": 1}
    run = evaluated(opened, "baseline:majority", tmp_path / "run", **made)
    made = SampleSet(tmp_path / "run" / "sets" / "small-dynamic")
    kept = {sample.id for sample in made}
    assert {"a~pad~0", "a~pad~1", "a~shuffle~0", "m~shuffle~1"} <= kept
    assert {sample for sample, mode in records(run) if mode == "dynamic"} == kept
    assert {sample for sample, mode in records(run) if mode == "standard"} == set("ambto")


def test_variants_of_some_samples_that_a_judge_lets_pass(tmp_path: Path) -> None:
    samples = [choice(f"q{n}", fields={"difficulty": "hard" if n > 2 else "easy"}) for n in range(6)]
    opened = write_set(tmp_path / "set", samples)
    settings: dict[str, Any] = {"ops": "shuffle", "take": "difficulty=easy:1,hard:2", "modes": "standard,dynamic"}
    run = evaluated(opened, "baseline:majority", tmp_path / "run", variant_judge="embedded", **settings)
    asked = [record.parent for record in run.records() if record.condition.variant == "dynamic"]
    assert sorted(int(parent[1:]) > 2 for parent in asked) == [False, True, True]
    assert sum(record.condition.variant == "standard" for record in run.records()) == 6
    made = SampleSet(tmp_path / "run" / "sets" / "small-dynamic")
    assert {sample.variant.verdict.status for sample in made if sample.variant} == {"kept"}
    with pytest.raises(UserError, match="was made with other settings"):
        evaluated(opened, "baseline:majority", tmp_path / "run", **settings)


def test_a_file_is_imported_beside_the_run(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"id":"q","question":"2+2=4","task_type":"true_false","answer":true}\n')
    run = mmdyn.evaluate([tmp_path / "mine.jsonl"], ["baseline:majority"], tmp_path / "run", execution=QUIET)
    assert [record.sample for record in run.records()] == ["q"]
    again = mmdyn.evaluate([tmp_path / "mine.jsonl"], ["baseline:majority"], tmp_path / "run", execution=QUIET)
    assert len(list(again.records())) == 1


def test_other_settings_into_the_same_run_are_refused(tmp_path: Path) -> None:
    opened = small_set(tmp_path / "set")
    evaluated(opened, "baseline:majority", tmp_path / "run")
    with pytest.raises(UserError, match="holds a run with other models: choose another -o"):
        evaluated(opened, "baseline:lexical", tmp_path / "run")
    with pytest.raises(UserError, match="holds a run with other conditions"):
        evaluated(opened, "baseline:majority", tmp_path / "run", styles=["cot"])
    with pytest.raises(UserError, match="holds a run with other sets"):
        evaluated(write_set(tmp_path / "other", [choice()]), "baseline:majority", tmp_path / "run")


def test_a_limit_may_grow_and_not_shrink(tmp_path: Path) -> None:
    opened = small_set(tmp_path / "set")
    first = evaluated(opened, "baseline:majority", tmp_path / "run", n=2)
    assert set(values(first)) == {"a", "m"}
    whole = evaluated(opened, "baseline:majority", tmp_path / "run")
    assert set(values(whole)) == set("ambto") and whole.config.planned == 5
    with pytest.raises(UserError, match=r"holds a run with other \(larger\) limit"):
        evaluated(opened, "baseline:majority", tmp_path / "run", n=1)


def test_a_missing_picture_names_the_sample(tmp_path: Path) -> None:
    opened = small_set(tmp_path / "set")
    for file in (tmp_path / "set" / "images").rglob("*.png"):
        file.unlink()
    with pytest.raises(InputError, match=r"sample a: image 'images/.*' is missing: put the file into"):
        evaluated(opened, "baseline:majority", tmp_path / "run")


def test_the_scores_of_before_stay_and_changes_are_shown(tmp_path: Path) -> None:
    model = script(tmp_path / "s.jsonl", *GOLD, *REST)
    run = evaluated(small_set(tmp_path / "set"), model, tmp_path / "run")
    changes = score(tmp_path / "run", "strict")
    assert [(change.sample, change.before, change.after) for change in changes] == [("m", 0.5, 0.0)]
    assert values(RunFolder(tmp_path / "run"))["m"] == 0.0
    assert [change.after for change in score(run.folder, "mdk12")] == [0.5]
    assert score(run.folder, "mdk12") == []


def test_permuting_the_gold_answers_changes_no_reply(tmp_path: Path) -> None:
    samples = [choice(id, answer="A") for id in ("a", "b")] + [multi("m", "AC"), true_false("t", True), blank("k")]
    others = [choice(id, answer="D") for id in ("a", "b")]
    others += [multi("m", "BD"), true_false("t", False), blank("k", (("9",),))]
    sets = [write_set(tmp_path / name, group, "small") for name, group in (("x", samples), ("y", others))]
    models = ["baseline:random", "baseline:majority", "baseline:lexical"]
    runs = [evaluated(opened, models, tmp_path / f"run-{opened.folder.name}") for opened in sets]
    replies = [{(r.model, r.sample): r.reply.text for r in run.records()} for run in runs]
    assert replies[0] == replies[1] and len(replies[0]) == 15


def test_a_config_says_the_same_as_the_arguments(tmp_path: Path) -> None:
    small_set(tmp_path / "set")
    (tmp_path / "c.yaml").write_text(f"sets: [{tmp_path}/set]\nmodels: [baseline:majority]\nout: {tmp_path}/a\n")
    config = read_config(tmp_path / "c.yaml", ["limits.n=2", "conditions.styles=direct,cot", "execution.quiet=true"])
    assert (config.limits.n, config.conditions.styles) == (2, ("direct", "cot"))
    assert len(list(run_config(config).records())) == 4


@pytest.mark.parametrize(
    ("text", "overrides", "problem"),
    [
        ("sets: [x]\nmodels: [y]\n", ["out=r", "conditions.draw=2"], "unknown key 'draw' in conditions (did you mean 'draws'?)"),
        ("sets: [x]\nmodels: [y]\nout: r\nmodes: [a]\n", [], "c.yaml: the key 'modes' belongs to a section: write conditions.modes"),
        ("sets: [x]\nmodels: [y]\nout: r\n", ["n=3"], "the key 'n' belongs to a section: write limits.n"),
        ("sets: [x]\nmodels: [y]\nout: r\n", ["limit=3"], "unknown key 'limit' (did you mean 'limits'?)"),
        ("sets: [x]\nmodels: [y]\nout: r\n", ["out.n=2"], "'out.n=2': out is no section of keys in the file: give it as a whole"),
        ("sets: [x]\nmodels: [y]\nout: r\nlimits: {n: two}\n", [], "limits.n must be a whole number or null, a text given"),
        ("sets: [x]\nmodels: [y]\nout: o\nknowledge: {retriver: x}\n", [], "unknown key 'retriver' in knowledge (did you mean 'retriever'?)"),
        ("sets: [x]\nmodels: [y]\n", [], "the key 'out' is missing: add it"),
        ("sets: [x\n", [], "c.yaml:2: is not YAML: mend the line"),
        ("- 1\n", [], "must be a mapping with the keys sets, models, out"),
        ("sets: [x]\nmodels: [y]\nout: r\n", ["limit"], "'limit' is not key=value"),
        ("sets: [x]\nmodels: [y]\nout: r\n", ["scoring.rubric.votes=3"], "--judge-mode, --rubric and --else-rules go with --judge: name one"),
        ("sets: [x]\nmodels: [y]\nout: r\nscoring: {rubric: match}\n", [], "go with --judge: name one"),
    ],
)  # fmt: skip
def test_a_bad_config_is_explained(tmp_path: Path, text: str, overrides: list[str], problem: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UserError) as caught:
        read_config(tmp_path / "c.yaml", overrides)
    assert problem in str(caught.value)


def test_no_key_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    monkeypatch.setenv("EXTRA", "tok-secret-456")
    opened = small_set(tmp_path / "set")

    async def ask() -> RunFolder:
        async with FakeServer(key="sk-secret-123") as server:
            model = f"openai:fake,base_url={server.url},header.X-Extra=$EXTRA"
            return await asyncio.to_thread(evaluate, [opened], [model], tmp_path / "run", execution=QUIET)

    assert len(list(asyncio.run(ask()).records())) == 5
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not [data for data in written if b"secret" in data]


def test_a_notebook_has_a_loop_running_already(tmp_path: Path) -> None:
    async def cell() -> RunFolder:
        return evaluated(small_set(tmp_path / "set"), "baseline:majority", tmp_path / "run")

    assert len(list(asyncio.run(cell()).records())) == 5


def test_nothing_to_ask_is_said(tmp_path: Path) -> None:
    opened = write_set(tmp_path / "set", [choice()])
    with pytest.raises(UserError, match="there is nothing to ask"):
        evaluated(opened, "baseline:majority", tmp_path / "run", modes=["kprag"])


def test_a_refused_run_leaves_nothing_that_was_not_there(tmp_path: Path) -> None:
    opened = small_set(tmp_path / "set")
    (tmp_path / "own").mkdir()
    for out in ("run", "own"):
        with pytest.raises(UserError, match=r"metric\.rouge_l compares texts, and a is a single_choice"):
            evaluated(opened, "baseline:majority", tmp_path / out, policy="rouge_l")
    assert not (tmp_path / "run").exists() and [*(tmp_path / "own").iterdir()] == []
    run = evaluated(opened, "baseline:majority", tmp_path / "run")
    before = records(run)
    with pytest.raises(UserError, match="compares texts"):
        evaluated(opened, "baseline:majority", tmp_path / "run", policy="rouge_l")
    assert records(RunFolder(run.folder)) == before and len(before) == 5
    with Store(tmp_path / "held" / "records"), pytest.raises(Busy):
        evaluated(opened, "baseline:majority", tmp_path / "held")
    assert (tmp_path / "held" / "records" / "main.sqlite").exists()


def test_the_sample_is_in_the_store_before_its_record(tmp_path: Path) -> None:
    class Watched(Store):
        kinds: ClassVar[list[str]] = []

        def put_all(self, records: list[tuple[str, str, bytes]]) -> None:
            self.kinds += [kind for kind, _, _ in records]
            super().put_all(records)

    opened = small_set(tmp_path / "set")
    with Watched(tmp_path / "store") as store, ProgressBar("asking", quiet=True) as progress:
        asks = plan([opened], [ConditionSpec(["standard"], styles=["direct"]).conditions()], 1, {opened.root: 1})
        asyncio.run(ask_all(asks, tools_for(opened, store, progress, open_model("baseline:majority"))))
    assert Watched.kinds == ["sample", "record", f"score:mdk12@{SCORING_VERSION}"]


def test_a_prompt_of_ones_own_is_a_style_and_is_kept_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Exam.\n\n{question}\n{options}\n")
    opened, out, prompt = small_set(tmp_path / "set"), tmp_path / "run", tmp_path / "p.txt"
    run = evaluated(opened, "baseline:majority", out, prompt=prompt)
    assert {record.condition.style for record in run.records()} == {"custom"}
    assert run.config.prompt == prompt.read_text()
    with pytest.raises(UserError, match="--prompt is a style of its own: leave --style out"):
        evaluated(opened, "baseline:majority", out, prompt=prompt, styles=["direct", "cot"])
    prompt.write_text("Another.\n\n{question}\n{options}\n")
    with pytest.raises(UserError, match="holds a run with other prompts and prompt"):
        evaluated(opened, "baseline:majority", out, prompt=prompt)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"concurrency": 0}, "--concurrency is 0: give 1 or more"),
        ({"n": -1}, "--limit is -1: give 1 or more"),
        ({"epochs": 0}, "--epochs is 0: give 1 or more"),
        ({"styles": []}, "name at least one set and one style"),
        ({"ops": "padd"}, "there is no operator 'padd'"),
    ],
)
def test_what_cannot_be_asked_is_told_first(tmp_path: Path, arguments: dict[str, Any], problem: str) -> None:
    opened = small_set(tmp_path / "set")
    with pytest.raises(UserError, match=problem):
        evaluated(opened, "baseline:majority", tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()
    with pytest.raises(UserError, match="no such file or folder"):
        evaluated(tmp_path / "nowhere", "baseline:majority", tmp_path / "run")
    with pytest.raises(UserError, match="is a set: choose another folder for the run"):
        evaluated(opened, "baseline:majority", opened.folder)
    assert not (tmp_path / "run").exists()


def test_a_changed_file_never_replaces_what_a_run_has_asked(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id":"q","question":"2+2=4","task_type":"true_false","answer":true}\n')
    run = evaluated(file, "baseline:majority", tmp_path / "run")
    file.write_text('{"id":"q","question":"2+2=5","task_type":"true_false","answer":false}\n')
    with pytest.raises(UserError, match="holds a run with other sets"):
        evaluated(file, "baseline:majority", tmp_path / "run")
    (entry,) = run.config.sets
    assert [sample.question for sample in SampleSet(run.set_folder(entry))] == ["2+2=4"]


def test_a_later_programs_run_is_not_read(tmp_path: Path) -> None:
    run = evaluated(small_set(tmp_path / "set"), "baseline:majority", tmp_path / "run")
    run.write_config(msgspec.structs.replace(run.config, schema=7))
    with pytest.raises(InputError, match="the schema is 7, 1 is read: upgrade mmdyn"):
        RunFolder(tmp_path / "run")


async def test_an_interrupt_gets_through_while_answers_are_there_already(tmp_path: Path) -> None:
    opened = write_set(tmp_path / "set", [choice(f"q{n}") for n in range(200)])
    await asyncio.to_thread(evaluate, [opened], ["baseline:majority"], tmp_path / "run", execution=QUIET)
    with Store(tmp_path / "run" / "records") as store, ProgressBar("asking", quiet=True) as progress:
        asks = plan([opened], [ConditionSpec(["standard"], styles=["direct"]).conditions()], 1, {})
        tools = tools_for(opened, store, progress, open_model("baseline:majority"))
        going = asyncio.create_task(ask_all(asks, tools))
        for _ in range(6):
            await asyncio.sleep(0)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        assert 0 < progress.done < 200


def test_one_set_and_one_model_need_no_list_and_a_moved_set_is_the_same(tmp_path: Path) -> None:
    small_set(tmp_path / "set")
    first = evaluated(tmp_path / "set", "baseline:majority", tmp_path / "run")
    (tmp_path / "set").rename(tmp_path / "moved")
    again = evaluated(tmp_path / "moved", "baseline:majority", tmp_path / "run", modes="standard")
    assert again.config.sets[0].folder.endswith("moved") and len(list(first.records())) == 5


def test_a_dry_run_names_a_picture_that_is_broken(tmp_path: Path) -> None:
    data = picture()
    made = write_set(tmp_path / "set", [choice(images=(image_ref(data),))], images=[data])

    (tmp_path / "set" / image_ref(data)).write_bytes(b"no picture")
    with pytest.raises(InputError, match="png: not a picture that can be read"):
        estimated(made.folder, "baseline:lexical", tmp_path / "run")
