"""A name is a file, or another package's entry point; a clash is an error, a typo is answered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from making import choice, image_ref, picture, pixels, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import PluginError
from mmdyn.plugins import FOLDERS, load, names, resolve

PACKAGE = Path(__file__).parent / "plugin_package"


def test_a_name_is_a_file() -> None:
    found = names("operators")
    assert found["image.invert"] == "perturb.image.invert"
    assert not any(name.rpartition(".")[2][0] == "_" for kind in FOLDERS for name in names(kind))
    for kind in FOLDERS:
        for name, target in names(kind).items():
            if ":" not in target:
                assert load(kind, name).__module__ == target


def test_listing_imports_nothing() -> None:
    script = (
        "import sys; from mmdyn.plugins import names, FOLDERS; [names(kind) for kind in FOLDERS];"
        "print([m for m in sys.modules if m.startswith(('perturb.image.', 'mmdyn.models.backends.', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_short_names_and_hyphens() -> None:
    assert resolve("operators", "pad") == "image.pad"
    assert resolve("operators", "image.pad") == "image.pad"
    assert resolve("operators", "salt-pepper") == "image.salt_pepper"
    assert load("operators", "salt-pepper") is load("operators", "image.salt_pepper")


def test_a_typo_is_answered() -> None:
    with pytest.raises(PluginError) as unknown:
        resolve("operators", "shufle")
    hint = "(did you mean 'shuffle'?); `mmdyn list operators` names them all"
    assert str(unknown.value) == f"there is no operator 'shufle' {hint}"
    with pytest.raises(PluginError, match="there is no benchmark 'xyzzy'; `mmdyn list benchmarks` names them all"):
        load("benchmarks", "xyzzy")


def install(target: Path, entries: dict[str, dict[str, str]], name: str = "mmdyn-example") -> Path:
    """What an installer leaves behind: the package and its metadata, without building anything."""
    shutil.copytree(PACKAGE / "mmdyn_example", target / "mmdyn_example", dirs_exist_ok=True)
    info = target / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    sections = (
        "\n".join((f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))) for group, points in entries.items()
    )
    (info / "entry_points.txt").write_text("\n".join(sections) + "\n")
    return target


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert set(project["entry-points"]) == {f"mmdyn.{kind}" for kind in FOLDERS}
    return install(tmp_path_factory.mktemp("site"), project["entry-points"], project["name"])


def python(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    command, env = [sys.executable, *map(str, arguments)], {**os.environ, "PYTHONPATH": places}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def test_another_package_s_plug_ins_are_listed(site: Path) -> None:
    done = python(site, "-m", "mmdyn", "list", "operators")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert ["mirror", "(mmdyn_example.mirror:Mirror)"] in lines
    assert ["pad", "a frame around every picture [@mild @strong @1 @2 @3 @4 @5]"] in lines
    script = "import json; from mmdyn.plugins import *; print(json.dumps({kind: names(kind) for kind in FOLDERS}))"
    found = json.loads(python(site, "-c", script).stdout)
    assert found["models"]["echo"] == "mmdyn_example.echo:Echo"
    assert found["formats"]["quiz"] == "mmdyn_example.quiz:Quiz"
    assert found["scorers"]["generous"] == "mmdyn_example.generous:Generous"
    assert found["rubrics"]["brevity"] == "mmdyn_example.brevity:Brevity"
    assert found["benchmarks"]["sums"] == "mmdyn_example.sums:Sums"
    assert found["steps"]["concise"] == "mmdyn_example.concise:Concise"


def test_another_package_s_step_is_a_command(site: Path, tmp_path: Path) -> None:
    source = write_set(
        tmp_path / "set", [choice("short"), choice("long", question="Well, how many sides has a triangle?")]
    )
    done = python(site, "-m", "mmdyn", "build", "concise", source.folder, "-o", tmp_path / "out", "--words", 6)
    assert done.returncode == 0, done.stderr
    assert [sample.id for sample in SampleSet(tmp_path / "out")] == ["short"]
    assert "1 refused by concise" in done.stderr


def test_another_package_s_step_asks_with_prompts_of_its_own(site: Path, tmp_path: Path) -> None:
    own = tmp_path / "site"
    shutil.copytree(site, own)
    prompts = own / "mmdyn_example" / "prompts" / "en"
    source = write_set(tmp_path / "set", [choice("sides"), choice("lake", language="zh")])
    (tmp_path / "replies.jsonl").write_text(
        json.dumps({"match": "Say in a few words", "reply": json.dumps({"gist": "shapes"})}) + "\n"
    )
    words = ("-m", "mmdyn", "build", "gist", source.folder, "-o", tmp_path / "out")
    asking = (*words, "-m", f"scripted:{tmp_path / 'replies.jsonl'}")
    done = python(own, *asking)
    assert done.returncode == 0, done.stderr
    assert [sample.fields["gist"] for sample in SampleSet(tmp_path / "out")] == ["shapes"]
    assert [item.reason for item in SampleSet(tmp_path / "out").dropped()] == ["the step has no prompt zh/gist.txt"]
    again = python(own, "-m", "mmdyn", "data", "show", tmp_path / "out", "--replay", "--parent", source.folder)
    assert again.returncode == 0 and "sides replayed: equal, byte for byte" in again.stdout
    (prompts / "other.txt").write_text("Another step's.")
    assert python(own, *asking).returncode == 0, "prompts that the step does not ask decide nothing"
    (prompts / "gist.txt").write_text((prompts / "gist.txt").read_text() + "\nBe brief.")
    other = python(own, *asking)
    assert other.returncode == 2 and other.stderr.count("\n") == 1, other.stderr


def test_another_package_s_operator_works_in_chains_and_in_other_processes(site: Path, tmp_path: Path) -> None:
    data = picture()
    source = write_set(tmp_path / "set", [choice(f"s{n}", images=(image_ref(data),)) for n in range(8)], images=[data])
    out = tmp_path / "out"
    options = ("--ops", "mirror,mirror+invert", "--workers", 2)
    done = python(site, "-m", "mmdyn", "perturb", source.folder, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    dynamic = SampleSet(out)
    assert len(dynamic) == 16
    for sample in dynamic:
        assert sample.variant is not None
        assert sample.variant.steps[0].operator == "example.mirror"
        turned = pixels(data)[::-1] if sample.variant.steps[0].params["axis"] == 0 else pixels(data)[:, ::-1]
        expected = turned if sample.variant.chain == "mirror" else 255 - turned
        assert (pixels(dynamic.images.read(sample.images[0])) == expected).all()


def test_another_package_s_format_benchmark_model_and_scorer_work_together(site: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.quiz").write_text("Is seven a prime number? | true\nIs nine? | false\n")
    (tmp_path / "sums.txt").write_text("1 2\n30 4\n")
    run = tmp_path / "run"
    converted = python(site, "-m", "mmdyn", "data", "convert", "--from", "sums", tmp_path, "-o", tmp_path / "sums")
    assert converted.returncode == 0, converted.stderr
    asked = python(
        site, "-m", "mmdyn", "eval", tmp_path / "facts.quiz", tmp_path / "sums", "-m", "echo:The answer is 34.", "-o", run,
        "--policy", "generous",
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    done = python(site, "-m", "mmdyn", "report", run, "--json")
    rows = [row for row in json.loads(done.stdout)["parts"][0]["rows"] if row["quantity"] == "score"]
    scores = {row["factors"]["set"]: row for row in rows}
    assert scores["sums"]["value"] == 0.75, "one is right, the other is generously scored"
    assert scores["facts"]["unparsed"] == 2


def matched(id: str, answer: list[str], **more: object) -> dict[str, object]:
    capitals = {"A": "Berlin", "B": "Paris", "C": "Rome"}
    row = {"id": id, "question": "France: ____\nItaly: ____", "task_type": "matching", **more}
    options = [{"label": label, "text": text} for label, text in capitals.items()]
    return {**row, "options": options, "answer": [[label] for label in answer]}


@pytest.fixture(scope="module")
def matching(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two questions of a task type that another package brings."""
    file = tmp_path_factory.mktemp("matching") / "capitals.jsonl"
    rows = [
        matched("both", ["B", "C"]),
        matched("zh", ["B", "C"], language="zh", question="法国的首都是____，意大利的首都是____。"),
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_another_package_s_task_type_is_asked_scored_and_reported(site: Path, matching: Path, tmp_path: Path) -> None:
    replies = [
        {"match": "in the order of the items", "reply": "1 is Paris.\n**Answer:** B, C"},
        {"match": "依各项的顺序", "reply": "答案：B，A"},
    ]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    run = tmp_path / "run"
    models = ("-m", f"scripted:{tmp_path / 'replies.jsonl'}", "-m", "baseline:majority")
    asking = ("eval", matching, *models, "-o", run, "--policy", "mdk12")
    done = python(site, "-m", "mmdyn", *asking)
    assert done.returncode == 0, done.stderr
    exported = python(site, "-m", "mmdyn", "runs", "export", run, "-o", tmp_path / "records.jsonl")
    assert exported.returncode == 0, exported.stderr
    rows = [*map(json.loads, (tmp_path / "records.jsonl").read_text().splitlines())]
    assert {(row["task_type"], row["chance"]) for row in rows} == {("matching", 1 / 3)}
    assert {(row["model"], row["sample"]): (row["extracted"], row["score"], row["parts"]) for row in rows} == {
        ("scripted:replies.jsonl", "both"): ('["B","C"]', 1.0, "[1.0,1.0]"),
        ("scripted:replies.jsonl", "zh"): ('["B","A"]', 0.5, "[1.0,0.0]"),
        ("baseline:majority", "both"): ('["A","A"]', 0.0, "[0.0,0.0]"),
        ("baseline:majority", "zh"): ('["A","A"]', 0.0, "[0.0,0.0]"),
    }
    report = python(site, "-m", "mmdyn", "report", run, "--by", "task_type", "--json")
    cells = [row for part in json.loads(report.stdout)["parts"] for row in part["rows"] if row["quantity"] == "score"]
    assert {row["value"] for row in cells if row["factors"].get("task_type") == "matching"} == {0.75, 0.0}
    own = shutil.copytree(site, tmp_path / "site")
    with (own / "mmdyn_example" / "prompts" / "en" / "answer_matching.txt").open("a") as prompt:
        prompt.write("Be brief.\n")
    again = python(own, "-m", "mmdyn", *asking)
    assert again.returncode == 2 and "prompts" in again.stderr, "its instruction is one of the run's prompts"
    alone = python(tmp_path, "-m", "mmdyn", "report", run)
    problem = "the run holds questions of the task type 'matching': install the package that brings it"
    assert (alone.returncode, alone.stderr) == (2, f"mmdyn: {problem}\n")


def test_another_package_s_task_type_is_read_converted_and_perturbed(
    site: Path, matching: Path, tmp_path: Path
) -> None:
    for file in ("set.tsv", "set.parquet"):
        assert python(site, "-m", "mmdyn", "data", "convert", matching, "-o", tmp_path / file).returncode == 0
        shown = python(site, "-m", "mmdyn", "data", "show", tmp_path / file, "-n", 1).stdout
        assert shown == python(site, "-m", "mmdyn", "data", "show", matching, "-n", 1).stdout
        assert shown.startswith("both  (matching, en)") and "answer: B, C" in shown
    ops = ("--ops", "shuffle,convert,paraphrase")
    done = python(site, "-m", "mmdyn", "perturb", matching, "-o", tmp_path / "varied", *ops)
    assert done.returncode == 0 and "a matching cannot become a question of another type" in done.stderr, done.stderr
    assert "there are no options to shuffle" in done.stderr, "their order is a part of the answer"
    by_metric = python(
        site, "-m", "mmdyn", "eval", matching, "-m", "echo:Answer: BC", "--policy", "rouge_l", "-o", tmp_path / "run"
    )
    assert by_metric.returncode == 2 and "both is a matching: score it by a policy" in by_metric.stderr
    validated = python(tmp_path, "-m", "mmdyn", "data", "validate", matching)
    assert f"{matching}:1: task_type 'matching' is unknown: use one of single_choice, multi_select," in validated.stdout


def test_the_task_types_are_listed_with_what_they_ask(site: Path) -> None:
    listed = python(site, "-m", "mmdyn", "list", "task_types").stdout.splitlines()
    assert listed[0] == "single_choice      choose the one right option"
    assert listed[-1] == "matching           match each item with an option"
    shown = (PACKAGE / "mmdyn_example" / "matching.py").read_text().partition("MATCHING = ")[2].partition("\n)\n")[0]
    assert f"MATCHING = {shown}\n)\n" in (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"true_false": "mmdyn_example.matching:MATCHING"}, "the task type 'true_false' of mmdyn_example.matching:MATCHING has the name of ours: uninstall its package"),
        ({"pairs": "mmdyn_example.matching:chance"}, "the task type 'pairs' is no TaskType: have mmdyn_example.matching:chance name one"),
        ({"pairs": "mmdyn_example.gone:PAIRS"}, "the task type 'pairs' cannot be loaded from mmdyn_example.gone:PAIRS (No module named"),
    ],
)  # fmt: skip
def test_a_task_type_that_does_not_do_is_one_sentence(tmp_path: Path, entries: dict[str, str], problem: str) -> None:
    done = python(install(tmp_path, {"mmdyn.task_types": entries}), "-m", "mmdyn", "list", "task_types")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mmdyn: {problem}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"image.pad": "mmdyn_example.mirror:Mirror"}, "two operators are named 'image.pad' (perturb.image.pad and mmdyn_example.mirror:Mirror): uninstall one of them"),
        ({"example.mirror": "mmdyn_example.echo:Echo"}, "two operators are named 'example.mirror' (mmdyn_example."),
    ],
)  # fmt: skip
def test_a_clash_of_names_is_an_error(tmp_path: Path, entries: dict[str, str], problem: str) -> None:
    site = install(tmp_path, {"mmdyn.operators": {"example.mirror": "mmdyn_example.mirror:Mirror"}})
    install(site, {"mmdyn.operators": entries}, "mmdyn-other")
    done = python(site, "-m", "mmdyn", "list", "operators")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mmdyn: {problem}") and done.stderr.count("\n") == 1


def test_a_short_name_that_fits_two_must_be_written_out(tmp_path: Path) -> None:
    entries = {"example.pad": "mmdyn_example.mirror:Mirror", "example.color": "mmdyn_example.mirror:Mirror"}
    site = install(tmp_path, {"mmdyn.operators": entries})
    script = "from perturb.chains import parse_chains; import sys; print(parse_chains(sys.argv[1]))"
    assert "'pad' could be example.pad or image.pad: write the full name" in python(site, "-c", script, "pad").stderr
    both = python(site, "-c", script, "color").stderr
    assert "'color' could be image.invert+image.salt_pepper or example.color: write the full names" in both
    assert "Link(operator='image.pad', severity='', step=0, form='')" in python(site, "-c", script, "image.pad").stdout


@pytest.mark.parametrize("target", ["not_installed:Thing", "mmdyn_example.mirror:Mirrror", "mmdyn_example.gone:Thing"])
def test_a_broken_entry_point_is_one_sentence(tmp_path: Path, target: str) -> None:
    site = install(tmp_path, {"mmdyn.operators": {"example.broken": target}})
    source = write_set(tmp_path / "set", [choice()])
    done = python(site, "-m", "mmdyn", "perturb", source.folder, "-o", tmp_path / "out", "--ops", "broken")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mmdyn: the operator 'example.broken' cannot be loaded from {target} (")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_real_installer_installs_it(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    shutil.copytree(PACKAGE, tmp_path / "package", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    done = python(tmp_path, *command, tmp_path / "site", tmp_path / "package")
    assert done.returncode == 0, done.stderr
    listed = python(tmp_path / "site", "-m", "mmdyn", "list", "scorers")
    assert "\ngenerous            (mmdyn_example.generous:Generous)\n" in listed.stdout
