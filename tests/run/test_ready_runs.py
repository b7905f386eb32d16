"""The ready runs in configs/: listed, read, and counted by a dry run on small data of each benchmark's form."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from shell import mmdyn
from tables.making_runs import change

from making import picture, write_set
from mmdyn.configs import find_config, ready_runs
from mmdyn.errors import UserError
from mmdyn.plugins import names
from mmdyn.run import estimate_config, read_config, run_config
from mmdyn.sample import Language, Option, Sample
from mmdyn.tables import report

MORE = {"acadreason_hints": "acadreason", "encyclo_k_5shot": "encyclo_k", "ladder": "we_math", "mdk12_kprag": "mdk12"}
GAOKAO = {"year": "2019", "category": "x", "answer": ["B"], "analysis": "So B.", "score": 6}
ROWS: dict[str, dict[str, Any]] = {
    "acadreason": {"task_id": 3, "domain": "Law", "title": "On Cuts", "query": "How many cuts?", "golden_truth": "Two.", "checklist": "1. Says one. | 2. Says two.", "num_checklist": 2, "hints_background": "A cut splits.", "hints_definition": "A flow flows.", "hints_methodology": "Count."},
    "encyclo_k": {"question": "Which are right?\ni. Water is wet.\nii. Fire is cold.", "options": ["i", "ii"], "answer": "A", "discipline": "Science", "field": "Physics", "subfield": "Heat"},
    "gaokao_bench": GAOKAO | {"id": "2010-2022_Biology_MCQs-1", "kind": "objective", "keyword": "2010-2022_Biology_MCQs", "question": "3．（6分）下列叙述正确的是（）\nA．甲 B．乙\nC．丙 D．丁\n"},
    "gaokao_mm": GAOKAO | {"id": "Biology_MCQs-1", "subject": "Biology_MCQs", "question": "3. (6 分) 如图所示, 下列叙述正确的是 ( )\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "picture": ["images/a.png"]},
    "math_vision": {"id": "1", "question": "How many?\n<image1>", "options": ["1", "2", "3"], "answer": "B", "solution": None, "level": 3, "subject": "counting", "image": "images/a.png"},
    "mathvista": {"pid": "1", "question": "Which is larger?", "image": "images/a.png", "choices": ["left", "right"], "unit": None, "precision": None, "answer": "left", "question_type": "multi_choice", "answer_type": "text", "metadata": {"category": "general-vqa", "context": "figure", "grade": "daily life", "language": "english", "skills": ["statistical reasoning"], "source": "IconQA", "task": "figure question answering"}},
    "mmlu_pro": {"question_id": 7, "question": "Which is prime?", "options": ["4", "3", "9"], "answer": "B", "answer_index": 1, "cot_content": "", "category": "math", "src": "made"},
    "mmmu_pro": {"id": "test_Art_1", "question": "<image 1> Which colour?", "options": "['red', 'blue']", "explanation": "", "image_1": "images/a.png", "answer": "A", "topic_difficulty": "Easy", "subject": "Art", "img_type": "['Paintings']"},
    "mdk12": {"index": "7", "question": "Which of these are prime?", "category": "number theory", "answer": "AC", "knowledge": "primes; divisors", "analysis": "2 and 3 have no divisors.", "year": "2021", "grade_level": "Grade 7", "difficulty_level": "Easy", "image": "", "A": "2", "B": "4", "C": "3", "D": "9"},
    "r_bench": {"index": 7, "question": "What is the curl of a gradient?", "A": "zero", "B": "one", "C": "two", "D": "three", "E": "four", "F": "All other answers are incorrect", "answer": "A", "department": "Mathematics", "subject": "Calculus"},
    "scemqa": {"id": "Multiple_Choice-Physics-1", "type": "Multiple_Choice", "subject": "Physics", "Question": "How long does it take? \n \n A. 1 s \n B. 2 s \n C. 3 s \n D. 4 s", "Answer (final answer highlighted)": "C: Because.", "ImagePath": "a", "image": "a.png"},
    "scienceqa": {"id": "7", "question": "Which is harder?", "choices": ["clay tile", "paper bag"], "answer": 0, "hint": "", "image": None, "task": "closed choice", "grade": "grade3", "subject": "natural science", "topic": "physics", "category": "Materials", "skill": "Compare materials", "lecture": "Hard is a property.", "solution": "The tile keeps its shape.", "split": "train"},
    "tal_scq5k": {"dataset_name": "prime_math_competition_en_single_choice_8K_dev", "qid": "1", "queId": "abc", "difficulty": "2", "problem": "How many?", "answer_option_list": [[{"aoVal": label, "content": f"$${place}$$ "}] for place, label in enumerate("ABC")], "knowledge_point_routes": ["Overseas Competition->Knowledge Point->Counting"], "answer_analysis": ["Count. "], "answer_value": "B"},
    "we_math": {"ID": "2steps_1", "key": "2steps_1", "knowledge concept": "Area of Circles", "knowledge concept description": "Area of Circles:\n1. S = πr².", "question": "What is the area?", "option": "A. 1;B. 2;C. 3; D. No correct answer", "answer": "B", "image_path": "images/a.png"},
}  # fmt: skip


def small(folder: Path, benchmark: str) -> Path:
    """A folder of the benchmark's form with one question."""
    row = ROWS[benchmark]
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(picture())
    if benchmark == "mdk12":
        with (folder / "HSMA_multiple_answer_choice_single_modal.tsv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, row, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerow(row)
    else:
        name = {"tal_scq5k": "en.jsonl", "r_bench": "rbench-t_en.jsonl"}.get(benchmark, "questions.jsonl")
        (folder / name).write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    return folder


def test_every_benchmark_has_a_ready_run_and_it_is_listed() -> None:
    assert {*ready_runs()} == {*names("benchmarks"), *MORE}
    listed = mmdyn("list", "configs").stdout.splitlines()
    assert listed[0].split(maxsplit=1)[1].startswith("AcadReason's protocol as far as") and len(listed) == len(
        ready_runs()
    )
    places = json.loads(mmdyn("list", "configs", "--json").stdout)
    assert places["mdk12"].endswith("configs/mdk12.yaml")
    with pytest.raises(
        UserError, match=r"there is no config 'mdk13' \(did you mean 'mdk12'\?\): give a YAML file, or one of "
    ):
        find_config(Path("mdk13"))


@pytest.mark.parametrize("name", sorted(ROWS | MORE))
def test_a_dry_run_counts_what_a_ready_run_would_ask_and_writes_nothing(name: str, tmp_path: Path) -> None:
    benchmark = MORE.get(name, name)
    if benchmark not in ROWS:
        pytest.skip(f"there is no row of {benchmark}")
    given = small(tmp_path / "data", benchmark)
    sets = f"sets=[{{benchmark: {benchmark}, path: {given}, skip_bad: true}}]"
    before = sorted(tmp_path.rglob("*"))
    config = read_config(find_config(Path(name)), [sets, f"out={tmp_path}/run"])
    found = estimate_config(config)
    assert {row.set for row in found.rows} == {benchmark} and all(row.to_ask for row in found.rows)
    asked = {row.mode for row in found.rows}
    assert "standard" in asked and asked | {*found.skipped} >= {*config.conditions.modes}
    assert sorted(tmp_path.rglob("*")) == before


def test_five_examples_stand_before_a_base_models_question_and_none_before_a_chat_models(tmp_path: Path) -> None:
    """Questions of Encyclo-K's form, in both languages, asked by the ready run as it is."""
    samples = [
        Sample(
            id=f"{language}{number}",
            question=f"Which of these statements are right? i. {number} is prime. ii. {number} is odd. iii. It is even.",
            task_type="single_choice",
            answer=("ABC"[number % 3],),
            language=language,
            options=(Option("A", "i, ii"), Option("B", "iii"), Option("C", "ii, iii")),
            fields={"discipline": "Science"},
        )
        for language in get_args(Language)
        for number in range(8)
    ]
    source = write_set(tmp_path / "encyclo_k", samples, "encyclo_k")
    config = read_config(find_config(Path("encyclo_k_5shot")), [f"sets=[{source.folder}]", f"out={tmp_path}/run"])
    found = {(record.condition.shot_name, record.sample): record for record in run_config(config).records()}
    assert len(found) == 32 and {shots for shots, _ in found} == {"0", "5:base"}
    assert all(record.examples == () for (shots, _), record in found.items() if shots == "0")
    assert found["5:base", "en0"].examples == ("en1", "en2", "en3", "en4", "en5")
    assert found["5:base", "zh7"].examples == ("zh0", "zh1", "zh2", "zh3", "zh4")
    assert all(record.score and record.score.status == "ok" for record in found.values())
    row = change(report(tmp_path / "run", by=["discipline"]), factor="shots")
    assert (row.factors["a"], row.factors["b"], row.n, row.differs) == ("0", "5:base", 16, ("instruction",))


def test_a_ready_run_is_counted_from_the_command_line(tmp_path: Path) -> None:
    given = small(tmp_path / "data", "we_math")
    overrides = [f"sets=[{{benchmark: we_math, path: {given}}}]", "out=run", "limits.n=1", "conditions.modes=standard"]
    done = mmdyn("run", "we_math", *overrides, "--dry-run", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 request to send; nothing to pay" in done.stdout and not (tmp_path / "run").exists()


def test_a_wheel_carries_the_ready_runs(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    root = Path(__file__).resolve().parents[2]
    builder = WheelBuilder(str(root))
    carried = {file.distribution_path for file in builder.recurse_forced_files(builder.config.get_force_include())}
    assert {f"mmdyn/configs/{name}.yaml" for name in ready_runs()} <= carried
