"""mmdyn data convert, show, validate, sample: what is printed where, and the exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from shell import mmdyn as typed

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.data import SampleSet

PNG = picture()
SAMPLES = [choice("a", images=(image_ref(PNG),), fields={"discipline": "maths"}), open_ended("b")]


def mmdyn(*arguments: str | Path, status: int = 0) -> CompletedProcess[str]:
    done = typed("data", *arguments)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set", SAMPLES, images=[PNG]).folder


def test_there_and_back(folder: Path, tmp_path: Path) -> None:
    file, back = tmp_path / "x.tsv", tmp_path / "back"
    assert mmdyn("convert", folder, "-o", file).stdout == f"{file}: 2 samples\n"
    assert mmdyn("convert", file, "-o", back).stdout == f"{back}: 2 samples\n"
    again = mmdyn("convert", file, "-o", back)
    assert again.stdout == f"{back} is there already, made of the same source: 2 samples\n"
    assert (back / "samples.jsonl").read_bytes() == (folder / "samples.jsonl").read_bytes()


def test_a_benchmarks_loader_is_found_by_name(tmp_path: Path) -> None:
    data = Path(__file__).resolve().parents[3] / "shared" / "data" / "gaokao-mm"
    if not data.is_dir():
        pytest.skip("the data folder is not beside the checkout")
    out = tmp_path / "set"
    assert mmdyn("convert", "--from", "gaokao-mm", data, "-o", out, "--limit", "3").stdout == f"{out}: 3 samples\n"
    made = json.loads((out / "set.json").read_bytes())["made"]
    assert (made["benchmark"], made["limit"], made["source"]["name"]) == ("gaokao_mm", 3, "gaokao-mm")
    assert not any(str(tmp_path) in str(value) or str(data) in str(value) for value in made.values())


def test_a_set_of_the_hub_by_a_mapping(tmp_path: Path) -> None:
    hub, out = tmp_path / "exam", tmp_path / "out"
    hub.mkdir()
    row = {"stem": "Which?", "A": "cat", "B": "dog", "right": "B", "subject": "pets"}
    (hub / "test.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row | {"right": "C"}) + "\n")
    columns = "question=stem,options=A+B,answer=right"
    done = mmdyn(
        "convert", "--from", f"hf:{hub}", "--map", columns, "--map", "field.subject=subject", "-o", out, "--skip-bad"
    )
    assert done.stdout == f"{out}: 1 sample\n"
    assert f"rejected: hf:{hub}:2: the answer 'C' is no option: the options are A, B\n" in done.stderr
    assert "contrasts" not in done.stderr
    [sample] = SampleSet(out)
    assert (sample.id, sample.answer, sample.fields["subject"]) == ("exam-1", ("B",), "pets")
    unknown = mmdyn(
        "convert", "--from", f"hf:{hub}", "--map", "question=stem,answer=key", "-o", tmp_path / "x", status=2
    )
    assert unknown.stderr == f"mmdyn: hf:{hub}: there is no column 'key': there are stem, A, B, right, subject\n"


@pytest.mark.parametrize(
    "words", [[], ["--from", "we_math"], ["set", "--from", "hf:x"], ["set", "--from", "vlmeval:x"], ["--map", "a=b"]]
)
def test_a_source_or_a_name_is_given(words: list[str], tmp_path: Path) -> None:
    told = mmdyn("convert", *words, "-o", tmp_path / "out", status=2).stderr
    assert "give SOURCE, or a set by name: --from hf:NAME or --from vlmeval:NAME, but not both" in told


def test_bad_rows_end_it_or_are_left_out(tmp_path: Path) -> None:
    file, out = tmp_path / "x.tsv", tmp_path / "out"
    file.write_text("index\tquestion\tanswer\n" + "".join(f"{row}\t\ta\n" for row in range(25)) + "25\tq\ta\n")
    problem = f"{file}:2: the question is empty: give it words or a picture"
    stopped = mmdyn("convert", file, "-o", out, status=2)
    more = f"(and 24 more like it, in {', '.join(map(str, range(3, 23)))}, …)"
    assert stopped.stdout == "" and stopped.stderr.startswith(f"bad: {problem} {more}\n") and not out.exists()
    assert stopped.stderr.count("bad: ") == 1
    counted = "25 rows are bad (25 × the question is empty: give it words or a picture)"
    assert stopped.stderr.endswith(
        f"mmdyn: {file}:2: {counted} (`mmdyn data convert`, `perturb`, `build STEP` and `eval` leave such rows out with --skip-bad)\n"
    )
    done = mmdyn("convert", file, "-o", out, "--skip-bad")
    assert done.stdout == f"{out}: 1 sample\n"
    assert done.stderr.startswith(f"rejected: {problem} {more}\n")
    assert done.stderr.count("rejected: ") == 1
    assert f"25 bad rows were left out: {out / 'rejected.jsonl'} lists them\n" in done.stderr
    assert len((out / "rejected.jsonl").read_bytes().splitlines()) == 25


def test_what_a_file_cannot_carry_is_said(folder: Path, tmp_path: Path) -> None:
    (folder / "knowledge.jsonl").write_text('{"point": "p"}\n')
    done = mmdyn("convert", folder, "-o", tmp_path / "x.jsonl")
    assert "left behind, because only a set folder carries it: knowledge.jsonl\n" in done.stderr


def test_an_unknown_name_gets_a_suggestion(folder: Path, tmp_path: Path) -> None:
    done = mmdyn("convert", "--from", "gaokaomm", folder, "-o", tmp_path / "x", status=2)
    assert done.stderr.startswith("mmdyn: there is no benchmark or format 'gaokaomm' (did you mean 'gaokao_mm'?)")


def test_show(folder: Path, tmp_path: Path) -> None:
    text = mmdyn("show", folder).stdout
    assert text.index("a  (single_choice, en)") < text.index("  * B. three") < text.index("b  (open_ended, en)")
    assert mmdyn("show", folder, "-n", "1").stdout.count("answer:") == 1
    assert mmdyn("show", folder, "b").stdout.startswith("b  (open_ended")
    (line,) = mmdyn("show", folder, "a", "--json").stdout.splitlines()
    assert json.loads(line)["images"] == [image_ref(PNG)]
    missing = mmdyn("show", folder, "c", status=2)
    hint = f"`mmdyn data show {folder}` prints the first ones"
    assert missing.stderr == f"mmdyn: there is no sample 'c' in {folder}: its ids are a, b; {hint}\n"
    assert mmdyn("show", tmp_path / "none", status=2).stderr.endswith("none: no such file or folder: check the path\n")


def test_hostile_text_is_escaped_in_errors_too(tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_text("index\tquestion\tanswer\tA\tB\n1\tq\tA\x1b[31m\tx\ty\n2\t\x1b[2J\tA\tx\ty\n")
    assert "\x1b" not in mmdyn("convert", file, "-o", tmp_path / "a", status=2).stderr
    assert "\x1b" not in mmdyn("convert", file, "-o", tmp_path / "b", "--skip-bad").stderr
    assert "\x1b" not in mmdyn("show", tmp_path / "b").stdout
    assert "\x1b" not in mmdyn("show", tmp_path / "b", "--json").stdout
    assert "\x1b" not in mmdyn("validate", file, status=2).stdout


def test_validate(folder: Path) -> None:
    summary = "2 samples (open_ended 1, single_choice 1; en 2), 1 with pictures (1 picture); problems: 0\n"
    assert mmdyn("validate", folder).stdout == summary
    (folder / image_ref(PNG)).unlink()
    listed = mmdyn("validate", folder, status=2).stdout.splitlines()
    assert listed[0].startswith(f"{folder}/samples.jsonl:1: image '{image_ref(PNG)}' is missing: put the file into ")
    assert listed[-1].endswith("problems: 1")
    found = json.loads(mmdyn("validate", folder, "--json", status=2).stdout)
    assert (found["samples"], found["problems"], found["listed"][0]["line"]) == (1, 1, 1)


def test_sample(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "one"
    arguments = ("sample", folder, "-o", out, "--limit", "1", "--by", "task_type,discipline", "--seed", "3")
    assert mmdyn(*arguments).stdout == f"{out}: 1 sample\n"
    assert mmdyn(*arguments).stdout == f"{out}: 1 sample\n"
    wrong = mmdyn("sample", folder, "-o", tmp_path / "two", "--limit", "1", "--by", "disciplne", status=2)
    assert "has the field 'disciplne' (did you mean 'discipline'?)" in wrong.stderr
    assert mmdyn("sample", folder, "-o", out, "--limit", "0", status=2).stderr.startswith("Usage: ")


def test_sample_that_covers_and_balances(tmp_path: Path) -> None:
    hard = {"difficulty": "hard"}
    samples = [choice(f"q{n}", knowledge_points=(f"p{n % 3}",), fields=hard if n < 2 else {}) for n in range(6)]
    given, out = write_set(tmp_path / "set", samples).folder, tmp_path / "mini"
    arguments = ("sample", given, "-o", out, "--cover", "knowledge_points", "--balance", "difficulty", "--limit", "4")
    for _ in range(2):
        assert mmdyn(*arguments).stdout == (
            f"{out}: 4 samples\n"
            "knowledge_points: 3 of 3 covered, which took 3 samples\n"
            "difficulty: none 4, hard 2 before, none 2, hard 2 after\n"
        )
    assert mmdyn("sample", given, "-o", tmp_path / "few", "--cover", "knowledge_points").stdout == (
        f"{tmp_path / 'few'}: 3 samples\nknowledge_points: 3 of 3 covered, which took 3 samples\n"
    )
    small = mmdyn("sample", given, "-o", tmp_path / "no", "--cover", "knowledge_points", "--limit", "2", status=2)
    said = "to cover all knowledge_points takes 3 samples and --limit is 2: raise it, or leave it out"
    assert small.stderr == f"mmdyn: {said}\n"
    for wrong, said in (
        (("--balance", "difficulty"), "say how many samples: --limit 100"),
        (("--cover", "knowledge_points", "--by", "difficulty"), "choose one of them"),
    ):
        assert said in mmdyn("sample", given, "-o", tmp_path / "no", *wrong, status=2).stderr
