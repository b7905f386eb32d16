from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, made, real, texts

from making import picture

ROW = {
    "id": "Biology_MCQs-1", "subject": "Biology_MCQs", "year": "2019", "category": "（新课标Ⅰ）",
    "question": "3. (6 分) 如图所示, 下列叙述正确的是 ( )\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "answer": ["B"], "score": 6,
    "picture": ["images/a.png"], "analysis": "故选: B。",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for name in "abcd":
        (tmp_path / "images" / f"{name}.png").write_bytes(picture(text=name))
    return tmp_path


def test_every_row_becomes_a_sample() -> None:
    assert counts("gaokao_mm") == {"single_choice": 64, "multi_select": 8}
    assert bad("gaokao_mm") == []


def test_options_leave_the_stem() -> None:
    sample = real("gaokao_mm")["gaokao-mm-Biology_MCQs-0"]
    assert sample.question.startswith("水中氧含量随水温的升高而下降.") and sample.question.endswith(
        "变化趋势的曲线是 ( )"
    )
    assert texts(sample) == ["甲", "乙", "丙", "丁"]
    assert sample.answer == ("A",) and sample.points == 6 and sample.language == "zh"
    assert sample.fields == {"discipline": "biology", "year": 2010, "category": "新课标", "modality": "multimodal"}
    assert sample.explanation.endswith("故选: A。")
    assert len(sample.images) == 1 and not sample.options_in_image


def test_options_that_are_pictures_stay_in_the_pictures() -> None:
    # The four pictures print their own letters, in the order D, A, B, C: no picture may be given to a letter by its place.
    sample = real("gaokao_mm")["gaokao-mm-Physics_MCQs-164"]
    assert sample.options_in_image and sample.labels == tuple("ABCD") and texts(sample) == [""] * 4
    assert len(sample.images) == 4 and not any(option.image for option in sample.options)
    with_a_figure = real("gaokao_mm")["gaokao-mm-Chinese_Pratical_Lit-14"]
    assert with_a_figure.options_in_image and len(with_a_figure.images) == 5 and with_a_figure.answer == ("B",)
    pictured = [sample.id for sample in real("gaokao_mm").values() if sample.options_in_image]
    assert sorted(pictured) == [
        "gaokao-mm-Biology_MCQs-10", "gaokao-mm-Chemistry_MCQs-6", "gaokao-mm-Chinese_Pratical_Lit-14",
        "gaokao-mm-Math_MCQs-11", "gaokao-mm-Math_MCQs-50", "gaokao-mm-Physics_MCQs-160",
        "gaokao-mm-Physics_MCQs-164",
    ]  # fmt: skip


def test_options_that_are_rows_of_a_table() -> None:
    for id in ("gaokao-mm-Chemistry_MCQs-5", "gaokao-mm-Chemistry_MCQs-47"):
        sample = real("gaokao_mm")[id]
        assert texts(sample) == ["A", "B", "C", "D"] and not sample.options_in_image
        assert r"\end{tabular}" in sample.question


def test_questions_on_one_passage_share_a_group_and_keep_their_number() -> None:
    samples = real("gaokao_mm")
    seven, eight = (samples[f"gaokao-mm-Geography_MCQs-{number}"] for number in (116, 117))
    assert seven.group == eight.group == "gaokao-mm-geography-2017-新课标Ⅲ-7-9"
    assert seven.question.endswith("\n7. 夏季图示海域浮游植物密度自西向东 ( )")
    assert samples["gaokao-mm-Geography_MCQs-39"].group == "gaokao-mm-geography-2013-新课标Ⅱ-9-11"
    assert samples["gaokao-mm-Geography_MCQs-197"].group == "gaokao-mm-geography-2022-全国乙卷-fd0a0c76"
    assert samples["gaokao-mm-Chinese_Pratical_Lit-9"].group == "gaokao-mm-chinese-2018-新课标Ⅲ"
    assert samples["gaokao-mm-Biology_MCQs-0"].group is None


def test_a_made_row(folder: Path) -> None:
    [row] = made("gaokao_mm", folder, ROW)
    assert row.sample and row.sample.question == "如图所示, 下列叙述正确的是 ( )"
    assert row.sample.fields["category"] == "新课标Ⅰ"
    assert (folder / "set" / row.sample.images[0]).read_bytes() == picture(text="a")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"picture": []}, "names no picture"),
        ({"picture": ["images/z.png"]}, "'images/z.png' is missing"),
        ({"picture": ["../secret.png"]}, "leaves the folder"),
        ({"picture": ["/etc/passwd"]}, "leaves the folder"),
        ({"answer": ["E"]}, "the answer 'E' is no option: the options are A, B, C, D"),
        ({"answer": ["b?"]}, "the answer 'b?' is no option"),
        ({"subject": "Latin_MCQs"}, "begins with none of the set's subjects"),
        ({"year": "MMXIX"}, "the year 'MMXIX' is no number"),
        ({"score": 0}, "points is 0"),
        ({"id": "a~b"}, "which marks variants"),
        ({"question": "下列正确的是\nA. 甲\nB. 乙\nD. 丁"}, "do not run A, B, C, …"),
        ({"question": "下列正确的是\nA. 甲\nB. 乙\nC. 丙\nD. 乙"}, "option D says the same as a right one"),
    ],
)
def test_bad_rows(folder: Path, change: dict[str, object], problem: str) -> None:
    assert_refused("gaokao_mm", folder, ROW, {**ROW, "id": "x", **change}, problem)


def test_a_picture_that_is_none(folder: Path) -> None:
    (folder / "images" / "a.png").write_bytes(b"no picture at all")
    [row] = made("gaokao_mm", folder, ROW)
    assert row.problem.startswith("image 'images/a.png': not a picture that can be read")


def test_pictures_alone_and_a_table_alone(folder: Path) -> None:
    table = (
        r"正确的是 \begin{tabular}{|c|c|} \hline A & 甲 \\ \hline B & 乙 \\ \hline C & 丙 \\ \hline D & 丁 \\ \hline"
        r" \end{tabular}"
    )
    four = [f"images/{name}.png" for name in "abcd"]
    rows = made(
        "gaokao_mm",
        folder,
        {**ROW, "question": "下列正确的是", "picture": four},
        {**ROW, "id": "t", "question": table},
        {**ROW, "id": "u", "question": table.replace("hline C", "hline Z")},
    )
    assert rows[0].sample and rows[0].sample.options_in_image and len(rows[0].sample.images) == 4
    assert rows[1].sample and texts(rows[1].sample) == ["A", "B", "C", "D"]
    assert "the table's rows are A, B, D" in rows[2].problem
