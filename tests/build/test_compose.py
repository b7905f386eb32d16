"""Questions composed of statements: what holds of every one, what is refused, and what solvers earn that see only the options."""

import json
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from benchmarks.real_sets import source
from composing import composed, spec_of
from shell import mmdyn

from mmdyn.build import ComposeSpec, compose_sweep
from mmdyn.build.compose import sample_of
from mmdyn.build.step import Draws
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.sample import Sample

NUMERALS = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi"]


def bank(
    folder: Path, true: int = 60, false: int = 60, subjects: tuple[str, ...] = ("law",), seed: int = 0, **more
) -> Path:
    """A bank in which every false statement is a falsification of a true one, as far as there are some."""
    rng, lines = random.Random(seed), []
    for subject in subjects:
        lines += [
            {"id": f"{subject}-{k}", "text": f"{subject} holds {k}", "label": True, "discipline": subject, **more}
            for k in range(true)
        ]
        for k in range(false):
            pair = {"pair": f"{subject}-{k % true}"} if true else {}
            lines.append(
                {
                    "id": f"{subject}-f{k}",
                    "text": f"{subject} denies {k}",
                    "label": False,
                    "discipline": subject,
                    **pair,
                    **more,
                }
            )
    rng.shuffle(lines)
    file = folder / "bank.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def near(one: set[int], other: set[int]) -> bool:
    """Whether one place was swapped, added or left out."""
    return len(one ^ other) == 1 or (len(one) == len(other) and len(one ^ other) == 2)


def check(sample: Sample, spec: ComposeSpec, origins: dict[str, str]) -> None:
    """What holds of every composed choice."""
    ids, true, sets = (sample.meta[name] for name in ("statements", "true", "sets"))
    sets = [set(one) for one in sets]
    low, high = (int(end) for end in spec.statements.split("-"))
    assert low <= len(ids) <= high and len(set(ids)) == len(ids) == len(true)
    low, high = (int(end) for end in spec.options.split("-"))
    assert low <= len(sets) == len(sample.options) <= high
    low, high = (int(end) for end in spec.combination.split("-"))
    assert all(low <= len(one) <= high for one in sets)
    assert len({frozenset(one) for one in sets}) == len(sets)
    assert len({len(one) for one in sets}) > 1
    assert all(any(near(one, other) for other in sets) for one in sets)
    right = {place for place, label in enumerate(true) if label == (sample.fields["asked"] == "correct")}
    assert [option.label for option, one in zip(sample.options, sets, strict=True) if one == right] == list(
        sample.answer
    )
    assert len({origins[id] for id in ids}) == len(ids)
    comma = "、" if sample.language == "zh" else ", "
    assert [option.text for option in sample.options] == [
        comma.join(NUMERALS[place] for place in sorted(one)) for one in sets
    ]
    lines = sample.question.split("\n\n", 1)[1].split("\n")
    assert [line.partition(". ")[0] for line in lines] == NUMERALS[: len(ids)]


@pytest.mark.parametrize("seed", range(20))
def test_what_holds_of_every_question(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    true, false = rng.randrange(14, 80), rng.randrange(14, 80)
    file = bank(
        tmp_path, true, false, ("law", "art", "tea")[: rng.randrange(1, 4)], seed, language=rng.choice(["en", "zh"])
    )
    origins = {line["id"]: line.get("pair") or line["id"] for line in map(json.loads, file.read_text().splitlines())}
    options, statements, combination = rng.choice(
        [("4-8", "8-10", "2-4"), ("2-10", "6-16", "1-5"), ("10-11", "4-5", "2-4")]
    )
    spec = spec_of(
        questions=50, seed=seed, statements=statements, options=options, combination=combination, share_by="field"
    )
    made = composed(file, tmp_path / "out", spec)
    samples = list(made)
    assert len(samples) >= 50
    for sample in samples:
        check(sample, spec, origins)


def test_questions_are_in_proportion_to_the_bank_rounded_up(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": f"{subject}{k}", "text": f"{subject} {k}", "label": k % 2 == 0, "discipline": subject})
        for subject, count in (("law", 40), ("art", 30), ("tea", 31))
        for k in range(count)
    ]
    (tmp_path / "bank.jsonl").write_text("\n".join(lines))
    made = composed(tmp_path / "bank.jsonl", tmp_path / "out", spec_of(questions=100))
    assert made.manifest.made["summary"]["subjects"] == {"art (en)": 30, "law (en)": 40, "tea (en)": 31}
    assert Counter(sample.fields["discipline"] for sample in made) == {"art": 30, "law": 40, "tea": 31}


def test_the_same_seed_is_the_same_set(tmp_path: Path) -> None:
    file = bank(tmp_path)
    first = composed(file, tmp_path / "a", spec_of(questions=30))
    assert composed(file, tmp_path / "b", spec_of(questions=30)).manifest.digest == first.manifest.digest
    other = composed(file, tmp_path / "c", spec_of(questions=30, seed=1))
    assert not {tuple(one.meta["statements"]) for one in first} & {tuple(one.meta["statements"]) for one in other}


def test_polarities_and_words_vary(tmp_path: Path) -> None:
    made = list(composed(bank(tmp_path), tmp_path / "out", spec_of(questions=200)))
    asked = Counter(one.fields["asked"] for one in made)
    assert set(asked) == {"correct", "incorrect"} and min(asked.values()) > 70
    assert len({one.question.partition("\n")[0] for one in made}) > 40
    only = composed(tmp_path / "bank.jsonl", tmp_path / "only", spec_of(questions=20, asked="incorrect"))
    assert {one.fields["asked"] for one in only} == {"incorrect"}


def test_single_statements_and_claims(tmp_path: Path) -> None:
    file = bank(tmp_path)
    single = list(composed(file, tmp_path / "single", spec_of(questions=100, form="statement")))
    assert {one.task_type for one in single} == {"true_false"}
    assert len({one.meta["statements"][0] for one in single}) == 100
    assert all(one.answer == one.meta["true"][0] for one in single)
    claims = list(composed(file, tmp_path / "claims", spec_of(questions=100, form="claim")))
    assert 35 <= sum(bool(one.answer) for one in claims) <= 65
    for one in claims:
        asked = one.fields["asked"] == "correct"
        right = {place for place, label in enumerate(one.meta["true"]) if label == asked}
        assert (set(one.meta["sets"][0]) == right) == one.answer


@pytest.mark.slow
def test_solvers_that_see_only_the_options_earn_chance(tmp_path: Path) -> None:
    summary = composed(bank(tmp_path), tmp_path / "out", spec_of(questions=3000)).manifest.made["summary"]
    blind = summary["blind_solvers"]
    limit = blind.pop("chance and three standard errors")
    linked = [blind.pop(name) for name in sorted(blind) if name.startswith("linked")]
    assert 0.175 < blind.pop("chance") < 0.18 and len(blind) == 6
    assert max(blind.values()) <= limit < 0.2
    assert min(linked) > 0.99, "225 uses of each statement: what questions share solves them all"


def test_what_is_shared_with_another_set_is_told_and_bounded(tmp_path: Path) -> None:
    file = bank(tmp_path)
    first = composed(file, tmp_path / "a", spec_of(questions=100))
    again = composed(file, tmp_path / "b", spec_of(questions=100), name="b", avoid=[tmp_path / "a"])
    most = Counter[str]()
    for one in again:
        shared = (len({*one.meta["origins"]} & {*other.meta["origins"]}) for other in first)
        most[str(max(shared))] += 1
    assert again.manifest.made["summary"]["overlap"] == {
        "equal": 0,
        "questions_by_most_shared": dict(sorted(most.items())),
    }
    bounded = composed(file, tmp_path / "c", spec_of(questions=100, max_shared=3), avoid=[tmp_path / "a"])
    shared = bounded.manifest.made["summary"]["overlap"]
    assert shared["equal"] == 0 and set(shared["questions_by_most_shared"]) <= {"0", "1", "2", "3"}
    with pytest.raises(UserError, match="that shares at most 0 statements with another set's was found in 200 draws"):
        composed(file, tmp_path / "d", spec_of(questions=100, max_shared=0), avoid=[tmp_path / "a"])
    assert not (tmp_path / "d").exists()


def test_a_sweep_is_a_set_for_every_value(tmp_path: Path) -> None:
    sweep = ["options=4-6", "seed=0-1"]
    made = list(compose_sweep(bank(tmp_path), tmp_path / "out", spec_of(questions=10), sweep, name="k"))
    assert [one.name for one in made] == [f"k-options-{k}-seed-{s}" for k in (4, 5, 6) for s in (0, 1)]
    assert {len(sample.options) for sample in SampleSet(tmp_path / "out" / "options-5-seed-1")} == {5}
    with pytest.raises(UserError, match=r"--sweep option=4: 'option' is not swept \(did you mean 'options'\?\)"):
        list(compose_sweep(tmp_path / "bank.jsonl", tmp_path / "x", spec_of(), ["option=4"]))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"id": "a"}, "the key 'text' is missing"),
        ({"id": "a", "text": "x", "label": "true"}, "label must be true or false"),
        ({"id": "a", "text": " ", "label": True}, "the id or the text is empty"),
        ({"id": "law-0", "text": "x", "label": True}, "the id 'law-0' stands in line"),
        ({"id": "a", "text": "x", "label": True, "pair": "law-0"}, "a true statement has no pair"),
        ({"id": "a", "text": "x", "label": True, "lable": 1}, "unknown key 'lable' .did you mean 'label'"),
    ],
)
def test_bad_statements_are_named_by_their_line(tmp_path: Path, line: dict, told: str) -> None:
    file = bank(tmp_path)
    with file.open("a") as more:
        more.write(json.dumps(line) + "\n")
    with pytest.raises(InputError, match=told) as error:
        composed(file, tmp_path / "out", spec_of(questions=10))
    assert "bank.jsonl:121:" in str(error.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"statements": "x"}, "--statements x is no number or range"),
        ({"statements": "9-8"}, "--statements 9-8 is no number or range"),
        ({"options": "1-4"}, "--options 1-4: give 2 to 26"),
        ({"combination": "2-9"}, "an option holds no more statements than a question has"),
        ({"statements": "4", "options": "12"}, "4 statements make fewer than 12 options"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(tmp_path: Path, given: dict, told: str) -> None:
    with pytest.raises(UserError, match=told):
        composed(bank(tmp_path), tmp_path / "out", spec_of(**given))


def test_a_bank_that_is_too_small_is_told_with_what_fits(tmp_path: Path) -> None:
    file = bank(tmp_path, true=9, false=9, subjects=("law", "art"))
    with pytest.raises(
        UserError, match=r"2 of 2 subjects .*law \(en\) has 9 true and 9 false ones.*--statements 9 fits all"
    ):
        composed(file, tmp_path / "out", spec_of(questions=10))
    done = mmdyn("compose", file, "-o", tmp_path / "out", "--questions", 10, "--allow-pairs", "--statements", 8,
                 "--max-uses", 20)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "questions of" in done.stderr and "most frequent statements, by sum:" in done.stderr


def test_real_statements(tmp_path: Path) -> None:
    lines = (source("statements") / "dev" / "creak.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    made = [{"id": row["ex_id"], "text": row["sentence"], "label": row["label"] == "true"} for row in rows]
    (tmp_path / "bank.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, made)))
    origins = {row["id"]: row["id"] for row in made}
    for seed in range(3):
        for sample in composed(tmp_path / "bank.jsonl", tmp_path / str(seed), spec_of(questions=100, seed=seed)):
            check(sample, spec_of(), origins)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["correct", "incorrect"])
def test_the_right_option_is_of_any_size_though_statements_of_a_polarity_are_few(tmp_path: Path, asked: str) -> None:
    """Where all were drawn anew until a question could be filled, the shortest option was right in a quarter of all."""
    file = bank(tmp_path, true=4, false=12)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if line["id"] >= "law-f4" or line["id"] in ("law-f10", "law-f11"):
            line.pop("pair", None)
        if asked == "incorrect":
            line["label"] = not line["label"]
            if line["label"]:
                line.pop("pair", None)
            elif line["id"] in {f"law-{k}" for k in range(4)}:
                line["pair"] = f"law-f{line['id'][-1]}"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    spec = spec_of(questions=2000, statements="8", asked=asked)  # type: ignore[arg-type]
    blind = composed(file, tmp_path / "out", spec).manifest.made["summary"]["blind_solvers"]  # type: ignore[index, call-overload]
    limit = blind["chance and three standard errors"]
    assert max(blind["shortest"], blind["longest"], blind["most frequent statements, by mean"]) <= limit


def test_the_order_of_the_bank_does_not_matter(tmp_path: Path) -> None:
    file = bank(tmp_path)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(sorted(file.read_text().splitlines(keepends=True))))
    assert other.read_text() != file.read_text()
    made = [composed(one, tmp_path / one.stem, spec_of(questions=30), name="x") for one in (file, other)]
    assert list(made[0]) == list(made[1])


def test_as_many_statements_as_the_largest_option_names(tmp_path: Path) -> None:
    made = list(compose_sweep(bank(tmp_path), tmp_path / "out", spec_of(questions=20), ["statements=4-5"]))
    assert [{len(sample.meta["statements"]) for sample in one} for one in made] == [{4}, {5}]  # type: ignore[arg-type]


def test_single_statements_are_bounded_by_other_sets_too(tmp_path: Path) -> None:
    file, spec = bank(tmp_path), spec_of(questions=20, form="statement")
    first = composed(file, tmp_path / "a", spec)
    again = composed(file, tmp_path / "b", spec, name="b", avoid=[first.folder])
    ids = [{one.meta["origins"][0] for one in each} for each in (first, again)]
    same = sum(one.meta["origins"][0] in ids[0] for one in again)
    assert again.manifest.made["summary"]["overlap"]["equal"] == same > 0  # type: ignore[index, call-overload]
    words = ("--form", "statement", "--questions", 20, "--avoid", first.folder, "--max-shared", 0)
    assert mmdyn("compose", file, "-o", tmp_path / "c", *words).returncode == 0
    ids = [{one.meta["statements"][0] for one in each} for each in (first, SampleSet(tmp_path / "c"))]  # type: ignore[index]
    assert len(ids[1]) == 20 and not ids[0] & ids[1]
    done = mmdyn("compose", file, "-o", tmp_path / "d", *words[:2], "--questions", 200, *words[4:])
    assert done.returncode == 2 and "and near copies and share as few with another set: ask" in done.stderr


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"questions": 0}, "--questions 0: give 1 or more"),
        ({"statements": "40"}, "numerals go up to 39"),
        ({"max_shared": 3}, "name them by --avoid"),
    ],
)
def test_what_would_be_ignored_or_break_is_told(tmp_path: Path, given: dict, told: str) -> None:
    with pytest.raises(UserError, match=told):
        composed(bank(tmp_path), tmp_path / "out", spec_of(**given))
    assert not (tmp_path / "out").exists()


def test_a_sweep_writes_nothing_where_the_bank_is_too_small_for_one_set(tmp_path: Path) -> None:
    file = bank(tmp_path, true=10, false=10)
    with pytest.raises(UserError, match="too few statements for questions of 11"):
        list(compose_sweep(file, tmp_path / "out", spec_of(questions=5), ["statements=9-11"]))
    with pytest.raises(UserError, match="options is swept twice"):
        list(compose_sweep(file, tmp_path / "out", spec_of(questions=5), ["options=4", "options=5"]))
    assert not (tmp_path / "out").exists()


def test_a_statement_of_several_lines_stands_in_one() -> None:
    texts = ["One\n  ii. two", "Three  four"]
    made = sample_of(
        "choice",
        texts,
        Draws("x"),
        id="q",
        language="en",
        fields={},
        meta={},
        correct=True,
        sets=[1, 2],
        right=0,
        upper=False,
    )
    assert made.question.split("\n")[2:] == ["i. One ii. two", "ii. Three  four"]
