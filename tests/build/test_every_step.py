"""Every step from end to end, as it is typed, over real material: undisturbed, killed and gone on with, and with a model
that talks nonsense. A new step needs a row in CASES."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest
from benchmarks.real_sets import real, source
from making_models import llava, saying
from making_sets import tree, write_marks
from PIL import Image, ImageDraw
from serving import hold, serve, wait_until
from shell import MMDYN, mmdyn

from making import open_ended, write_set
from mmdyn.data import SampleSet
from mmdyn.keys import sha256
from mmdyn.plugins import load, names
from mmdyn.sample import Sample
from mmdyn.testing import write_script

ASKED = 6
"""Samples of a step that asks a model."""


class Case(NamedTuple):
    """What a step is tried on: its source, its options, what the server replies, and what is kept and refused."""

    given: Path
    words: Sequence[object] = ()
    replies: Sequence[dict[str, str]] = ()
    kept: int = 0
    refused: int = 0
    pictures: Mapping[str, int] = MappingProxyType({})
    stays: int = 0
    """Samples that stay, whatever the model says."""


def says(match: str = "", **reply: Any) -> dict[str, str]:
    return {"match": match, "reply": json.dumps(reply, ensure_ascii=False)}


def typed(*words: object) -> None:
    done = mmdyn(*words)
    assert done.returncode == 0, done.stderr


def lines_of(name: str, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (source(name) / "dev" / file).read_text(encoding="utf-8").splitlines()]


def book(folder: Path) -> Path:
    """A PDF of six pages with a real statement on each."""
    drawn = []
    for row in lines_of("statements", "creak.jsonl")[:ASKED]:
        page = Image.new("RGB", (420, 200), "white")
        ImageDraw.Draw(page).text((10, 90), row["sentence"][:70], fill="black")
        drawn.append(page)
    drawn[0].save(folder / "book.pdf", save_all=True, append_images=drawn[1:], resolution=72)
    return folder / "book.pdf"


def bank(folder: Path) -> Path:
    """Real statements, true and false, in two languages."""
    read = lines_of("statements", "creak.jsonl")[:60]
    lines = [{"id": row["ex_id"], "text": row["sentence"], "label": row["label"] == "true"} for row in read]
    lines += [
        {"id": row["id"], "text": row["statement"], "label": row["label"], "language": "zh"}
        for row in lines_of("statements", "gaokao_statements_zh.jsonl")[:60]
    ]
    (folder / "bank.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return folder / "bank.jsonl"


def statements_set(folder: Path) -> Path:
    typed("build", "bank", bank(folder), "-o", folder / "bank", "-q")
    return folder / "bank"


def papers(folder: Path) -> Path:
    (folder / "papers").mkdir()
    for row in lines_of("acadreason", "questions.jsonl")[:ASKED]:
        text = f"# {row['title']}\n\n{row['golden_truth'][:6000]}"
        (folder / "papers" / f"{row['task_id']}.md").write_text(text, encoding="utf-8")
    return folder / "papers"


def exams(folder: Path, count: int, wanted: Callable[[Sample], bool]) -> Path:
    """So many of the questions of GAOKAO-Bench."""
    return write_set(folder / "exams", islice(filter(wanted, real("gaokao_bench").values()), count), "exams").folder


def pictured(folder: Path) -> Path:
    """GAOKAO-MM with its pictures."""
    typed("data", "convert", "--from", "gaokao_mm", source("gaokao_mm"), "-o", folder / "pictured", "-q")
    return folder / "pictured"


def seen(folder: Path) -> Counter[str]:
    """The pictures of the first samples, by their digests."""
    opened = SampleSet(folder)
    return Counter(sha256(opened.images.read(ref)) for one in islice(opened, ASKED) for ref in one.all_images)


def pages_of_statements(folder: Path) -> Case:
    typed("build", "pages", book(folder), "-o", folder / "pages", "-q")
    found = [{"title": "Inertia", "statement": "A body keeps its motion unless a force acts on it."}]
    return Case(folder / "pages", (), [says(statements=found)], kept=ASKED, pictures=seen(folder / "pages"))


def falsified(folder: Path) -> Case:
    given = statements_set(folder)
    true = [one for one in islice(SampleSet(given), ASKED) if one.answer]
    judged = dict.fromkeys(("definite", "professional", "consistent", "central"), True)
    false = [
        says(one.question, statement=f"It is not so: {one.question}", error_type="logical paradox", why="denied")
        for one in true
    ]
    replies = [says("Judge the false one", **judged, why="sure"), *false]
    return Case(given, (), replies, kept=2 * len(true), refused=ASKED - len(true), stays=len(true))


def optioned(folder: Path) -> Case:
    given = exams(folder, ASKED, lambda one: isinstance(one.answer, str))
    wrong = ["甲说：两者无关", "乙说：条件不足", "丙说：恰好相反", "丁说：只在高温下", "戊说：取决于光照"]
    return Case(given, (), [says(distractors=wrong)], kept=ASKED)


def translated(folder: Path) -> Case:
    def numbers(text: str) -> Counter[str]:
        return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))

    def inner(text: str) -> str:
        return msgspec.json.encode(text).decode()[1:-1]

    rows = [row for row in lines_of("parallel-en-zh", "mgsm.jsonl") if numbers(row["en"]) == numbers(row["zh"])]
    rows = rows[: ASKED - 1]
    chinese = next(one for one in real("gaokao_bench").values() if one.task_type == "open_ended")
    samples = [open_ended(row["id"], question=row["en"], answer=str(row["answer_en"])) for row in rows]
    replies = [
        says("Two versions of an exam", same=True, why="they agree"),
        says(inner(chinese.question[:9]), cannot="old"),
    ]
    for row, one in zip(rows, samples, strict=True):
        replies += [
            says(inner(row["zh"]), texts=[row["en"], one.answer]),
            says(inner(row["en"]), texts=[row["zh"], one.answer]),
        ]
    return Case(write_set(folder / "set", [*samples, chinese]).folder, (), replies, kept=ASKED - 1, refused=1)


def reviewed(folder: Path) -> Case:
    given = pictured(folder)
    sound = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)
    bad = msgspec.json.encode(next(iter(SampleSet(given))).question[:12]).decode()[1:-1]
    replies = [says(bad, **sound | {"complete": False}, why="缺图"), says(**sound, why="")]
    return Case(given, (), replies, kept=ASKED - 1, refused=1, pictures=seen(given))


def captioned(folder: Path) -> Case:
    """The first question, of four pictures, is declined, and stays as it is."""
    given = pictured(folder)
    replies = [says("共有 4 张图片", cannot="看不清"), says(captions=["一幅示意图。"])]
    return Case(given, (), replies, kept=ASKED, refused=1, pictures=seen(given), stays=ASKED)


def filed(folder: Path) -> Case:
    (folder / "names.txt").write_text("力学\n光学\n生物\n")
    given = exams(folder, ASKED, lambda one: True)
    return Case(given, ("--names", folder / "names.txt"), [says(name="生物", sure=True)], kept=ASKED)


def annotated(folder: Path) -> Case:
    typed("build", "texts", papers(folder), "-o", folder / "texts", "-q")
    hints = {"background": "Known bounds.", "definition": "A seed.", "methodology": "Compare both."}
    items = ["It names the bound.", "It names the method.", "It gives the result."]
    draft = says(title="A", question="Which bound is tight?", answer="The second one.", hints=hints, checklist=items)
    return Case(folder / "texts", (), [draft], kept=ASKED)


def answered(folder: Path) -> tuple[Path, list[Path]]:
    """Questions, and runs that asked them: of three baselines, and of a server, which counts tokens."""
    given = exams(folder, 20, lambda one: one.task_type == "single_choice")
    kinds = ("majority", "random", "lexical")
    typed("eval", given, "-o", folder / "three", "-q", *(word for kind in kinds for word in ("-m", f"baseline:{kind}")))
    with serve(reply="hashed") as server:
        typed("eval", given, "-o", folder / "served", "-q", "-m", f"openai:m,base_url={server.url}")
    return given, [folder / "three", folder / "served"]


def with_effort(folder: Path) -> Case:
    given, (_, served) = answered(folder)
    return Case(given, ("--run", served, "--least", 1), kept=20)


def retired(folder: Path) -> Case:
    given, runs = answered(folder)
    return Case(given, ("--runs", ",".join(map(str, runs)), "--contradicted", "0.5"))


def validated(folder: Path) -> Case:
    """Three reviewers: one finds a fault alone, two agree on another, and one stops before the last question."""
    given = exams(folder, 20, lambda one: True)
    opened = SampleSet(given)
    first, second, *_, last = (one.id for one in opened)
    faults = {"ann": {first: "clear"}, "ben": {second: "right", last: "right"}, "cy": {second: "clear", last: "right"}}
    files = [write_marks(folder / f"{who}.jsonl", who, opened, failed) for who, failed in faults.items()]
    files[2].write_text("".join(files[2].read_text().splitlines(keepends=True)[:-1]))
    return Case(given, ("--marks", ",".join(map(str, files))), kept=18)


def replaced(folder: Path) -> Case:
    """A composed set from which people took three questions, and one of another seed."""
    sizes = ("--questions", 6, "--statements", 6, "--options", 4)
    typed("compose", bank(folder), "-o", folder / "old", "-q", *sizes)
    old = SampleSet(folder / "old")
    rejected = [one.id for one in islice(old, 3)]
    people = write_marks(folder / "ann.jsonl", "ann", old, dict.fromkeys(rejected, "right"))
    typed("build", "retire", old.folder, "-o", folder / "left", "-q", "--marks", people)
    apart = ("--avoid", folder / "left", "--max-shared", 0)
    typed("compose", bank(folder), "-o", folder / "new", "-q", "--seed", 1, *sizes, *apart)
    return Case(folder / "left", ("--by", folder / "new"), kept=len(old))


def composed(folder: Path) -> Case:
    """Four composed questions of six statements, each of which stands in one."""
    sizes = ("--questions", 4, "--statements", 6, "--options", 4)
    typed("compose", bank(folder), "-o", folder / "composed", "-q", *sizes)
    return Case(folder / "composed", kept=7 * len(SampleSet(folder / "composed")))


CASES: dict[str, Callable[[Path], Case]] = {
    "annotate": annotated,
    "bank": lambda folder: Case(bank(folder), kept=120),
    "cap": lambda folder: Case(pictured(folder), ("--field", "discipline", "--most", 3)),
    "caption": captioned,
    "dedup": lambda folder: Case(exams(folder, 200, lambda one: True)),
    "effort": with_effort,
    "falsify": falsified,
    "judgments": composed,
    "options": optioned,
    "pages": lambda folder: Case(book(folder), ("--discipline", "law"), kept=ASKED),
    "replace": replaced,
    "retire": retired,
    "review": reviewed,
    "screen": lambda folder: Case(pictured(folder)),
    "screen_statements": lambda folder: Case(statements_set(folder)),
    "statements": pages_of_statements,
    "taxonomy": filed,
    "texts": lambda folder: Case(papers(folder), kept=ASKED),
    "translate": translated,
    "validate": validated,
}
"""What each step is tried on, made in a folder."""
ASKING = [name for name in CASES if getattr(load("steps", name), "asks", False)]
SAYING_NOTHING = [name for name in CASES if name not in ASKING]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Path]]:
    """A tiny model that sees, and one that reads only."""
    folder = tmp_path_factory.mktemp("checkpoints")
    made = {True: llava(folder / "llava"), False: saying(folder / "saying")}
    for file in (
        checkpoint / "config.json" for checkpoint in made.values()
    ):  # long enough for prompts of single letters
        file.write_text(re.sub(r'("max_position_embeddings": )2048', r"\g<1>20000", file.read_text()))
    yield made


def command(step: str, case: Case, out: Path, *words: object) -> list[str]:
    limit = ("-n", ASKED) if step in ASKING else ()
    return [*MMDYN, "build", step, *map(str, (case.given, "-o", out, "--name", "made", *limit, *case.words, *words))]


def test_every_step_is_tried() -> None:
    assert set(CASES) == set(names("steps"))


@pytest.mark.slow
@pytest.mark.parametrize("step", ASKING)
def test_a_step_that_asks_goes_on_after_it_was_killed(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[step](tmp_path)
    script = write_script(tmp_path / "replies.jsonl", *case.replies)
    with hold(reply=script) as server:
        model = ("-m", f"openai:m,base_url={server.url}", "--concurrency", 2)
        killed = command(step, case, tmp_path / "killed", *model)
        process = subprocess.Popen(killed, stderr=subprocess.PIPE, text=True)
        server.let(half := ASKED // 2)
        wait_until(lambda: server.stats.by_outcome["200"] == half and server.stats.in_flight == 2, process)
        time.sleep(1)  # what came in is kept at once, and in_flight may count one that was answered
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL and not (tmp_path / "killed" / "set.json").exists()
        server.let_all()
        done = subprocess.run(killed, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert server.stats.asked_again == 0, "what was answered is not asked again"
        pictures, asked = server.stats.images, server.stats.by_outcome["200"]
        assert pictures == case.pictures
        monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "another cache"))
        whole = subprocess.run(command(step, case, tmp_path / "whole", *model), capture_output=True, text=True)
        assert whole.returncode == 0 and server.stats.by_outcome["200"] == 2 * asked
    assert tree(tmp_path / "killed") == tree(tmp_path / "whole")
    made = SampleSet(tmp_path / "whole")
    dropped = list(made.dropped())
    assert (len(made), len(dropped)) == (case.kept, case.refused), [item.reason for item in dropped]
    assert f"{case.kept} samples" in whole.stderr


@pytest.mark.slow
@pytest.mark.parametrize("step", ASKING)
def test_nonsense_is_refused_with_reasons(step: str, tmp_path: Path, checkpoints: dict[bool, Path]) -> None:
    case = CASES[step](tmp_path)
    model = f"hf:{checkpoints[bool(case.pictures)]},max_new_tokens=12,device=cpu"
    done = mmdyn(*command(step, case, tmp_path / "out", "-m", model)[len(MMDYN) :])
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    made = SampleSet(tmp_path / "out")
    told = {item.id: item.reason for item in made.dropped()}
    assert len(made) == case.stays and list(told) == [sample.id for sample in islice(SampleSet(case.given), ASKED)]
    assert sum("gave nothing usable in" in reason for reason in told.values()) >= ASKED - case.refused, told
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left >= {"set.json", "samples.jsonl", "dropped.jsonl"} and not any(".part" in name for name in left)
    assert not left & {".work", ".lock"} and ("images" in left) == bool(case.stays and case.pictures)


@pytest.mark.slow
@pytest.mark.parametrize("step", SAYING_NOTHING)
def test_a_step_that_asks_nobody_is_whole_or_absent(step: str, tmp_path: Path) -> None:
    case = CASES[step](tmp_path)
    whole = subprocess.run(command(step, case, tmp_path / "whole"), capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    made = SampleSet(tmp_path / "whole")
    assert len(made) and len(made) == (case.kept or len(made))
    told = {item.id for item in made.dropped()}
    if hasattr(load("steps", step), "refuse"):
        assert told | {sample.id for sample in made} >= {sample.id for sample in SampleSet(case.given)}
    wanted, out = tree(tmp_path / "whole"), tmp_path / "out"
    for at_once in (False, True):
        shutil.rmtree(out, ignore_errors=True)
        process = subprocess.Popen(command(step, case, out), stderr=subprocess.PIPE, text=True)
        if at_once:
            wait_for_folder(process, out)
        else:
            time.sleep(random.uniform(0.2, 1.0))
        process.kill()
        process.communicate()
        if (out / "set.json").exists():
            assert {name: data for name, data in tree(out).items() if name != ".lock"} == wanted
        done = mmdyn(*command(step, case, out)[len(MMDYN) :])
        assert done.returncode == 0, done.stderr
        assert tree(out) == wanted


def wait_for_folder(process: subprocess.Popen[str], out: Path) -> None:
    """Until the step begins to write, or has ended."""
    while process.poll() is None and not (out.exists() and any(out.iterdir())):
        time.sleep(0.001)
