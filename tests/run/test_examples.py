"""Which examples stand before a question: never one of its own, and the same ones whoever asks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from running import contents, estimated, evaluated, typed
from serving import script
from tables.making_runs import changes, scores

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import SampleSet, SetManifest
from mmdyn.errors import InputError, Stopped, UserError
from mmdyn.keys import canonical
from mmdyn.models import open_model
from mmdyn.run import ConditionSpec, ExamplesConfig, KnowledgeConfig, Limits, export
from mmdyn.run.context_providers import ContextProviders, check_examples
from mmdyn.run.executors._executor import Engine, Job
from mmdyn.run.plan import Ask, Partition, Skip, plan
from mmdyn.run.share import RankShare
from mmdyn.sample import Sample
from mmdyn.tables import Breakdown, report
from mmdyn.work import RunFolder, Store
from perturb import perturb

WAYS = "2,3:random,3:similar,2:random:base"
TOPICS = ["triangle sides corners", "water ice floats", "moon tide sea", "prime number divisor", "plant light sugar"]
MODEL = "baseline:lexical"


def a_set(folder: Path, count: int = 40) -> SampleSet:
    """Questions on five topics in two languages and all forms, some in groups, one asked twice under another id."""
    makers: list[Any] = [choice, multi, blank, true_false, open_ended]
    data = [picture(text=str(number)) for number in range(3)]

    def made(n: int) -> Sample:
        more: dict[str, Any] = {"language": "zh" if n % 7 == 6 else "en", "group": f"g{n // 4}" if n % 8 < 3 else None}
        more |= {"images": (image_ref(data[n % 3]),) * (n % 2), "explanation": f"Because of {n}." * (n % 3)}
        return makers[n // 2 % 5](f"s{n}", question=f"Question {n} about {TOPICS[n % 5]}?", **more)

    twice = choice("again", question=made(0).question)
    return write_set(folder, [*map(made, range(count)), twice], "topics", images=data)


@pytest.fixture
def sets(tmp_path: Path) -> list[SampleSet]:
    source = a_set(tmp_path / "set")
    return [source, perturb(source, tmp_path / "dynamic", ops="pad,shuffle,convert", draws=2, seed=3, quiet=True)]


def planned(
    sets: list[SampleSet], folder: Path, shots: str = WAYS, examples: str | ExamplesConfig = "", *, seed: int = 0,
    limit: int | None = None, modes: str = "standard,dynamic",
) -> list[Ask | Skip]:  # fmt: skip
    """What is asked, with its examples."""
    conditions = ConditionSpec(modes, shots=shots).conditions()
    with Store(folder) as store:
        providers = ContextProviders(sets, conditions, KnowledgeConfig(), store, seed=seed, examples=examples)
        limits = {opened.root: limit for opened in sets}
        providers.look_up(limits)
        return [*plan(sets, [conditions] * len(sets), 1, limits, providers.by_set)]


def chosen(asks: list[Ask | Skip]) -> dict[tuple[str, str], list[str]]:
    """The ids of the examples, by the asked sample's id and the shots."""
    return {
        (ask.sample.id, ask.condition.shot_name): [one.sample.id for one in ask.examples]
        for ask in asks
        if isinstance(ask, Ask)
    }


def key(ask: Ask | Skip) -> tuple[object, ...]:
    """An ask and the ids of its examples."""
    assert isinstance(ask, Ask)
    return ask.sample.id, ask.condition, *(one.sample.id for one in ask.examples)


@pytest.mark.parametrize("seed", [0, 1])
def test_none_is_of_the_asked_ones_own(sets: list[SampleSet], tmp_path: Path, seed: int) -> None:
    known = {sample.id: sample for sample in sets[0]}
    asks = planned(sets, tmp_path / "store", seed=seed)
    assert len(asks) > 700 and all(isinstance(ask, Ask) for ask in asks)
    for ask in asks:
        assert isinstance(ask, Ask)
        parent, k = known[ask.sample.parent], int(ask.condition.shot_name[0])
        shown = [one.sample for one in ask.examples]
        assert len({one.id for one in shown}) == k and all(one.variant is None for one in shown)
        for one in shown:
            assert one.id != parent.id and (one.group is None or one.group != parent.group)
            assert (one.question, one.options) != (parent.question, parent.options)
            assert one.language == parent.language, "its own language comes first, and there are enough"


def test_a_variant_is_shown_the_examples_of_its_parent(sets: list[SampleSet], tmp_path: Path) -> None:
    asks = planned(sets, tmp_path / "store")
    found, parents = chosen(asks), {ask.sample.id: ask.sample.parent for ask in asks if isinstance(ask, Ask)}
    for (id, shots), examples in found.items():
        assert examples == found[parents[id], shots]


def test_random_ones_go_by_the_seed_and_the_sample_alone(sets: list[SampleSet], tmp_path: Path) -> None:
    standard = sets[:1]
    settings: dict[str, Any] = {"shots": "2:random,3:random", "modes": "standard"}
    found = chosen(planned(standard, tmp_path / "a", **settings))
    assert found == chosen(planned(standard, tmp_path / "b", **settings)) != chosen(planned(standard, tmp_path / "c", seed=1, **settings))  # fmt: skip
    few = chosen(planned(standard, tmp_path / "d", limit=5, **settings))
    assert len(few) == 10 and few.items() <= found.items(), "the limit takes no example away"
    assert all(found[id, "3:random"][:2] == found[id, "2:random"] for id, _ in found)
    uses = Counter(one for (_, shots), shown in found.items() for one in shown if shots == "3:random")
    assert len(uses) > 30


def test_similar_ones_speak_of_the_same_thing_and_the_most_similar_is_last(
    sets: list[SampleSet], tmp_path: Path
) -> None:
    texts = {sample.id: sample.question for sample in sets[0]}
    found = chosen(planned(sets[:1], tmp_path / "a", "1:similar,3:similar", modes="standard"))
    assert all(found[id, "3:similar"][-1:] == found[id, "1:similar"] for id, _ in found)
    same = [texts[id].split("about")[1] == texts[one].split("about")[1] for (id, k), (*_, one) in found.items() if k[0] == "1"]  # fmt: skip
    assert sum(same) > 25, "of 41; some have nobody of their own form and topic outside their group"


def test_fixed_ones_are_the_first_or_those_that_are_named(sets: list[SampleSet], tmp_path: Path) -> None:
    standard = sets[:1]
    found = chosen(planned(standard, tmp_path / "a", "2", modes="standard"))
    assert found["s10", "2"] == ["s0", "s1"] and found["s1", "2"] == ["s10", "s11"], "s0 to s2 are a group"
    assert found["s0", "2"] == ["s10", "s11"] and found["s12", "2"] == ["s2", "s3"]
    named = ExamplesConfig(ids=("s33", "s5", "s7"))
    asks = planned(standard, tmp_path / "b", "2,3", named, modes="standard")
    found = chosen(asks)
    assert found["s0", "2"] == ["s33", "s5"] and found["s5", "2"] == ["s33", "s7"]
    skipped = Counter(ask.mode for ask in asks if isinstance(ask, Skip))
    assert skipped == {"shots 3": 5}, "s33 and its group (s32, s34), s5 and s7 have two left"
    with pytest.raises(UserError, match=r"no example is called 's333' \(did you mean 's33'\?\): mend ids= of --examples"):  # fmt: skip
        planned(standard, tmp_path / "c", "2", "ids=s5,s333")


def test_a_set_of_their_own_is_taken_whole_and_ids_count_there_too(sets: list[SampleSet], tmp_path: Path) -> None:
    data = picture(text="dev")
    dev = [choice(f"d{n}", question=f"Practice {n}?", images=(image_ref(data),)) for n in range(3)]
    write_set(tmp_path / "dev", [*dev, choice("s0", question="Its name is known.")], "dev", images=[data])
    asks = planned(sets, tmp_path / "store", "3", str(tmp_path / "dev"))
    assert {tuple(shown) for shown in chosen(asks).values()} == {("d0", "d1", "d2")}
    (ask, *_) = (ask for ask in asks if isinstance(ask, Ask))
    assert ask.examples[0].images.read(ask.examples[0].sample.images[0]) == data
    four = planned(sets, tmp_path / "store", "4", str(tmp_path / "dev"))
    assert {ask.sample.parent for ask in four if isinstance(ask, Ask)} == {s.id for s in sets[0]} - {"s0"}


def test_shares_of_several_processes_have_the_examples_of_one(sets: list[SampleSet], tmp_path: Path) -> None:
    conditions = ConditionSpec("standard,dynamic", shots=WAYS).conditions()
    job = Job(tmp_path, (), ConditionSpec(), limits=Limits(n=10), conditions=conditions)
    with Store(tmp_path / "records") as store:
        ContextProviders(sets, conditions, KnowledgeConfig(), store).look_up({opened.root: 10 for opened in sets})
        engines = [
            Engine(
                job,
                order,
                [open_model("baseline:lexical")],
                store,
                providers=ContextProviders(order, conditions, KnowledgeConfig(), store).by_set,
            )
            for order in (sets, sets)
        ]
        whole = Counter(map(key, engines[0].plan()))
        shares = [RankShare(engine, Partition(), number, 2) for number, engine in enumerate(engines)]
        assert sum((Counter(map(key, share.of(0))) for share in shares), Counter()) == whole
        assert whole.total() > 150


def test_where_too_few_are_left_the_sample_is_skipped_and_counted(tmp_path: Path) -> None:
    source = write_set(
        tmp_path / "set", [choice(f"q{n}", question=f"Q{n}?", group="g" if n < 3 else None) for n in range(5)]
    )
    run = evaluated(source, MODEL, tmp_path / "run", shots="0,2,4:random")
    assert Counter(record.condition.shot_name for record in run.records()) == {"0": 5, "2": 5, "4:random": 2}
    assert run.config.skipped == {"shots 4:random": 3}
    with pytest.raises(UserError, match=r"there is nothing to ask: .* shots as many other samples"):
        evaluated(source, MODEL, tmp_path / "other", shots="5")


def test_a_run_says_what_was_shown_and_goes_on_with_it_alone(tmp_path: Path) -> None:
    source = a_set(tmp_path / "set")
    settings: dict[str, Any] = {"shots": "2:random,2:similar", "seed": 5}
    with pytest.raises(Stopped):
        evaluated(source, f"scripted:{script(tmp_path, 'Answer: B')}", tmp_path / "run", max_requests=20, **settings)
    run = evaluated(source, f"scripted:{script(tmp_path, 'Answer: B')}", tmp_path / "run", **settings)
    whole = evaluated(source, f"scripted:{script(tmp_path, 'Answer: B')}", tmp_path / "whole", **settings)
    assert contents(run) == contents(whole) and len(contents(run)) == 82
    assert all(len(record.examples) == 2 and record.sample not in record.examples for record in run.records())
    export(run, tmp_path / "records.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert {row["shots"] for row in rows} == {"2:random", "2:similar"}
    assert {row["key"]: row["examples"] for row in rows} == {record.key: canonical(record.examples).decode() for record in run.records()}  # fmt: skip
    digest = source.manifest.digest
    assert run.config.examples == {"embedder": "", "ids": [], "retriever": "lexical", "seed": 5, "sets": {"topics": digest}}  # fmt: skip
    with pytest.raises(UserError, match="holds a run with other examples: choose another -o"):
        evaluated(source, MODEL.replace(MODEL, f"scripted:{tmp_path / 'replies.jsonl'}"), tmp_path / "run", shots="2:random,2:similar", seed=6)  # fmt: skip
    text = (tmp_path / "run" / "run.json").read_text()
    (tmp_path / "run" / "run.json").write_text(text.replace('"examples"', '"unknown"'))
    with pytest.raises(InputError):
        RunFolder(tmp_path / "run")


def test_another_example_is_another_request_and_no_example_the_same_as_ever(tmp_path: Path) -> None:
    source = a_set(tmp_path / "set", 10)
    runs = {shots: evaluated(source, MODEL, tmp_path / shots.replace(":", "-"), shots=shots) for shots in ("0", "1", "1:random", "0,1")}  # fmt: skip
    keys = {name: {record.request for record in run.records()} for name, run in runs.items()}
    records = {name: {record.key for record in run.records()} for name, run in runs.items()}
    assert keys["0,1"] == keys["0"] | keys["1"] and not keys["0"] & keys["1"]
    assert records["0,1"] == records["0"] | records["1"] and keys["1"] != keys["1:random"]
    plain = evaluated(source, MODEL, tmp_path / "plain")
    assert contents(plain) == contents(runs["0"]) and plain.config.prompts == runs["1"].config.prompts
    assert '"shots"' not in (tmp_path / "plain" / "run.json").read_text()


def test_a_base_model_is_read_up_to_its_own_question(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice(f"q{n}", question=f"Q{n}?") for n in range(4)])
    model = f"scripted:{script(tmp_path, 'Answer: B' + chr(10) * 2 + 'Question:' + chr(10) * 2 + 'Q9? Answer: D')}"
    run = evaluated(source, model, tmp_path / "run", shots="0,1:base")
    scores = {(record.condition.shot_name, record.reply.text.count("Q9"), record.score and record.score.value) for record in run.records()}  # fmt: skip
    assert ("1:base", 0, 1.0) in scores and {key for key in scores if key[0] == "0"} != {("0", 0, 1.0)}
    assert run.config.examples["templates"]


def test_a_dry_run_shows_a_prompt(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice(f"q{n}", question=f"Q{n}?") for n in range(3)])
    done = typed("eval", source.folder, "-m", MODEL, "-o", tmp_path / "run", "--shots", "0,1:base", "--dry-run")
    assert done.exit_code == 0, done.output
    shown = done.output.partition("the first prompt with examples:\n")[2]
    options = "A. two\nB. three\nC. four\nD. five"
    assert shown.startswith(f"[user]\nQuestion:\n\nQ1?\n\n{options}\n\nAnswer: B\n\nQuestion:\n\nQ0?\n\n{options}\n[assistant]\nAnswer:\n")  # fmt: skip
    assert not (tmp_path / "run").exists() and estimated(source, MODEL, tmp_path / "run").shown == ()


def test_examples_are_typed_or_written_in_a_config(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice(f"q{n}", question=f"Q{n}?") for n in range(3)])
    write_set(tmp_path / "dev", [choice(f"d{n}", question=f"D{n}?") for n in range(3)], "dev")
    done = typed("eval", source.folder, "-m", MODEL, "-o", tmp_path / "a", "-q", "--shots", "0,1", "--examples", f"{tmp_path}/dev,ids=d2,d0")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "standard, shots 1" in done.output and "--full has the rest: 1 other contrast" in done.output
    assert "shots 0 → 1" in typed("report", tmp_path / "a", "--full").output
    (tmp_path / "run.yaml").write_text(
        f"sets: [{source.folder}]\nmodels: [{MODEL}]\nout: {tmp_path}/b\nexecution: {{quiet: true}}\n"
        f"conditions: {{shots: [0, 1], examples: {{path: {tmp_path}/dev, ids: [d2, d0]}}}}\n"
    )
    done = typed("run", tmp_path / "run.yaml")
    assert done.exit_code == 0, done.output
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert {record.examples for record in RunFolder(tmp_path / "a").records()} == {(), ("d2",)}


def test_a_report_compares_shots(tmp_path: Path) -> None:
    source = a_set(tmp_path / "set", 20)
    run = evaluated(source, MODEL, tmp_path / "run", styles="direct,cot", shots="0,1,2:random,1:base")
    found = report(run)
    shots = [(row.factors["a"], row.factors["b"]) for row in changes(found, factor="shots", style="direct")]
    assert shots == [("0", "1"), ("0", "1:base"), ("0", "2:random"), ("1", "1:base")]
    named = {(row.factors["a"], row.factors["b"]): row for row in changes(found, factor="shots", style="cot")}
    assert "instruction" in named["0", "1:base"].differs and "instruction" not in named["0", "1"].differs
    assert all(row.n == 21 and "shots" not in row.factors for row in named.values())
    assert {row.factors.get("shots", "0") for row in changes(found, factor="style")} == {"0", "1", "2:random", "1:base"}
    factors = [row.factors for row in scores(found)]
    assert "shots" not in factors[0] and {row.get("shots") for row in factors} == {None, "1", "2:random", "1:base"}
    assert {Breakdown(["shots"]).of(record) for record in run.records()} == {("0",), ("1",), ("2:random",), ("1:base",)}
    other = evaluated(source, MODEL, tmp_path / "other", shots="2:random", seed=1)
    (note,) = {row.note for row in changes(report(run, other), factor="run")}
    assert "the runs showed other examples" in note


@pytest.mark.parametrize(
    ("shots", "given", "why"),
    [
        ("0", "SET", "none are shown: add --shots 5, or leave it out"),
        ("0:base", "SET", "none are shown"),
        ("5:random", "ids=a", "names those that are fixed, and none are: add --shots 5"),
        ("5", "retriever=hybrid", "how similar ones are looked up: add --shots 5:similar"),
        ("5:similar", "retriever=words", "there is no retriever 'words'"),
        ("5", "nowhere", "nowhere: no such file or folder"),
        ("5", "path=SET,form=base", "--examples has no option 'form'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(tmp_path: Path, shots: str, given: str, why: str) -> None:
    given = given.replace("SET", str(tmp_path))
    with pytest.raises(UserError) as caught:
        check_examples(given, ConditionSpec(shots=shots).conditions())
    assert why in str(caught.value)


def test_a_run_without_examples_to_give_says_so(sets: list[SampleSet], tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="examples come from topics, which is not given: name it too, or give --examples"
    ):
        evaluated(sets[1], MODEL, tmp_path / "run", modes="dynamic", shots="2")
    with pytest.raises(UserError, match="holds no examples, only variants or instructions: give --examples SET"):
        evaluated(sets[0], MODEL, tmp_path / "run", shots="2", examples=str(sets[1].folder))
    (tmp_path / "p.txt").write_text("{question} {options}")
    with pytest.raises(UserError, match=r"does not contain \{examples\}, which 2:base needs: put it where they should"):
        evaluated(sets[0], MODEL, tmp_path / "run", shots="2:base", prompt=str(tmp_path / "p.txt"))
    lines = (sets[0].folder / "samples.jsonl").read_text().replace("Question 39", "Question 38")
    (sets[0].folder / "samples.jsonl").write_text(lines)
    with pytest.raises(InputError, match="the digest is not that of the samples: they were changed"):
        planned(sets[:1], tmp_path / "store", "2", modes="standard")
    assert isinstance(sets[0].manifest, SetManifest)
