"""Sets, configs, runs, PDFs, spreadsheets and Parquet files that are damaged or made to harm, and what commands do.

    python bench/hostile_files.py [--kind sets] [--cases 200] [--seed 32] [--list]

Each case is a good folder or file in which a few things are changed, by a seed, and a command that reads it, in a
process of its own. A case `falls` where the command ends in a traceback or without a word, takes more than 1 GB, or
10 s longer than it takes on the good folder, or says more than a few lines about a mistake. Needs Linux.
"""

# ruff: noqa: E501 - tables of what harms

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:] = [
    one for one in sys.path if Path(one or ".").resolve() != Path(__file__).resolve().parent
]  # perturb.py is here, too
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

from mmdyn.cli import main as mmdyn

SECONDS, LONGEST, MEGABYTES, LINES = 10.0, 60.0, 1000, 12
Words = list[str]


class Case(NamedTuple):
    """A folder in which a command is typed, and the command's words."""

    folder: Path
    words: Words


class Outcome(NamedTuple):
    """What became of a case: `why` it fell, empty where it did not."""

    why: str
    said: str
    seconds: float
    megabytes: float


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=[*KINDS], action="append", help="(all)")
    parser.add_argument("--cases", type=int, help="how many of each kind (2000 sets and configs, 200 runs, 50 files)")
    parser.add_argument("--seed", type=int, default=32, help="another seed makes other damage (32)")
    parser.add_argument("--only", type=int, nargs="+", help="these cases alone, by their numbers; one's folder is kept")
    parser.add_argument("--list", action="store_true", help="print each case that falls")
    args = parser.parse_args(argv)
    print("| kind | cases | done | refused | fell | most seconds | most MB |\n|---|---|---|---|---|---|---|")
    for kind in args.kind or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(tempfile.mkdtemp()) if args.only and len(args.only) == 1 else Path(folder)
            numbers = args.only or range(args.cases or MANY[kind])
            found = attempt_all(kind, numbers, args.seed, scratch, print if args.list else None)
        print(f"| {kind} | {' | '.join(found)} |", flush=True)


def attempt_all(
    kind: str, numbers: Sequence[int], seed: int, folder: Path, tell: Callable[[str], object] | None = None
) -> list[str]:
    """The cells of a row: cases, and how many did what was asked, were refused in words, or fell; the most of all."""
    os.environ["MMDYN_CACHE"] = str(folder / "cache")
    good, counts, seconds, megabytes = folder / "good", Counter[str](), 0.0, 0.0
    good.mkdir()
    MADE_OF[kind](good)
    for number in numbers:
        draw = random.Random(f"{seed} {kind} {number}")
        place = folder / f"case-{number}"
        shutil.copytree(good, place, symlinks=True)
        words = _write(KINDS[kind], draw, place)
        case = Case(place, words)
        found = attempt(case)
        if found.seconds > SECONDS:
            whole = Case(folder / f"whole-{number}", [word.replace(place.name, f"whole-{number}") for word in words])
            shutil.copytree(good, whole.folder, symlinks=True)
            if found.seconds > SECONDS + attempt(whole).seconds:
                found = found._replace(why=f"{found.why} took too long".strip())
        counts["fell" if found.why else "refused" if found.said.startswith("2") else "done"] += 1
        seconds, megabytes = max(seconds, found.seconds), max(megabytes, found.megabytes)
        if found.why and tell:
            tell(f"{kind} {number}: {' '.join(case.words)}: {found.why}\n    {found.said[-1500:]}")
        if folder.name.startswith("case") or len(numbers) > 1:
            shutil.rmtree(place, ignore_errors=True)
    told = [sum(counts.values()), *(counts[name] for name in ("done", "refused", "fell"))]
    return [*map(str, told), f"{seconds:.1f}", f"{megabytes:.0f}"]


def _write(make: Callable[[random.Random, Path], Case], draw: random.Random, place: Path) -> Words:
    """Write a case in a child, so that what it takes is not counted with the command; the command's words."""
    told = place.parent / "words"
    child = os.fork()
    if not child:
        try:
            told.write_text(json.dumps(make(draw, place).words), "utf-8")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return list(json.loads(told.read_text("utf-8")))


def attempt(case: Case) -> Outcome:
    """Type a command in a child of this process, and watch it."""
    told, began = case.folder.parent / "told", time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _command(case, told)
    status = None
    while status is None and time.monotonic() - began < LONGEST:
        found, ended, usage = os.wait4(child, os.WNOHANG)
        if found:
            status = os.waitstatus_to_exitcode(ended)
        else:
            time.sleep(0.005)
    if status is None:
        os.killpg(child, signal.SIGKILL)
        _, _, usage = os.wait4(child, 0)
    said, took = told.read_text("utf-8", "replace"), time.monotonic() - began
    why = "did not end" if status is None else _why(status, said, case.words)
    if usage.ru_maxrss > MEGABYTES * 1024:
        why += " took too much memory"
    return Outcome(why.strip(), f"{status} {said}", took, usage.ru_maxrss / 1024)


def _why(status: int, said: str, words: Words) -> str:
    """Why an ending is a fall."""
    if "Traceback" in said or status not in (0, 1, 2, 3, 75):
        return "traceback" if "Traceback" in said else f"status {status}"
    if words[:2] == ["data", "validate"]:  # it lists every bad row on standard output
        return ""
    lines = [line for line in said.splitlines() if line.strip()]
    if status == 2 and not (lines and re.match(r"mmdyn: |Error: ", lines[-1])):
        return "no sentence"
    return "many words" if status == 2 and (len(lines) > LINES or len(said) > 4000) else ""


def _command(case: Case, told: Path) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))  # where a case does not fall, this machine does not
    with told.open("wb") as out:
        os.dup2(out.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.chdir(case.folder)
    sys.argv, status = ["mmdyn", *case.words], 99
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    try:
        mmdyn()
    except SystemExit as ended:
        status = int(ended.code or 0) if not isinstance(ended.code, str) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    os._exit(status)


# What is made of a good folder.

DEEP = "[" * 3000 + "]" * 3000
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**63, 2**64, 10**30, -(10**5000), 1e308, float("nan"), float("inf"), 0.5, "", " ", "x", "x" * 100_000, "\0", "\ud800", "\u202e", [],
    {}, [[]], {"": ""}, ["a", "a"], "../../etc/passwd", "/dev/zero", "/", "a/b", "NaN", "1e999", "2020-01-01", "%s%n", "{question}", "<image 9>", "A" * 300 + ".png",
    *({str(at): at for at in range(2000)}, [0] * 10_000, "http://127.0.0.1:9/", "hf:none/none", "cmd:sh", "baseline:lexical", "image.invert", "💥", "$HOME"),
)  # fmt: skip
sys.set_int_max_str_digits(0)


def change_json(draw: random.Random, text: str) -> str:
    """JSON in which a value is another one, a key is gone, new, or there twice, or what is deep."""
    whole = json.loads(text)
    places = list(_places(whole))
    inside, key = draw.choice(places) if places else ([whole], 0)
    way = draw.choice(("value", "value", "value", "value", "gone", "new", "twice", "deep"))
    if way == "gone":
        del inside[key]
    elif way == "new" and isinstance(inside, dict):
        inside[draw.choice(("new", "", "id", "schema", "\ud800"))] = draw.choice(VALUES)
    elif way == "deep":
        inside[key] = "DEEP"
    else:
        inside[key] = draw.choice(VALUES)
    changed = json.dumps(whole, ensure_ascii=draw.random() < 0.5 or "\ud800" in str(whole))
    if way == "twice" and isinstance(inside, dict) and changed.startswith("{"):
        name = json.dumps(key)
        changed = f"{{{name}: {json.dumps(draw.choice(VALUES))}, {changed[1:]}"
    return changed.replace('"DEEP"', DEEP)


def _places(whole: Any) -> Any:
    if isinstance(whole, dict | list):
        for key, value in whole.items() if isinstance(whole, dict) else enumerate(whole):
            yield whole, key
            yield from _places(value)


def change_bytes(draw: random.Random, data: bytes) -> bytes:
    """Bytes that are cut, flipped, doubled, or among which something is put that is nobody's text."""
    at, way = draw.randrange(len(data) + 1), draw.randrange(8)
    end = min(len(data), at + draw.choice((1, 10, 1000)))
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + data[end:]
    if way == 2:
        return data[:at] + bytes(draw.randrange(256) for _ in range(end - at)) + data[end:]
    if way == 3:
        return data[:end] + data[at:]
    if way == 4:
        return re.sub(rb"\d+", lambda found: found[0] if draw.random() < 0.9 else b"9" * 6000, data)
    if way == 5:
        return (
            data[:at]
            + draw.choice((b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\\ud800", b"\r", b"\xed\xa0\x80"))
            + data[at:]
        )
    if way == 6:
        return draw.choice(
            (b"", b"\n" * 5000, b"null", b"[]", b"{}", b'"x"', DEEP.encode(), b"\xff" * 100, b"PK\x03\x04", data * 3)
        )
    return data[at:] + data[:at]


def change_file(draw: random.Random, file: Path, root: Path) -> None:
    """Something else where a file was."""
    way = draw.choice(("gone", "empty", "folder", "pipe", "zeros", "loop", "other", "sparse", "locked", "dangling"))
    others = [one for one in sorted(root.rglob("*")) if one.is_file() and not one.is_symlink()]
    file.unlink()
    if way == "empty":
        file.touch()
    elif way == "folder":
        (file / "x").mkdir(parents=True)
    elif way == "pipe":
        os.mkfifo(file)
    elif way in ("zeros", "loop", "dangling"):
        file.symlink_to({"zeros": Path("/dev/zero"), "loop": file, "dangling": file.parent / "nowhere"}[way])
    elif way == "other" and (there := [one for one in others if one != file]):
        shutil.copy(draw.choice(there), file)
    elif way == "sparse":
        with file.open("wb") as out:
            out.truncate(1 << 32)
    elif way == "locked":
        file.touch(mode=0)


def change_records(draw: random.Random, file: Path) -> None:
    """A value of a store's that is another one."""
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        rows = db.execute("SELECT kind, key, value FROM records").fetchall()
        for kind, key, value in draw.sample(rows, min(len(rows), draw.choice((1, 3, len(rows))))):
            way = draw.randrange(6)
            try:
                new: Any = change_json(draw, value.decode()).encode() if way < 4 else change_bytes(draw, value)
            except (ValueError, TypeError):
                new = change_bytes(draw, value)
            new = draw.choice((new, new, new, new.decode("utf-8", "replace"), None, 7)) if way == 5 else new
            db.execute("UPDATE records SET value = ? WHERE kind = ? AND key = ?", (new, kind, key))


def damage(draw: random.Random, root: Path, names: str = "*") -> None:
    """Change one to three files under a folder."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        files = [one for one in sorted(root.rglob(names)) if one.is_file() and not one.is_symlink()]
        if not files:
            return
        weighed = [one for one in files if one.suffix in (".json", ".jsonl", ".sqlite")] or files
        file = draw.choice(draw.choice((files, weighed, weighed)))
        way = draw.choice(("file", "bytes", "json", "json", "json"))
        if way == "file":
            change_file(draw, file, root)
        elif file.suffix == ".sqlite" and way == "json":
            with contextlib.suppress(sqlite3.Error):
                change_records(draw, file)
        elif way == "json" and file.suffix in (".json", ".jsonl"):
            lines = (
                file.read_text("utf-8", "replace").splitlines()
                if file.suffix == ".jsonl"
                else [file.read_text("utf-8", "replace")]
            )
            at = draw.randrange(len(lines)) if lines else 0
            with contextlib.suppress(ValueError, IndexError, RecursionError):
                lines[at] = change_json(draw, lines[at])
            file.write_text("\n".join(lines), "utf-8", "surrogatepass")
        elif file.stat().st_size < 1 << 24:
            file.write_bytes(change_bytes(draw, file.read_bytes()))


SETS: tuple[str, ...] = (
    "data validate S", "data show S", "data show S --json -n 99", "data show S --stages", "data convert S -o made", "data convert S -o made.tsv", "data convert S -o made.jsonl", "data sample S -o made -n 3",
    "data audit S -o sheet.html", "data join S other -o made", "perturb S -o made --ops shuffle,invert --seed 1 -q --workers 1", "eval S -m baseline:lexical -o run -q", "eval S -m baseline:lexical -o run --dry-run",
    "eval S -m baseline:lexical -o run -q --skip-bad --mode standard,dynamic --ops pad", "build dedup S -o made", "knowledge coverage S", "compose S -o made", "view . --export ../pages-X -q", "plan S -m baseline:lexical",
    "data show V --parent S", "data validate V --parent S", "data show V --replay --parent S", "eval S V -m baseline:lexical -o run -q", "report V",
)  # fmt: skip


def a_set(draw: random.Random, folder: Path) -> Case:
    damage(draw, folder / draw.choice(("S", "S", "V")))
    return Case(folder, draw.choice(SETS).replace("-X", f"-{folder.name}").split())


def sets(good: Path) -> None:
    """A set of every task type with pictures, its variants, and another set."""
    shutil.move(_demo(good) / "set", good / "S")
    shutil.move(good / "demo" / "dynamic", good / "V")
    shutil.copytree(good / "S", good / "other")
    shutil.rmtree(good / "demo")


def _demo(good: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "mmdyn", "demo", "-o", str(good / "demo"), "-q"], check=True, capture_output=True
    )
    return good / "demo"


RUNS: tuple[str, ...] = (
    "report R", "report R --full", "report R --why", "report R --json", "report R -o page.html", "report R G", "report R --by difficulty --pivot model,chain", "report R --flips --noise", "runs ls .", "runs ls . --json",
    "runs export R -o out.jsonl --samples", "runs export R -o out.csv", "runs merge R G -o both", "runs merge G R -o both", "score R -q", "score R --policy strict -q", "view . --export ../pages-X -q", "view . --export ../pages-X -q",
    "view R --export ../pages-X -q", "compare R G -o c -m baseline:lexical", "errors R -m baseline:lexical", "data validate R", "grade R",
)  # fmt: skip


def a_run(draw: random.Random, folder: Path) -> Case:
    damage(draw, folder / "R")
    return Case(folder, draw.choice(RUNS).replace("-X", f"-{folder.name}").split())


def runs(good: Path) -> None:
    """A run that is to be damaged with its sets, and one beside it."""
    made = _demo(good)
    for name in ("set", "dynamic"):
        shutil.move(made / name, made / "run" / "sets" / name)
    config = made / "run" / "run.json"
    config.write_text(re.sub(r'"folder": ".*/(\w+)"', r'"folder": "sets/\1"', config.read_text()))
    shutil.copytree(made / "run", good / "G")
    shutil.move(made / "run", good / "R")
    shutil.rmtree(made)


CONFIG = """\
sets: [S]
models: [baseline:lexical]
out: run
conditions: {modes: [standard, dynamic], ops: "pad,shuffle", draws: 1, seed: 3, styles: [direct], contexts: [none]}
scoring: {policy: mdk12}
limits: {n: 3, max_requests: 20}
execution: {quiet: true, cache: none}
by: [difficulty]
"""
YAML_VALUES = (
    "2020-01-01", "2020-13-45", "2001-12-14t21:59:43.10-05:00", "9" * 6000, "-" + "9" * 6000, "0x" + "f" * 6000, "1e999", ".nan", ".inf", "-.inf", "~", "yes", "[]", "{}", "[1, [2]]", "!!python/object:os.system x",
    "!!binary |\n  !!!", "!!binary aGFsbG8=", "!!set {a, b}", "!!omap [a: 1]", "!!timestamp x", "!!int x", "!!float x", "!unknown x", "&a [*a]", "&a {b: *a}", "*nowhere", "<<: {a: 1}", "{? [a]: 1}", "{1: 2}", "{~: 2}", "'",
    '"\\ud800"', '"\\x00"', '"\\U0010ffff"', "|\n  text", ">\n  text", "-1", "0", "1.5", "190:20:30", "012", "0o7", "0b1", "1_000", "S", "[S, S]", "[baseline:lexical, baseline:none]", "cmd:sh", "nowhere", "/", "x" * 100_000,
    DEEP, "{a: " * 500 + "}" * 500, "- " * 500 + "x", "%TAG ! x", "--- a", "@x", "`x`", "\t", "? x", "[S", "{a: 1, a: 2}", "=", "[{path: S, limits: {n: 2020-01-01}}]", "[{benchmark: mmlu_pro, path: S}]", "[{path: S, scoring: {policy: 3}}]",
)  # fmt: skip


def a_config(draw: random.Random, folder: Path) -> Case:
    lines, file = CONFIG.splitlines(), folder / "c.yaml"
    from mmdyn.run import SECTIONS

    for _ in range(draw.choice((1, 1, 2, 3))):
        at, way = draw.randrange(len(lines)), draw.randrange(9)
        name, _, old = lines[at].partition(":")
        if way < 3:
            lines[at] = f"{name}: {draw.choice(YAML_VALUES)}"
        elif way == 3:
            lines.append(lines[at])
        elif way == 4:
            section = draw.choice([*SECTIONS])
            key = draw.choice(SECTIONS[section].__struct_fields__)
            lines = [line for line in lines if not line.startswith(section)] + [
                f"{section}:",
                f"  {key}: {draw.choice(YAML_VALUES)}",
            ]
        elif way == 5:
            lines[at] = f"{name}: {json.dumps(draw.choice(VALUES))}"
        elif way == 6 and at:
            anchors = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(9))
            lines = [f"{anchors}by: *a8", *lines]
        elif way == 7:
            lines[at] = f"{draw.choice(YAML_VALUES)}: {old or 1}"
        else:
            lines[at] = re.sub(
                r": ([^,{}\[\]]+)",
                lambda found: f": {draw.choice(YAML_VALUES)}" if draw.random() < 0.4 else found[0],
                lines[at],
            )
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    file.write_bytes(change_bytes(draw, text) if draw.random() < 0.2 else text)
    over = [
        f"{draw.choice(('limits.n', 'conditions.ops', 'sets.0', 'by', 'scoring', 'x.y', ''))}={draw.choice(YAML_VALUES)[:5000]}"
    ]
    over = [one.replace("\0", "") for one in over]
    return Case(
        folder, ["run", "c.yaml", *draw.choice(([], [], over)), *draw.choice((["--dry-run"], ["--dry-run"], []))]
    )


def a_pdf(draw: random.Random, folder: Path) -> Case:
    file = folder / "book.pdf"
    file.write_bytes(draw.choice(PDFS)(draw))
    return Case(folder, ["build", "pages", "book.pdf", "-o", "made"])


def _pdf(
    page: str = "/MediaBox [0 0 200 200]",
    stream: bytes = b"0 0 100 100 re f",
    kids: str = "[3 0 R]",
    count: int = 1,
    filter: str = "",
) -> bytes:
    """A PDF of one page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids {kids} /Count {count} >>".encode(),
        f"<< /Type /Page /Parent 2 0 R {page} /Contents 4 0 R >>".encode(), f"<< /Length {len(stream)} {filter} >>\nstream\n".encode() + stream + b"\nendstream",
    ]  # fmt: skip
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        out
        + f"xref\n0 5\n0000000000 65535 f \n{table}trailer << /Size 5 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF".encode()
    )


def _flate(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


PDFS: tuple[Callable[[random.Random], bytes], ...] = (
    lambda draw: change_bytes(draw, _pdf()), lambda draw: change_bytes(draw, change_bytes(draw, _pdf())),
    lambda draw: _pdf(kids="[2 0 R]"), lambda draw: _pdf(kids="[" + "3 0 R " * 50 + "]", count=50), lambda draw: _pdf(count=10**9),
    lambda draw: _pdf(page=f"/MediaBox [0 0 {draw.choice((14400, 10**6, 10**9, -5, 0))} {draw.choice((14400, 10**6, 10**9))}]"),
    lambda draw: _pdf(stream=_flate(b"0 " * (1 << 26)), filter="/Filter /FlateDecode"),
    lambda draw: _pdf(stream=_flate(b"0 " * (1 << 26), 2), filter="/Filter [/FlateDecode /FlateDecode]"),
    lambda draw: _pdf(stream=b"q " * 1_000_000), lambda draw: _pdf(stream=b"0 0 100 100 re f " * 300_000),
    lambda draw: _pdf(stream=b"[" * 100_000), lambda draw: _pdf(page="/MediaBox " + "[" * 50_000),
    lambda draw: b"%PDF-1.4\n" + bytes(draw.randrange(256) for _ in range(5000)), lambda draw: b"",
    lambda draw: _pdf().replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /O (x) /U (y) /P -1 >>"),
)  # fmt: skip


def a_bomb(draw: random.Random, folder: Path) -> Case:
    words = "data convert bomb.xlsx -o made"
    bomb = draw.choice((*XLSX, *PARQUET))
    if bomb in PARQUET:
        words = words.replace("xlsx", "parquet")
    bomb(draw, folder / words.split()[2])
    return Case(folder, words.split())


def _xlsx(file: Path, sheet: str, strings: str = "", more: str = "") -> None:
    """A workbook of one sheet, whose XML is given, and grown where it holds a form feed: 100 MB in its place."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"] = "question"
    book.save(file)
    with zipfile.ZipFile(file) as zipped:
        held = {name: zipped.read(name) for name in zipped.namelist()}
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    held["xl/worksheets/sheet1.xml"] = (
        f'<?xml version="1.0"?>{more}<worksheet xmlns="{main}">{sheet}</worksheet>'.encode()
    )
    if strings:
        held["xl/sharedStrings.xml"] = f'<?xml version="1.0"?>{more}<sst xmlns="{main}">{strings}</sst>'.encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in held.items():
            with zipped.open(name, "w", force_zip64=True) as out:
                before, mark, after = data.partition(b"\f")
                out.write(before)
                for _ in range(1000 if mark else 0):
                    out.write(GROWN[name] * (100_000 // len(GROWN[name])))
                out.write(after)


ROW = '<row><c t="inlineStr"><is><t>x</t></is></c></row>'
GROWN = {"xl/worksheets/sheet1.xml": ROW.encode(), "xl/sharedStrings.xml": b"<si><t>x</t></si>"}
LAUGHS = (
    "<!DOCTYPE l [<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)) + "]>"
)
XLSX: tuple[Callable[[random.Random, Path], None], ...] = (
    lambda draw, file: _xlsx(file, "<sheetData>\f</sheetData>"),
    lambda draw, file: _xlsx(file, f"<sheetData>{ROW}</sheetData>", "\f"),
    lambda draw, file: _xlsx(file, '<dimension ref="A1:XFD1048576"/><sheetData/>'),
    lambda draw, file: _xlsx(file, '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'),
    lambda draw, file: _xlsx(file, '<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'),
    lambda draw, file: _xlsx(file, '<sheetData><row r="1"><c t="inlineStr"><is><t>&a9;</t></is></c></row></sheetData>', more=LAUGHS),
    lambda draw, file: _xlsx(file, f"<sheetData>{ROW}</sheetData>", "<si><t>&a9;</t></si>", LAUGHS),
    lambda draw, file: _xlsx(file, "<x>" * 100_000 + "</x>" * 100_000),
    lambda draw, file: _xlsx(file, f'<sheetData>{ROW}</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    lambda draw, file: _xlsx(file, f'<cols><col min="1" max="16384"/></cols><sheetData><row r="1"><c><v>{"9" * 100_000}</v></c></row>{ROW}</sheetData>'),
    lambda draw, file: _changed_xlsx(draw, file),
    lambda draw, file: _zip_of_zeros(file),
)  # fmt: skip


def _changed_xlsx(draw: random.Random, file: Path) -> None:
    _xlsx(file, f"<sheetData>{ROW * 5}</sheetData>")
    file.write_bytes(change_bytes(draw, file.read_bytes()))


def _zip_of_zeros(file: Path) -> None:
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped,
        zipped.open("[Content_Types].xml", "w", force_zip64=True) as out,
    ):
        for _ in range(300):
            out.write(bytes(1 << 20))


def _parquet(file: Path, columns: dict[str, Any], **more: Any) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), file, compression="zstd", **more)


def _repeated(text: str, rows: int) -> Any:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), pyarrow.array([text]))


def _nested(depth: int) -> Any:
    import pyarrow

    kind = pyarrow.string()
    for _ in range(depth):
        kind = pyarrow.list_(kind)
    return pyarrow.nulls(2, kind)


def _changed_parquet(draw: random.Random, file: Path) -> None:
    _parquet(file, {"question": ["a?", "b?"], "answer": ["A", "B"], "A": ["1", "2"], "B": ["3", "4"]})
    file.write_bytes(change_bytes(draw, file.read_bytes()))


PARQUET: tuple[Callable[[random.Random, Path], None], ...] = (
    lambda draw, file: _parquet(file, {"question": _repeated("x" * 1_000_000, 100_000), "answer": _repeated("A", 100_000)}),
    lambda draw, file: _parquet(file, {"question": _repeated("x" * 1000, 5_000_000), "answer": _repeated("A", 5_000_000)}),
    lambda draw, file: _parquet(file, {"question": ["x" * 500_000_000], "answer": ["A"]}),
    lambda draw, file: _parquet(file, {f"c{n}": ["x"] for n in range(30_000)}),
    lambda draw, file: _parquet(file, {"question": _nested(90), "answer": ["A", "B"]}),
    lambda draw, file: _parquet(file, {"question": [["x"] * 20_000_000], "answer": ["A"]}),
    lambda draw, file: _parquet(file, {"question": ["a?"] * 3, "answer": ["A"] * 3, "A": ["1"] * 3, "B": ["2"] * 3, "image": [{"bytes": _png_bomb(), "path": None}] * 3}),
    _changed_parquet, _changed_parquet, _changed_parquet,
)  # fmt: skip


def _png_bomb() -> bytes:
    """A picture of 60,000 by 60,000 pixels in a few kilobytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = (60_000).to_bytes(4, "big") * 2 + b"\x08\x00\x00\x00\x00"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(10_000_000), 9))
        + chunk(b"IEND", b"")
    )


def nothing(good: Path) -> None:
    """Nothing but what the case writes."""


KINDS: dict[str, Callable[[random.Random, Path], Case]] = {
    "sets": a_set, "configs": a_config, "runs": a_run, "pdfs": a_pdf, "bombs": a_bomb,
}  # fmt: skip
MADE_OF: dict[str, Callable[[Path], None]] = {
    "sets": sets,
    "configs": sets,
    "runs": runs,
    "pdfs": nothing,
    "bombs": nothing,
}
MANY = {"sets": 2000, "configs": 2000, "runs": 200, "pdfs": 50, "bombs": 50}

if __name__ == "__main__":
    main(sys.argv[1:])
