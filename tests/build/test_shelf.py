"""A folder of PDFs as a bank: what folders and a table tell of books, what is told of books that cannot be read."""

from __future__ import annotations

import io
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from composing import secret_in
from PIL import Image
from serving import scripted
from shell import MMDYN, mmdyn

from making import picture
from mmdyn.data import SampleSet


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def pdf(file: Path, pages: int) -> Path:
    """A PDF whose pages are pictures, no two alike."""
    drawn = [Image.open(io.BytesIO(picture(120, 80, text=f"{file.stem[:3]}{k}"))) for k in range(pages)]
    file.parent.mkdir(parents=True, exist_ok=True)
    drawn[0].save(file, "PDF", save_all=True, append_images=drawn[1:], resolution=72)
    return file


def locked(file: Path) -> Path:
    """A PDF that wants a password: the standard handler, with a key that nothing fits."""
    data = pdf(file, 1).read_bytes()
    at = data.index(b"<<", data.rindex(b"trailer")) + 2
    entry = b"/Encrypt <</Filter /Standard /V 1 /R 2 /O <%b> /U <%b> /P -4>> /ID [<00> <00>] " % (
        b"11" * 32,
        b"22" * 32,
    )
    file.write_bytes(data[:at] + entry + data[at:])
    return file


def shelf(folder: Path) -> Path:
    """Three books, two of one file name; one has a name with spaces and Chinese."""
    pdf(folder / "PHYSICS" / "Mechanics" / "intro.pdf", 3)
    pdf(folder / "PHYSICS" / "Optics" / "Fourier optics" / "intro.PDF", 2)
    pdf(folder / "化学" / "有机 化学（第二版）.pdf", 2)
    (folder / "PHYSICS" / "Mechanics" / "._intro.pdf").write_bytes(b"a Mac's shadow of the file")
    (folder / "PHYSICS" / "cover.jpg").write_bytes(b"no page")
    return folder


def pages(folder: Path, out: Path, *words: object) -> Any:
    return mmdyn("build", "pages", folder, "-o", out, "--dpi", 72, *words)


def test_folders_tell_what_books_are_about(tmp_path: Path) -> None:
    done = pages(shelf(tmp_path / "books"), tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = {sample.id: sample.fields for sample in SampleSet(tmp_path / "out")}
    optics = {"discipline": "PHYSICS", "field": "Optics", "subfield": "Fourier optics", "book": "intro"}
    assert found["PHYSICS/Optics/Fourier optics/intro-2"] == optics | {"page": 2}
    chemistry = {"discipline": "化学", "book": "有机 化学（第二版）"}
    assert found["化学/有机 化学（第二版）-1"] == chemistry | {"page": 1}
    assert len(found) == 7 and "fields of books: book 3, discipline 3, field 2, subfield 1" in done.stderr
    given = pages(tmp_path / "books" / "PHYSICS", tmp_path / "given", "--discipline", "physics")
    assert given.returncode == 0
    assert SampleSet(tmp_path / "given")["Mechanics/intro-1"].fields == {
        "discipline": "physics", "field": "Mechanics", "book": "intro", "page": 1
    }  # fmt: skip
    pdf(tmp_path / "books" / "a" / "b" / "c" / "d" / "deep.pdf", 1)
    deep = pages(tmp_path / "books", tmp_path / "no")
    assert (
        deep.returncode == 2 and "deep.pdf: lies deeper than DISCIPLINE/FIELD/SUBFIELD: say by --table" in deep.stderr
    )


def test_a_table_tells_what_books_are_about(tmp_path: Path) -> None:
    rows = [
        "\ufeffFile,Field,Subfield,Pages,Book",
        "PHYSICS\\Mechanics\\intro.pdf,Mechanics,Statics,1,First steps",
        "./PHYSICS/Mechanics/intro.pdf,Mechanics,Dynamics,2–,First steps",
        "化学/有机 化学（第二版）.pdf,Chemistry,,,",
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows), encoding="utf-8")
    done = pages(shelf(tmp_path / "books"), tmp_path / "out", "--table", tmp_path / "t.csv")
    assert done.returncode == 0, done.stderr
    found = [(one.id, one.fields.get("subfield"), one.fields["book"]) for one in SampleSet(tmp_path / "out")]
    assert found == [
        ("PHYSICS/Mechanics/intro-1", "Statics", "First steps"),
        ("PHYSICS/Mechanics/intro-2", "Dynamics", "First steps"),
        ("PHYSICS/Mechanics/intro-3", "Dynamics", "First steps"),
        ("化学/有机 化学（第二版）-1", None, "有机 化学（第二版）"),
        ("化学/有机 化学（第二版）-2", None, "有机 化学（第二版）"),
    ]
    assert "left out, without a row: PHYSICS/Optics/Fourier optics/intro.PDF" in done.stderr


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (("file", "PHYSICS/Mechanics/intor.pdf", "no.pdf"), "names 2 files that the folder does not hold ('PHYSICS/Mechanics/intor.pdf' (did you mean 'PHYSICS/Mechanics/intro.pdf'?), 'no.pdf')"),
        (("path", "PHYSICS/Mechanics/intro.pdf"), "t.csv:2: needs a path under `file`"),
        (("file,page", "PHYSICS/Mechanics/intro.pdf,2"), "t.csv:2: needs a path under `file`, and `pages` such as 5-40"),
        (("file,pages", "PHYSICS/Mechanics/intro.pdf,May-40"), "t.csv:2: needs a path"),
        (("file,pages", "PHYSICS/Mechanics/intro.pdf,2-9"), "2 to 9 are no pages of 3): check it, or correct `pages` in"),
        (("file,pages", "PHYSICS/Mechanics/intro.pdf,3-2"), "3 to 2 are no pages of 3"),
        (("file,pages", "PHYSICS/Mechanics/intro.pdf,1-2", "PHYSICS/Mechanics/intro.pdf,2-3"), "the id 'PHYSICS/Mechanics/intro-2' is given twice"),
        (("file,field", "PHYSICS/Mechanics/intro.pdf,a,b"), "t.csv:2: 3 cells where the header has 2"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_is_told(tmp_path: Path, rows: tuple[str, ...], told: str) -> None:
    (tmp_path / "t.csv").write_text("\n".join(rows))
    done = pages(shelf(tmp_path / "books"), tmp_path / "out", "--table", tmp_path / "t.csv")
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "out" / "set.json").exists()
    alone = pages(
        tmp_path / "books" / "PHYSICS" / "Mechanics" / "intro.pdf", tmp_path / "o", "--table", tmp_path / "t.csv"
    )
    assert alone.returncode == 2 and "--table tells of the PDFs of a folder: give the folder" in alone.stderr


def test_books_that_cannot_be_read_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    books = shelf(tmp_path / "books")
    (books / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    locked(books / "locked.pdf")
    done = pages(books, tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out" / "set.json").exists()
    assert f"{books / 'broken.pdf'}, {books / 'locked.pdf'}: 2 rows are bad" in done.stderr
    assert "check it, or save it without its password" in done.stderr and "with --skip-bad" in done.stderr
    assert len([*(tmp_path / "out" / ".drawn").iterdir()]) == 3, "what was drawn is kept"
    done = pages(books, tmp_path / "out", "--skip-bad")
    assert done.returncode == 0 and "pages: 9 came in, 7 went on" in done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "images",
        "rejected.jsonl",
        "samples.jsonl",
        "set.json",
    }
    told = [json.loads(line)["file"] for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert told == [str(books / "broken.pdf"), str(books / "locked.pdf")]


def test_a_command_that_was_killed_goes_on(tmp_path: Path) -> None:
    books = shelf(tmp_path / "books")
    words = [*MMDYN, "build", "pages", str(books), "-o", str(tmp_path / "out"), "-q"]
    process = subprocess.Popen(words)
    drawn = tmp_path / "out" / ".drawn"
    while process.poll() is None and not [path for path in drawn.glob("*") if not path.name.startswith("tmp")]:
        time.sleep(0.01)
    process.kill()
    process.wait()
    first = {path: path.stat().st_mtime_ns for path in drawn.glob("*/*.png")}
    assert first and not (tmp_path / "out" / "set.json").exists()
    assert subprocess.run(words).returncode == 0 and not drawn.exists()
    assert mmdyn("build", "pages", books, "-o", tmp_path / "whole", "--name", "out", "-q").returncode == 0
    for name in ("samples.jsonl", "set.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_fields_reach_composed_questions(tmp_path: Path) -> None:
    assert pages(shelf(tmp_path / "books"), tmp_path / "pages", "-q").returncode == 0
    seen, false = list[dict[str, str]](), list[dict[str, str]]()
    for page in SampleSet(tmp_path / "pages"):
        titles = [f"{page.fields['book']} {page.fields['page']} {k} of {page.fields['discipline']}" for k in "abcdef"]
        told = [{"title": title, "statement": f"The law {title} holds everywhere."} for title in titles]
        seen.append({"match": page.images[0][-68:-4], "reply": json.dumps({"statements": told})})
        for title in titles:
            said = {
                "statement": f"{title}: The law {title} holds nowhere.",
                "error_type": "logical paradox",
                "why": "-",
            }
            false.append({"match": f"{title}: The law {title}", "reply": json.dumps(said)})
    (tmp_path / "a").mkdir()
    steps = [
        ("build", "statements", tmp_path / "pages", "-o", tmp_path / "true", "-m", scripted(tmp_path / "a", *seen)),
        ("build", "falsify", tmp_path / "true", "-o", tmp_path / "bank", "--unjudged", "-m", scripted(tmp_path, *false)),
        ("compose", tmp_path / "bank", "-o", tmp_path / "made", "--share-by", "field", "--questions", 9, "--statements", 4,
         "--options", 4, "--combination", 2, "--max-uses", 9, "--secret", secret_in(tmp_path)),
    ]  # fmt: skip
    for step in steps:
        done = mmdyn(*step, "-q")
        assert done.returncode == 0, done.stderr
    fields = {
        (one.fields.get("discipline"), one.fields.get("field"), one.fields.get("subfield"))
        for one in SampleSet(tmp_path / "made")
    }
    assert fields == {("化学", None, None), ("PHYSICS", "Mechanics", None), ("PHYSICS", "Optics", "Fourier optics")}
