"""The page of a question whose options moved: what was picked, where each option stood, and a pick that stayed."""

from __future__ import annotations

import re
from pathlib import Path

import mmdyn
from making import choice, write_set
from mmdyn.run import ConditionSpec
from mmdyn.view._page import Filter
from mmdyn.view.index import Catalog
from mmdyn.view.sample import page


def test_a_pick_that_stays_where_the_right_option_was_is_told(tmp_path: Path) -> None:
    standard = write_set(tmp_path / "set", [choice("q")])
    moved = mmdyn.perturb(standard, tmp_path / "moved", ops="shuffle", draws=4, seed=1, quiet=True)
    right = next(iter(standard)).answer
    (variant,) = [one for one in moved if one.answer != right][:1]
    (tmp_path / "always").write_text(f'{{"reply": "{right[0]}"}}\n')  # type: ignore[index]
    run = mmdyn.evaluate(
        [standard, moved],
        f"scripted:{tmp_path / 'always'}",
        tmp_path / "run",
        conditions=ConditionSpec("standard,dynamic"),
    )
    catalog = Catalog(run.folder)
    index = catalog.index(name := next(iter(catalog.runs())))
    index.refresh(None)
    with index.reading() as db:
        token = db.execute("SELECT token FROM parents").fetchone()["token"]
        key = db.execute("SELECT key FROM answers WHERE sample = ?", (variant.id,)).fetchone()["key"]
    text = page(catalog, name, token, key, Filter())
    assert f"The pick stays {right[0]}, where another option stands now: the right one moved to {variant.answer[0]}." in text  # type: ignore[index]  # fmt: skip
    before, after = text.split('<div class="side" ')[1:]
    assert before.count('class="pick"') == after.count('class="pick"') == 1
    old = {option.text: option.label for option in next(iter(standard)).options}
    told = dict(re.findall(r"<b>(\w)(?: <span[^>]*>\(right\)</span>)?</b><span>.*?was (\w)</span>", after))
    assert told == {one.label: old[one.text] for one in variant.options if old[one.text] != one.label}
    assert '<span class="fine">was' not in before
