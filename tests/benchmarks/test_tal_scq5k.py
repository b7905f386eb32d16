from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import bad, counts, made, real, source, texts, without

from mmdyn.plugins import load


def _options(*words: str) -> list[list[dict[str, str]]]:
    return [[{"aoVal": label, "content": text}] for label, text in zip("ABCDEFGH", words, strict=False)]


ROW = {
    "dataset_name": "prime_math_competition_en_single_choice_8K_dev",
    "qid": "1",
    "queId": "abc",
    "difficulty": "2",
    "problem": "How many?",
    "answer_option_list": _options("$$1$$ ", "$$2$$ ", "$$3$$ "),
    "knowledge_point_routes": ["Overseas Competition->Knowledge Point->Counting"],
    "answer_analysis": ["Count. "],
    "answer_value": "B",
}


def test_every_row_but_three_becomes_a_sample() -> None:
    assert counts("tal_scq5k") == {"single_choice": 1597}
    assert [(file, line) for file, line, _ in bad("tal_scq5k")] == [
        ("en.jsonl", 643),
        ("ch.jsonl", 177),
        ("ch.jsonl", 775),
    ]
    problems = [problem for _, _, problem in bad("tal_scq5k")]
    assert problems[0] == "option B says the same as a right one ('$$7$$ P.M.'): correct one of them"
    assert problems[1].startswith("a single_choice needs at least two options, 1 given")
    assert problems[2].startswith("option B says the same as a right one")


def test_both_languages() -> None:
    languages = [sample.language for sample in real("tal_scq5k").values()]
    assert (languages.count("en"), languages.count("zh")) == (799, 798)
    sizes = {len(sample.options) for sample in real("tal_scq5k").values()}
    assert sizes == {2, 3, 4, 5, 6, 7, 8}


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("en-9e628a2fc5f24d70bb2751113efbfdce", "told you that:\n($$1$$) Andy performed better than Bob.\n($$2$$) Cindy's"),
        ("en-2bb4ee4c28de4ac4978153c8ce363882", r"A meal was priced at $\$80$. The shop offered Jane the meal at a $40\%$"),
        ("en-be87698b58524a658ec8af43503295b4", "by $9$?\n$452 \\quad 387\\quad 1057\\quad 108\\quad 496\\quad 1233$"),
        ("en-b81f49ff92914d60a546bcd264ae17d1", r"$$\begin{cases}x-3=0 \\ 3x-2y=7 \end{cases}$$"),
        ("en-e3d4f71980834ae8bb5f25023a69417d", r"for all $s \notin\{p, q, r\}$."),
        ("en-67eea995ee504a68a52fff4e078f0adc", "was the $$8$$th pirate to climb"),
        ("en-e404d8f83eee406799672dc0d4716f25", '\nIvy said: "Vivian and Candy lied."\nVivian said: "I didn\'t lie."'),
        ("en-bf6c2542371a4d119fc19129e06abf81", "After ____ of water evaporates"),
        ("en-4424df0ee64643218fea8a7aa5932035", "(adapted from 2007 AMC 8, Question #17 )"),
        ("ch-1e69375093124e51858de5b1becc4d50", "$$a>b>c>d$$，那么$$b$$（ ）。"),
        ("ch-84a8ad3470834fda84506b305b9e9068", "则称这个数为“均衡数”．例如"),
        ("ch-ff8080814d043e7e014d097728971101", r"在代数式$$\left| a \right|$$，$$-a$$"),
        ("ch-e43f29d6fd524f478ab76bf392636f23", "定义在R上的偶函数f(x)满足:"),
        ("ch-7e734930ab144b07ba09066a2f1610a0", r"$$B=9876544\times 23456788$$，则（ ）．"),
    ],
)  # fmt: skip
def test_the_converters_traces_are_gone(id: str, words: str) -> None:
    assert words in real("tal_scq5k")[f"tal-scq5k-{id}"].question


def test_no_trace_is_left_anywhere() -> None:
    for sample in real("tal_scq5k").values():
        whole = " ".join([sample.question, *texts(sample)])
        for trace in (
            "\\textquotesingle",
            "\\textless",
            "\\textgreater",
            "\\textbar",
            "\\textbackslash",
            "\\uline",
            "~",
            "``",
        ):
            assert trace not in whole, (sample.id, trace)
        assert sample.question == sample.question.strip() and all(texts(sample))


def test_fields_and_knowledge() -> None:
    sample = real("tal_scq5k")["tal-scq5k-ch-1b594e6302f5494c915b18c219aba25e"]
    assert sample.fields == {
        "discipline": "math", "grade": "high", "level": 1, "difficulty": "easy", "modality": "text",
    }  # fmt: skip
    assert sample.knowledge_points == ("基本初等函数", "解三角形") and sample.answer == ("B",)
    assert sample.explanation.startswith("由已知方程得\n") and "$$\\sin A>0$$" in sample.explanation
    points = list(load("benchmarks", "tal_scq5k")().knowledge(source("tal_scq5k")))
    assert len(points) == len({(point.route, point.point) for point in points}) == 829
    assert points[0].point == "Logical Reasoning"
    assert points[0].route == ("Overseas Competition", "Knowledge Point", "Combinatorics")


@pytest.mark.parametrize(
    ("level", "difficulty"), [("0", "easy"), ("1", "easy"), ("2", "medium"), ("3", "hard"), ("4", "hard")]
)
def test_difficulty(tmp_path: Path, level: str, difficulty: str) -> None:
    [row] = made("tal_scq5k", tmp_path, {**ROW, "difficulty": level}, file="ch.jsonl")
    assert row.sample and row.sample.fields["difficulty"] == difficulty and row.sample.fields["level"] == int(level)


def test_null_is_as_good_as_none(tmp_path: Path) -> None:
    [row] = made(
        "tal_scq5k", tmp_path, {**ROW, "answer_analysis": None, "knowledge_point_routes": None}, file="en.jsonl"
    )
    assert row.sample and row.sample.explanation == "" and row.sample.knowledge_points == () and row.sample.meta == {}
    [bad] = made("tal_scq5k", tmp_path, {**ROW, "problem": None}, file="en.jsonl")
    assert bad.problem == "the key 'problem' is missing: add it"
    routes = {**ROW, "knowledge_point_routes": ["a->->b"]}
    made("tal_scq5k", tmp_path, routes, ROW, file="en.jsonl")
    assert [point.point for point in load("benchmarks", "tal_scq5k")().knowledge(tmp_path)] == ["Counting"]


@pytest.mark.parametrize(
    ("labels", "mended"),
    [
        (["A", "b.", "C", "D"], "The options' labels were written 'b.'."),
        (["A", r"$\mathrm{B}$", "C", "D"], "The options' labels were written '$\\\\mathrm{B}$'."),
        (["A", "B", "C", "F"], "Option D was labelled F."),
        (["A", "C", "B", "D"], "The options stood in the order A, C, B, D."),
    ],
)
def test_labels_are_put_right(tmp_path: Path, labels: list[str], mended: str) -> None:
    options = [[{"aoVal": label, "content": text}] for label, text in zip(labels, "1234", strict=True)]
    [row] = made("tal_scq5k", tmp_path, {**ROW, "answer_option_list": options}, file="en.jsonl")
    assert row.sample and row.sample.labels == tuple("ABCD") and row.sample.meta == {"mended": [mended]}
    assert texts(row.sample) == (["1", "3", "2", "4"] if labels[1] == "C" else ["1", "2", "3", "4"])


@pytest.mark.parametrize("labels", ["ABBD", "ABD", "ABCE", "1234"])
def test_labels_that_contradict_themselves(tmp_path: Path, labels: str) -> None:
    options = [[{"aoVal": label, "content": f"$${at}$$"}] for at, label in enumerate(labels)]
    [row] = made("tal_scq5k", tmp_path, {**ROW, "answer_option_list": options, "answer_value": "A"}, file="en.jsonl")
    assert "labelled" in row.problem


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer_value": "D"}, "the answer 'D' is no option: the options are A, B, C"),
        ({**ROW, "answer_value": "二"}, "the answer '二' is no option"),
        ({**ROW, "answer_option_list": _options("1", "2 ", "2")}, "option C says the same as a right one"),
        ({**ROW, "answer_option_list": [[]]}, "a list that is not of one option"),
        ({**ROW, "answer_option_list": _options("1", "", "2")}, "option B is empty"),
        ({**ROW, "difficulty": "5"}, "the difficulty '5' is not one of 0 to 4"),
        ({**ROW, "dataset_name": "other"}, "does not tell grade and language"),
        ({**ROW, "knowledge_point_routes": ["a->->b"]}, "has an empty level"),
        (without(ROW, "problem"), "the key 'problem' is missing: add it"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    good, found = made("tal_scq5k", tmp_path, {**ROW, "queId": "x"}, row, file="en.jsonl")
    assert good.sample and found.sample is None and found.line == 2
    assert problem in found.problem
