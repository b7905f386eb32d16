"""The audit sheet: self-contained, stratified, and safe whatever the samples hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from making_sets import make_set

from making import choice, write_set
from mmdyn.cli import commands
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from perturb.pairs import find_parent
from perturb.pipeline import perturb
from perturb.sheet import write_sheet


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    folder = tmp_path_factory.mktemp("sheet")
    return perturb(make_set(folder / "source"), folder / "out", ops="pad,shuffle,convert", draws=2, seed=1, quiet=True)


def marks(page: str) -> list[dict[str, str]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return list(json.loads(found[1]))


def test_a_sheet_shows_variants_of_every_chain_with_their_pictures(dynamic: SampleSet, tmp_path: Path) -> None:
    assert write_sheet(dynamic, find_parent(dynamic), tmp_path / "sheet.html", 9) == 9
    page = (tmp_path / "sheet.html").read_text("utf-8")
    lines = marks(page)
    chains = [line["id"].split("~")[1] for line in lines]
    assert {chain: chains.count(chain) for chain in chains} == {"pad": 3, "shuffle": 3, "convert": 3}
    assert page.count("<article>") == 9 and page.count('value="keep"') == page.count('value="reject"') == 9
    assert page.count("data:image/") >= 6
    assert all(line["set"] == str(dynamic.folder.resolve()) for line in lines)
    assert not re.search(r'(?:src|href)="(?!data:)', page), "nothing is fetched"


def test_the_choice_depends_on_the_seed_alone(dynamic: SampleSet, tmp_path: Path) -> None:
    pages = []
    for seed in (0, 0, 1):
        write_sheet(dynamic, find_parent(dynamic), tmp_path / "sheet.html", 12, seed)
        pages.append((tmp_path / "sheet.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_nothing_in_a_sample_becomes_markup(tmp_path: Path) -> None:
    hostile = "</pre><script>alert(1)</script> {title} {data} <image 1"
    sample = choice("</script><b>", question=hostile, texts=("<i>", "b", "c", "d"))
    source = write_set(tmp_path / "source", [sample], "<b>{cards}")
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", seed=1, quiet=True)
    write_sheet(dynamic, source, tmp_path / "sheet.html", 5)
    page = (tmp_path / "sheet.html").read_text("utf-8")
    assert "<script>alert" not in page and "<b>{cards}" not in page and "<i>" not in page
    assert page.count("{title}") == 2 and page.count("</script>") == 2
    assert marks(page)[0]["id"] == "</script><b>~shuffle~0"


def test_the_command_writes_it_and_says_what_is_wrong(dynamic: SampleSet, tmp_path: Path) -> None:
    run = CliRunner().invoke(
        commands, ["data", "audit", str(dynamic.folder), "-o", str(tmp_path / "s.html"), "-n", "4"]
    )
    assert run.exit_code == 0 and "4 variants; open it in a browser" in run.output
    with pytest.raises(UserError, match=r"none/s\.html cannot be written \(No such file or directory\)"):
        write_sheet(dynamic, find_parent(dynamic), tmp_path / "none" / "s.html", 4)
