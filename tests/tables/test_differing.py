"""What else differs between the sides of a contrast, and which variants are missing from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answer, answers, change, changes, rows, write_run

from mmdyn.record import Condition, Record, Reply
from mmdyn.table import Paired
from mmdyn.tables import Row, report, tabulate
from mmdyn.tables.factors import NOT_GIVEN

SHUFFLE = Condition("dynamic", "shuffle")
KPRAG, INLINE = Condition(context="kprag"), Condition(context="kprag:inline")
TOLD = {"kprag direct": "", "kprag:inline direct": "First elaborate."}


def contrasts(folder: Path, *groups: list[Record], **config: Any) -> dict[str, Row]:
    """By chain or by the two sides."""
    found = changes(report(write_run(folder / "run", [record for group in groups for record in group], **config)))
    chains = [row.factors.get("chain", NOT_GIVEN) for row in found]
    sides = [f"{row.factors['a']} {row.factors['b']}" for row in found]
    return {two if chain == NOT_GIVEN else chain: row for chain, two, row in zip(chains, sides, found, strict=True)}


def test_it_is_named_where_a_model_is_told_to_reply_in_other_words(tmp_path: Path) -> None:
    groups = [answers("10", condition) for condition in (Condition(), KPRAG, INLINE)]
    found = contrasts(tmp_path, *groups, instructions=TOLD)
    assert {name: each.differs for name, each in found.items()} == {
        "none kprag": (), "none kprag:inline": ("instruction",), "kprag kprag:inline": ("instruction",)
    }  # fmt: skip
    unknown = contrasts(tmp_path / "predicted", *groups)
    assert {each.differs for each in unknown.values()} == {("instruction (not recorded)",)}


def test_a_style_is_an_instruction_and_is_not_named_twice(tmp_path: Path) -> None:
    told = TOLD | {"kprag:inline cot": "First elaborate, then think."}
    found = contrasts(tmp_path, answers("10", INLINE), answers("11", replace(INLINE, style="cot")), instructions=told)
    assert found["direct cot"].differs == ()


def test_of_predictions_it_is_not_known_how_a_model_was_told_to_reply(tmp_path: Path) -> None:
    predicted = write_run(tmp_path / "predicted", answers("10", KPRAG))
    asked = write_run(tmp_path / "asked", answers("11", KPRAG), instructions=TOLD)
    assert change(report(predicted, asked)).differs == ("instruction (not recorded)",)
    again = write_run(tmp_path / "again", answers("11", KPRAG))
    assert change(report(predicted, again)).differs == ()


def test_forms_turns_and_pictures_are_those_of_the_records(tmp_path: Path) -> None:
    """What a chain is there to change is not named: of shuffle the form, of pad the pictures."""
    standard = answers("1100", pictures="aa")
    cases: list[tuple[Condition, dict[str, Any], tuple[str, ...]]] = [
        (SHUFFLE, {"pictures": "aa"}, ()),
        (SHUFFLE, {"pictures": "aa", "task_type": "true_false"}, ()),
        (SHUFFLE, {"pictures": "bb"}, ("pictures",)),
        (SHUFFLE, {}, ()),
        (SHUFFLE, {"expansion": "xx", "pictures": "bb"}, ("turns", "pictures")),
        (DYNAMIC, {"pictures": "bb"}, ()),
        (DYNAMIC, {"pictures": "bb", "task_type": "true_false"}, ("form",)),
        (Condition("dynamic", "shuffle+pad"), {"pictures": "bb", "task_type": "true_false"}, ()),
        (Condition("dynamic", "of another program"), {"pictures": "bb", "task_type": "true_false"}, ("form", "pictures")),
    ]  # fmt: skip
    for place, (condition, more, differs) in enumerate(cases):
        (row,) = contrasts(tmp_path / str(place), standard, answers("1000", condition, **more)).values()
        assert row.differs == differs, place
    some = [*answers("100.", SHUFFLE, pictures="aa"), *answers("...0", SHUFFLE, pictures="")]
    sent = [replace(one, reply=Reply("A", changed="smaller")) for one in answers("1000", SHUFFLE, pictures="aa")]
    for name, dynamic in {"some": some, "sent": sent}.items():
        assert contrasts(tmp_path / name, standard, dynamic)["shuffle"].differs == ("pictures",), name


def test_what_only_one_side_answered_is_no_difference(tmp_path: Path) -> None:
    """Two draws have pictures of their own, and one answer of one side failed."""
    condition = replace(DYNAMIC, context="kprag")
    first, second = {"draw": 0, "pictures": "aa"}, {"draw": 1, "pictures": "bb"}

    def between(name: str, *groups: list[Record]) -> Row:
        records = [record for group in groups for record in group]
        return change(report(write_run(tmp_path / name, records, instructions=TOLD)), factor="context")

    whole_a, whole_b = (answers("10", one, **first) + answers("10", one, **second) for one in (DYNAMIC, condition))
    part_a, part_b = (answers("10", one, **first) + answers("1x", one, **second) for one in (DYNAMIC, condition))
    for name, groups in {"b": (whole_a, part_b), "a": (part_a, whole_b)}.items():
        found = between(name, *groups)
        assert (found.differs, found.n, found.failed, found.variants_left_out) == ((), 2, 1, 1), name
    assert between("other", whole_a, answers("11", condition, draw=0, pictures="cc")).differs == ("pictures",)


def test_variants_that_a_compared_parent_lacks_are_counted(tmp_path: Path) -> None:
    """Of three parents with two chains, of which shuffle has two draws: s02 has no variant and is left out itself."""
    pad, shuffle = answers("1x.", DYNAMIC), [*answers("10.", SHUFFLE), *answers("1..", SHUFFLE, draw=1)]
    found = contrasts(tmp_path, answers("111"), pad, shuffle)
    counts = {name: (each.n, each.left_out, each.variants_left_out) for name, each in found.items()}
    assert counts == {"pad": (1, 2, 0), "shuffle": (2, 1, 1), "all": (2, 1, 2)}
    second = answers("xx", DYNAMIC, draw=1)
    assert contrasts(tmp_path / "x", answers("11"), answers("11", DYNAMIC), second)["pad"].variants_left_out == 2


def test_none_is_counted_where_none_is_missing(tmp_path: Path) -> None:
    pad, shuffle = answers("11", DYNAMIC), [*answers("10", SHUFFLE), *answers("1x", SHUFFLE, epoch=1)]
    found = contrasts(tmp_path, answers("1110"), pad, shuffle)
    assert {each.variants_left_out for each in found.values()} == {0}, "an epoch that failed is among the failed"
    assert contrasts(tmp_path / "x", answers("1x"), answers("x1", DYNAMIC))["pad"].variants_left_out == 0


def test_missing_variants_are_counted_by_cell(tmp_path: Path) -> None:
    fields = [{"grade": grade} for grade in (7, 8)]
    records = [answer(f"p{n}", 1.0, fields=fields[n]) for n in (0, 1)]
    records += [answer(f"p{n}", 1.0, DYNAMIC, fields=fields[n]) for n in (0, 1)]
    records += [answer("p0", 1.0, SHUFFLE, fields=fields[0])]
    pooled = changes(report(write_run(tmp_path / "run", records), by=["grade"]), by="grade", chain="all")
    assert {row.factors["grade"]: row.variants_left_out for row in pooled} == {"7": 0, "8": 1}


@pytest.mark.parametrize("size", [1, 1000])
def test_many_parents_are_told_apart(tmp_path: Path, size: int) -> None:
    """A parent's pictures are not another's, however many there are."""
    asked = [(Condition(), 0), (Condition("dynamic", "paraphrase"), 0), (SHUFFLE, 1)]
    records = [
        answer(f"p{n}", 1.0, condition, pictures=f"a{n + more}") for condition, more in asked for n in range(size)
    ]
    found = contrasts(tmp_path, records)
    assert {chain: row.differs for chain, row in found.items()} == {
        "paraphrase": (), "shuffle": ("pictures",), "all": ("pictures",)
    }  # fmt: skip


def test_a_question_does_not_lack_the_variants_of_another_set(tmp_path: Path) -> None:
    """Of set other there are two draws of a chain; of group g the two sides are different questions."""
    records = [*answers("11"), *answers("11", DYNAMIC)]
    records += [
        *answers("11", set="other"),
        *(one for draw in (0, 1) for one in answers("11", SHUFFLE, set="other", draw=draw)),
    ]
    run = write_run(tmp_path / "run", records)
    pooled = tabulate([run], [Paired("variant", "standard", "dynamic")])
    (row,) = rows(pooled, "paired", "difference")
    assert (row.n, row.variants_left_out) == (4, 0)
    groups = [
        answer(f"{name}{n}", 1.0, fields={"language": name}, language=name, group=f"g{n}")
        for name in ("en", "zh")
        for n in range(3)
    ]
    paired = Paired(factor="language", a="en", b="zh", pair="group")
    (row,) = rows(tabulate([write_run(tmp_path / "groups", groups)], [paired]), "paired", "difference")
    assert (row.n, row.variants_left_out) == (3, 0)
