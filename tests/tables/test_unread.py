"""What replies that were not read mean for numbers: how far a judge could move them, which changes they make, and what
token counts say of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from making_runs import DYNAMIC, SETS, answers, change, score, write_run
from msgspec.structs import replace
from running import typed

from mmdyn import RunFolder, report, why
from mmdyn.data import ChainStrength
from mmdyn.record import Condition, Record, Usage
from mmdyn.stats import wilson
from mmdyn.tables import Report, brief_lines, doubts, score_text, state_lines, table_charts, verdict_of

INVERT, SHUFFLE = Condition("dynamic", "invert"), Condition("dynamic", "shuffle")
MOSTLY = "mostly unread: over half of the change is unread replies, and what was read shows no significant one"


def open_to_a_judge(records: list[Record]) -> list[Record]:
    """The same, of which a judge may still settle what was not read."""
    return [
        replace(one, score=replace(one.score, needs_judge=True)) if one.score and one.score.status != "ok" else one
        for one in records
    ]


def waiting(records: list[Record], count: int) -> list[Record]:
    """The same, of which the last ones were read, but not surely."""
    last = [replace(one, score=replace(one.score, needs_judge=True)) for one in records[-count:] if one.score]
    return [*records[:-count], *last]


def asked(folder: Path, *records: list[Record], **config: Any) -> Report:
    return report(write_run(folder / "run", [one for some in records for one in some], **config))


def told(found: Report) -> list[str]:
    return [line for line in doubts(found) if " a judge" in line]


UNREAD = "answers were not read (or cut off): no interval or p allows for a judge"
WAITS = "answers wait for a judge: intervals and p hold for every verdict"


def test_unread_answers_are_in_no_interval_and_that_is_said(tmp_path: Path) -> None:
    found = asked(tmp_path, answers("1" * 40), open_to_a_judge(answers("1" * 20 + "u" * 20, DYNAMIC)))
    row = score(found, variant="dynamic")
    assert (row.value, row.judged, row.at_most, row.gain) == (0.5, None, 1.0, 0.5)
    assert row.ci95 == pytest.approx(wilson(0.5, 40), abs=1e-6)
    assert score_text(row) == "50 [35, 65] (up to 100 with unread replies judged)"
    assert told(found) == [f"20 {UNREAD}: one could raise dynamic pad (m1 on exam) from 50 to at most 100"]
    assert "20 answers need a judge and had none (20 of them were not read);" in "".join(state_lines(found.runs[0]))


def test_what_waits_and_what_was_not_read_are_counted_apart(tmp_path: Path) -> None:
    varied = waiting(open_to_a_judge(answers("1" * 20 + "u" * 16 + "0" * 4, DYNAMIC)), 4)
    found = asked(tmp_path, answers("1" * 40), varied)
    row = score(found, variant="dynamic")
    assert (row.value, row.judged, row.at_most, row.needs_judge) == (0.5, (0.5, 0.6), 1.0, 20)
    assert score_text(row).endswith("(50 to 60 once judged, up to 100 with unread replies judged)")
    assert told(found) == [
        f"4 {WAITS}",
        f"16 {UNREAD}: one could raise dynamic pad (m1 on exam) from 50 to at most 100",
    ]
    text = " ".join(typed("report", tmp_path / "run", "-q").stdout.split())
    assert "some answers were read, but are not judged yet: intervals and p hold for every verdict on them" in text
    assert "judge of replies that were not read; with it, scores are at most: m1, exam, dynamic pad 100.0" in text


def test_where_all_that_waits_was_read_nothing_else_is_said(tmp_path: Path) -> None:
    found = asked(tmp_path, answers("1" * 20), waiting(answers("1" * 18 + "00", DYNAMIC), 2))
    row = score(found, variant="dynamic")
    assert (row.judged, row.at_most, row.gain) == ((0.9, 1.0), None, 0.0)
    assert told(found) == [f"2 {WAITS}"] and "unread" not in score_text(row)


def test_a_gain_below_a_point_is_in_the_row_alone(tmp_path: Path) -> None:
    found = asked(tmp_path, open_to_a_judge(answers("1" * 104 + "0" * 1 + "u")), answers("1" * 106, DYNAMIC))
    row = score(found, variant="standard")
    assert (row.at_most, row.gain) == (pytest.approx(105 / 106, abs=1e-6), 0.0) and "unread" not in score_text(row)
    assert told(found) == ["1 answer was not read (or cut off): no interval or p allows for a judge"]


def test_an_empty_reply_needs_no_judge_and_a_refused_one_may(tmp_path: Path) -> None:
    empty = answers("1" * 10 + "u" * 5)
    refused = open_to_a_judge(answers("1" * 12 + "r" * 3, DYNAMIC))
    found = asked(tmp_path, empty, refused)
    assert [score(found, variant=name).at_most for name in ("standard", "dynamic")] == [None, 1.0]
    assert told(found) == [f"3 {UNREAD}: one could raise dynamic pad (m1 on exam) from 80 to at most 100"]


def test_an_answer_that_was_cut_off_waits_for_no_judge(tmp_path: Path) -> None:
    cut = [
        replace(one, reply=replace(one.reply, finish_reason="length")) for one in waiting(answers("1" * 18 + "00"), 2)
    ]
    found = asked(tmp_path, cut)
    row = score(found)
    assert (row.judged, row.at_most, found.runs[0].waits, found.runs[0].needs_judge) == (None, 1.0, 0, 2)


def test_over_all_chains_the_most_is_the_mean_of_the_chains(tmp_path: Path) -> None:
    pad = open_to_a_judge(answers("1" * 10 + "u" * 10, DYNAMIC))
    found = asked(tmp_path, answers("1" * 20), pad, answers("1" * 6 + "0" * 4, SHUFFLE))
    assert score(found, chain="all").at_most == pytest.approx((1.0 + 0.6) / 2)
    assert score(found, chain="all").value == pytest.approx((0.5 + 0.6) / 2)
    (line,) = told(found)
    assert line.endswith(
        "one could raise dynamic pad (m1 on exam) from 50 to at most 100, and 1 more by a point or more"
    )


def falls(folder: Path, before: str, after: str, **more: Any) -> Report:
    return asked(folder, answers(before, **more), answers(after, DYNAMIC, **more))


@pytest.mark.parametrize(
    ("before", "after", "over_read", "verdict"),
    [
        ("1" * 40, "1" * 20 + "u" * 20, "mostly unread", "fell"),
        ("1" * 40, "u" * 40, "mostly unread", "fell"),
        ("1" * 20 + "u" * 20, "1" * 40, "mostly unread", "rose"),
        ("1" * 40, "1" * 12 + "0" * 20 + "u" * 8, "", "fell"),
        ("1" * 35 + "u" * 5, "1" * 10 + "0" * 25 + "u" * 5, "", "fell"),
        ("1" * 40, "1" * 10 + "0" * 30, "", "fell"),
        ("1" * 36 + "0" * 4, "000uu" + "1" * 31 + "0" * 4, "unclear", "fell"),
        ("1" * 36 + "0" * 4, "000uuu" + "1" * 30 + "0" * 4, "unclear", "fell"),
        ("u" * 3 + "1" * 37, "1" * 3 + "0" * 3 + "u" * 2 + "1" * 32, "", "No significant change"),
    ],
)
def test_a_change_that_is_mostly_unread_is_no_change_of_knowledge(
    before: str, after: str, over_read: str, verdict: str, tmp_path: Path
) -> None:
    found = falls(tmp_path, before, after)
    row = change(found)
    assert row.over_read == over_read and row.is_clear == (row.is_significant and over_read != "mostly unread")
    said = verdict_of(row)
    assert verdict in said and ("mostly with unread replies" in said) == (over_read == "mostly unread")
    assert ("over the answers that were read there is no significant" in said) == bool(over_read)
    assert any(line == f"pad (m1 on exam): {MOSTLY}" for line in doubts(found)) == (over_read == "mostly unread")
    drawn = table_charts(found.parts)["changes"]
    assert [point.unread for point in drawn.points] == [over_read == "mostly unread"]
    hollow = [
        line
        for line in found.plot("changes").figure.axes[0].lines
        if (line.get_markerfacecolor(), line.get_zorder()) == ("white", 3)
    ]
    assert len(hollow) == (over_read == "mostly unread")
    assert drawn.axis.endswith("\nhollow: mostly unread") == (over_read == "mostly unread")


def test_a_chain_that_is_mostly_unread_takes_nothing(tmp_path: Path) -> None:
    """The larger fall is one of form; the smaller one is said to take most."""
    claims, turned = answers("1" * 10 + "u" * 30, DYNAMIC), answers("1" * 20 + "0" * 20, SHUFFLE)
    found = asked(tmp_path, answers("1" * 40), claims, turned)
    lines = brief_lines(found)
    assert [line.split(":")[0] for line in lines if "takes most" in line] == ["  shuffle takes most"]
    assert [change(found, chain=name).over_read for name in ("pad", "shuffle", "all")] == ["mostly unread", "", ""]
    through = next(part.lines for part in why(tmp_path / "run").sections if part.title == "Through which change")
    assert [line.text.split()[3] for line in through] == ["shuffle", "pad"]
    assert through[1].text.endswith("(10 pairs): mostly unread.") and "mostly" not in through[0].text
    text = typed("report", tmp_path / "run", "-q").stdout
    assert text.count("]?") == 1 and f"pad: (?) {MOSTLY}" in " ".join(text.split())
    for form, where in (
        ("latex", MOSTLY),
        ("markdown", MOSTLY),
        ("csv", ",mostly unread,"),
        ("json", '"mostly unread"'),
    ):
        printed = typed("report", tmp_path / "run", "--full", "--format", form, "-q").stdout
        assert where in printed, form
    assert MOSTLY in typed("report", tmp_path / "run", "-o", tmp_path / "page.html", "-q").stdout or MOSTLY in (
        tmp_path / "page.html"
    ).read_text("utf-8")


def test_the_viewer_s_dot_and_card_are_open(tmp_path: Path) -> None:
    from mmdyn.view.run import results

    found = results(falls(tmp_path, "1" * 40, "1" * 20 + "u" * 20))
    assert [one.way for one in found["headlines"]] == ["unclear"]
    assert [row[0].significant for _, chart in found["drops"] for row in chart.rows] == [False]


def test_by_a_field_a_change_is_marked_too(tmp_path: Path) -> None:
    fields = {"fields": {"part": "optics"}}
    run = write_run(tmp_path / "run", [*answers("1" * 40, **fields), *answers("1" * 20 + "u" * 20, DYNAMIC, **fields)])
    assert change(report(run, by=["part"]), by="part").over_read == "mostly unread"


def test_the_number_of_chains_stands_beside_the_change(tmp_path: Path) -> None:
    null = Condition("dynamic", "image.null")
    strength = {"pad": ChainStrength(20, 0.0, 0.4), "shuffle": ChainStrength(20, 0.0, 0.4)}
    sets = (SETS[0], replace(SETS[1], strength=strength | {"image.null": ChainStrength(20, 0.0, 1.0, role="null")}))
    every = [answers("1" * 20), *(answers("1" * 15 + "0" * 5, one) for one in (DYNAMIC, SHUFFLE))]
    found = asked(tmp_path, *every, answers("1" * 20, null), answers("1" * 3, INVERT), sets=sets)
    assert [change(found, chain=name).chains for name in ("pad", "image.null", "invert", "all")] == [1, 0, 0, 2]
    assert score(found, chain="all").chains == 2, "neither the null chain nor one of three questions counts"
    assert any(" points, mean over 2 chains, 20 pairs, " in line for line in brief_lines(found))
    assert ", mean over 2 chains, 20 questions" in why(tmp_path / "run").sections[0].lines[0].text
    assert "all: mean over 2 chains" in typed("report", tmp_path / "run", "-q").stdout
    alone = asked(tmp_path / "alone", answers("1" * 20), answers("1" * 15 + "0" * 5, DYNAMIC))
    assert "mean over" not in "".join(brief_lines(alone)) and change(alone).chains == 1


def test_a_dose_that_falls_is_not_held_back_by_a_chain_that_does_not(tmp_path: Path) -> None:
    """What does not count over all chains is no part of that test, which bounds nothing of it; nor does a null chain
    make the test of another run's chains harder."""
    strong, weak = (Condition("dynamic", f"substitute@{level}") for level in (1, 5))
    doses = dict.fromkeys(("substitute@1", "substitute@5"), ChainStrength(20, 0.1, 1.0, role="dose"))
    sets = (SETS[0], replace(SETS[1], strength={"pad": ChainStrength(20, 0.0, 0.4), **doses}))
    fell = [answers("1" * 20), answers("1" * 19 + "0", DYNAMIC), answers("0" * 15 + "1" * 5, strong)]
    found = asked(tmp_path, *fell, answers("1" * 20, weak), sets=sets)
    p = {name: change(found, chain=name).p_adjusted for name in ("pad", "substitute@1", "substitute@5", "all")}
    assert p["all"] == p["pad"] == 0.5 and (p["substitute@1"] or 1) < 0.001 and p["substitute@5"] == 1.0
    lines = [line.strip() for line in brief_lines(found)]
    assert lines[1].startswith("m1 on exam: standard 100 [84, 100]; dynamic all 95 [")
    assert lines[2].startswith("dynamic - standard -5 [") and ", of the one chain that counts over all, " in lines[2]
    assert lines[3].startswith("substitute@1 takes most: -75 [")
    assert "2 chains that do not count over all" in typed("report", tmp_path / "run", "-q").stdout


def test_where_no_chain_counts_the_surest_stands_in_front(tmp_path: Path) -> None:
    """Both sides of the headline, and the change below them, are of one chain, which is named."""
    strength = dict.fromkeys(("invert", "pad", "shuffle"), ChainStrength(20, 0.1, 0.5, role="subset"))
    sets = (SETS[0], replace(SETS[1], strength=strength))
    records = [answers("1" * 20), answers("0" * 2, INVERT), answers("0" * 15 + "1" * 5, DYNAMIC)]
    found = asked(tmp_path, *records, answers("1" * 20, SHUFFLE), sets=sets)
    lines = [line.strip() for line in brief_lines(found)]
    assert lines[1].startswith("m1 on exam: standard 100 [84, 100]; dynamic pad 25 [")
    assert lines[2].startswith("dynamic - standard -75 [") and " points, of pad alone, 20 pairs" in lines[2]
    assert ", of pad alone, 20 questions" in why(tmp_path / "run").sections[0].lines[0].text


BLIND = "pictures seem not to have been read"


def counted(records: list[Record], tokens: int = 60) -> list[Record]:
    """The same, asked with a picture that the server did not count."""
    return [
        replace(one, reply=replace(one.reply, usage=Usage(tokens, 5), estimate=60, image_count=1)) for one in records
    ]


@pytest.mark.parametrize(
    ("condition", "after", "model", "is_said"),
    [
        (INVERT, "1" * 10 + "0" * 30, "m1", False),
        (INVERT, "1" * 39 + "0", "m1", True),
        (SHUFFLE, "1" * 10 + "0" * 30, "m1", True),
        (Condition("dynamic", "invert+shuffle"), "1" * 10 + "0" * 30, "m1", True),
        (Condition("dynamic", "invert+pad"), "1" * 10 + "0" * 30, "m1", False),
        (INVERT, "1" * 10 + "0" * 30, "m2", True),
        (Condition("dynamic", "gone.away"), "1" * 10 + "0" * 30, "m1", True),
        (Condition(context="no-picture"), "1" * 10 + "0" * 30, "m1", False),
        (Condition(context="no-picture"), "1" * 40, "m1", True),
        (Condition(context="kprag"), "1" * 10 + "0" * 30, "m1", True),
    ],
)
def test_a_model_that_a_change_of_pictures_moved_has_seen_them(
    condition: Condition, after: str, model: str, is_said: bool, tmp_path: Path
) -> None:
    every = [counted(answers("1" * 40)), answers("1" * 40, model="m2"), answers(after, condition, model=model)]
    found = asked(tmp_path, *every)
    assert any(f"m1: {BLIND}" in line for line in doubts(found)) == is_said
    assert any(BLIND in line for line in state_lines(found.runs[0])) == is_said
    if is_said:
        (line,) = (line for line in doubts(found) if BLIND in line)
        tried = condition.context == "no-picture"  # then the doubt says what came of it
        assert ("leaving them out changed the score of standard questions not significantly" in line) == tried
        assert ("`mmdyn eval SET -m MODEL --mode standard --context none,no-picture` shows whether" in line) != tried


def test_pictures_are_seen_where_the_score_over_all_chains_did_not_change(tmp_path: Path) -> None:
    """A chain's p is adjusted by that over all chains, which says nothing of pictures."""
    more = (answers("1" * 40, Condition("dynamic", f"pad@{level}")) for level in (1, 2, 3, 4, 5))
    found = asked(tmp_path, counted(answers("1" * 40)), answers("1" * 33 + "0" * 7, INVERT), *more)
    assert not change(found, chain="invert").is_significant and (change(found, chain="invert").p or 1) < 0.05
    assert not any(BLIND in line for line in doubts(found))


def test_the_check_that_settles_whether_pictures_are_seen_is_an_open_question(tmp_path: Path) -> None:
    from making import choice, write_set

    run: RunFolder = write_run(tmp_path / "run", counted(answers("1" * 40)))
    write_set(run.folder / "sets/exam", [choice()], "exam")
    (line,) = (line for line in why(run).sections[-1].lines if "pictures" in line.text)
    assert [command.replace(str(run.folder), "RUN") for command in line.commands] == [
        "mmdyn eval RUN/sets/exam -m m1 -o RUN-pictures --mode standard --context none,no-picture"
    ]
    settled = (Condition(), Condition(context="no-picture"))
    again = write_run(tmp_path / "again", counted(answers("1" * 40)), conditions=settled)
    assert not any("see the pictures" in line.text for line in why(again).sections[-1].lines)
