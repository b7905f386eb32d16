"""The documentation: links lead somewhere, commands exist, every page is in the site, and there is no more than people read."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from tracked import ROOT, tracked

from mmdyn.cli import commands

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *tracked("docs/**/*.md")]
READ = [
    page
    for page in PAGES
    if page.parent.name not in ("papers", "appendix") and page.stem not in ("coverage", "performance")
]
"""What is read; the papers' tables and measurements are looked up."""
GUIDES = [page for page in READ[2:] if page.stem != "index" and page.parent.name != "commands"]
MOST_WORDS, MOST_TERMS = 18_000, 40


def test_there_is_no_more_than_people_read() -> None:
    assert sum(_words(page.read_text("utf-8")) for page in READ) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", _without_code(page.read_text("utf-8")))):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        assert not anchor or anchor in _anchors(place), target


def test_every_page_is_in_the_site() -> None:
    patterns = []
    for page in (DOCS / "index.md", DOCS / "reference" / "cli.md"):
        listed = re.findall(r"^```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        patterns += [(page.parent / line).relative_to(ROOT) for block in listed for line in block.split()]
    found = tracked(*(f"{one}.md" for one in patterns))
    assert sorted(found) == [page for page in tracked("docs/**/*.md") if page != DOCS / "index.md"]


def test_every_command_has_a_page_of_its_own() -> None:
    pages = [page.stem for page in tracked("docs/reference/commands/*.md")]
    assert pages == commands.list_commands(click.Context(commands))


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_opens_with_what_one_can_do_after_it(page: Path) -> None:
    opening = page.read_text("utf-8").split("\n\n")[1]
    assert opening.startswith("After this page "), opening


def test_the_glossary_is_short_and_names_what_is_there() -> None:
    page = (DOCS / "glossary.md").read_text("utf-8")
    terms = re.findall(r"^\| \*\*(.+?)\*\*", page, re.MULTILINE)
    assert len(terms) == len(set(terms)) <= MOST_TERMS
    named = re.findall(r"`((?:mmdyn|perturb|kprag)[\w/.]*)`", page)
    assert len(named) > 10 and [name for name in named if not (ROOT / name).exists()] == []


def test_files_that_the_map_of_the_house_names_are_there() -> None:
    """Files with their paths or alone, and bare names of a file or of what a file defines."""
    rooms = tracked("mmdyn/**/*", "perturb/**/*", "kprag/**/*", "bench/*.py", "tests/*.py")
    paths = {str(file.relative_to(ROOT)) for file in rooms}
    folders = {str(parent) for path in paths for parent in Path(path).parents}
    source = "\n".join(file.read_text("utf-8") for file in rooms if file.suffix == ".py")
    known = {*re.findall(r"\w+", source)} | {file.stem for file in rooms} | folders
    house = (DOCS / "design.md").read_text("utf-8")
    named = {name for cell in re.findall(r"`([^`\n]+)`", house) for name in cell.split()[:1]}
    files = [name for name in named if re.fullmatch(r"[\w/]+\.(py|toml|tsv|html|js|mplstyle)", name)]
    assert [name for name in files if not re.search("[A-Z]{4}", name) and not _is_there(name, paths)] == []
    bare = re.findall(r"`(\w+)`", house[house.index("## The rooms") : house.index("## Files")])
    assert [name for name in bare if name not in known] == []


def _is_there(name: str, paths: set[str]) -> bool:
    return any(path == name or path.endswith(f"/{name}") for path in paths)


@pytest.mark.parametrize("page", READ[2:], ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_are_there(page: Path) -> None:
    for line in re.findall(r"^    (mmdyn [a-z].*?)(?:\s+#.*| \\)?$", page.read_text("utf-8"), re.MULTILINE):
        command: click.Command = commands
        for word in line.split()[1:]:
            if not isinstance(command, click.Group):
                break
            found = command.get_command(click.Context(command), word)
            assert found is not None, line
            command = found
        known = {option for parameter in command.get_params(click.Context(command)) for option in parameter.opts}
        asked = set(re.findall(r"(?<=[\s\[])--?[a-z][a-z-]*", line.partition(" && ")[0]))
        assert asked <= known | {"--help"}, line


def _words(text: str) -> int:
    """Words of prose: no tables, code and comments."""
    lines = re.sub(r"<!--.*?-->", "", _without_code(text), flags=re.DOTALL).split("\n")
    return sum(len(line.split()) for line in lines if not line.lstrip().startswith("|"))


def _without_code(text: str) -> str:
    return re.sub(r"^    .*$", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """The anchors of headings, as forges and the site make them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
