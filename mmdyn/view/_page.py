"""What all pages share: the templates, texts cut into pieces, and filters of answers.

Whatever data or models said is text: the templates escape everything, and nothing of it is marked as safe.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct, structs

from mmdyn.keys import digest
from mmdyn.tables import EVEN, POOLED, condition_name, contrast_name, front_of, p_value, percent, score_text, unread_of

FACTORS = ("model", "set_name", "variant", "chain", "context", "style", "shots")
PAGE = 50
SEARCHED_TEXT = 200
"""Characters of a text that is looked for: SQLite compares it at every place."""

WHICH = {
    "right": f"a.value > {EVEN}",
    "wrong": f"a.value < {EVEN}",
    "even": f"a.value = {EVEN}",
    "lost": "a.flip < 0",
    "gained": "a.flip > 0",
    **{status: f"a.status = '{status}'" for status in ("unparsed", "refused", "failed", "unscored")},
    "needs_judge": "a.needs_judge",
    "truncated": "a.truncated",
    "kept": "a.stayed > 0",
    "stuck": "a.stayed < 0",
    "partly": "a.partly",
}
"""What an answer can be asked to be, any of them together."""

SAID = {
    "right": "right",
    "wrong": "wrong",
    "even": "half right",
    "lost": "flipped to wrong",
    "gained": "flipped to right",
    "unparsed": "unparsed",
    "refused": "refused",
    "failed": "failed",
    "unscored": "not scored",
    "needs_judge": "needs a judge",
    "truncated": "cut off",
    "kept": "right as before",
    "stuck": "wrong as before",
    "partly": "partly right, before or now",
}

SORTS = {
    "broke": ("most broken", "-p.broke"),
    "name": ("question", "p.set_name || ' ' || p.in_order"),
    "score": ("score", "score"),
    "change": ("change", "change"),
    "key": ("key", "p.gold"),
}
"""In what order questions can be listed: its name, and by what; after a minus, in the opposite one."""


class Filter(Struct, frozen=True):
    """Empty texts filter nothing.

    which: names of WHICH, all of which hold, with commas. over: `all` for the chains that count over all chains, and
    where a flip is one of their mean.
    field: NAME=VALUE. text: what a question, its id or a reply holds, in either case. sort: a name of SORTS. page:
    from 1.
    """

    model: str = ""
    set_name: str = ""
    variant: str = ""
    chain: str = ""
    context: str = ""
    style: str = ""
    shots: str = ""
    which: tuple[str, ...] = ()
    over: str = ""
    field: str = ""
    text: str = ""
    sort: str = "broke"
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str], which: list[str]) -> Filter:
        """What an address says; what is not known there is left out."""
        texts = {name: given[name] for name in (*FACTORS, "over", "field", "text") if given.get(name)}
        page, named = given.get("page", ""), dict.fromkeys(name for one in which for name in one.split(","))
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
        texts |= {"text": texts["text"][:SEARCHED_TEXT]} if "text" in texts else {}
        sort = given["sort"] if given.get("sort", "").removeprefix("-") in SORTS else "broke"
        return cls(**texts, which=tuple(name for name in named if name in WHICH), sort=sort, page=max(1, number))

    def address(self, **changes: Any) -> str:
        """The query of an address, such as `?model=a&which=wrong`, with changes."""
        default, changed = Filter(), structs.asdict(structs.replace(self, **changes))
        told = {name: value for name, value in changed.items() if value != getattr(default, name)}
        told |= {"which": ",".join(told["which"])} if "which" in told else {}
        return "?" + urlencode(told) if told else ""

    def where(self) -> tuple[str, list[object]]:
        """A condition on answers `a`, with what fills its places."""
        parts, values = ["1"], list[object]()
        asked = [(name, getattr(self, name)) for name in FACTORS if getattr(self, name)]
        if asked:
            within = " AND ".join(f"{name} = ?" for name, _ in asked)
            parts.append(f"a.condition IN (SELECT id FROM conditions WHERE {within})")
            values += [value for _, value in asked]
        if self.over:
            parts.append("a.condition IN (SELECT id FROM conditions WHERE pooled)")
        for name in self.which:
            parts.append(self._holds(name))
        if self.field:
            parts.append("a.parent IN (SELECT parent FROM fields WHERE name || '=' || value = ?)")
            values.append(self.field)
        if self.text:
            parts.append(f"a.id IN {self._found}")
        return " AND ".join(parts), values

    def _holds(self, name: str) -> str:
        return f"a.way = '{name}'" if self.over and name in WAYS else WHICH[name]

    @property
    def _found(self) -> str:
        return f"found_{digest(self.text, 8)}"

    def search(self, db: sqlite3.Connection) -> None:
        """Look once for the answers that have the text; what is asked of this connection afterwards rests on it."""
        if self.text:
            db.execute(
                f"CREATE TEMP TABLE IF NOT EXISTS {self._found} AS SELECT id FROM answers"
                " WHERE digest IN (SELECT digest FROM samples WHERE text LIKE ? ESCAPE '\\')"
                " UNION SELECT id FROM replies WHERE text LIKE ? ESCAPE '\\'",
                [_like(self.text)] * 2,
            )

    def means(self) -> tuple[str, list[object]]:
        """A query of each question's mean standard score, and mean change by the chains, under the conditions."""
        asked = [name for name in FACTORS if name not in ("variant", "chain") and getattr(self, name)]
        within = " AND ".join(["c.chain != ?", *(f"c.{name} = ?" for name in asked)])
        sql = f"""SELECT y.parent, avg(CASE WHEN c.variant = 'standard' THEN y.value END) AS score,
            avg(CASE WHEN ? IN ('', c.chain) THEN y.moved END) AS change
            FROM cells y JOIN conditions c ON c.id = y.condition WHERE {within}"""
        return sql, [self.chain, POOLED, *(getattr(self, name) for name in asked)]

    def parents(self, db: sqlite3.Connection) -> list[sqlite3.Row]:
        """The questions that have such answers, in order: token, set, name, how many variants broke it, answers."""
        self.search(db)
        where, values = self.where()
        name, by = self.sort.removeprefix("-"), SORTS[self.sort.removeprefix("-")][1]
        means, given = self.means() if name in ("score", "change") else ("SELECT NULL AS parent", [])
        sql = f"""SELECT p.*, found.n
            FROM (SELECT a.parent, count(*) AS n FROM answers a WHERE {where} GROUP BY 1) found
            JOIN parents p ON p.id = found.parent LEFT JOIN ({means} GROUP BY 1) m ON m.parent = p.id
            ORDER BY {by} {"DESC" if name != self.sort else ""} NULLS LAST, p.set_name, p.in_order"""
        return db.execute(sql, [*values, *given]).fetchall()

    def answers(self, db: sqlite3.Connection, parents: Sequence[int]) -> dict[int, list[sqlite3.Row]]:
        """Such answers to some questions, by these, with their conditions."""
        self.search(db)
        (where, values), found = self.where(), dict[int, list[sqlite3.Row]]()
        which = f"a.parent IN ({', '.join('?' * len(parents))})"
        for row in db.execute(f"{ANSWERS} WHERE {which} AND {where} {ORDER}", [*parents, *values]):
            found.setdefault(row["parent"], []).append(row)
        return found

    def counts(self, db: sqlite3.Connection) -> dict[str, dict[str, int]]:
        """How many answers there would be with each value of each filter, the others being as they are; no zeros."""
        self.search(db)
        told = {name: self._holds(name) for name in WHICH}
        fits = " AND ".join(["1", *(told[name] for name in self.which)])
        sums = ", ".join(f"sum({fits} AND {holds}) AS {name}" for name, holds in told.items())
        where, values = structs.replace(self, which=(), **dict.fromkeys(FACTORS, "")).where()
        sql = f"""SELECT c.*, sum({fits}) AS n, {sums}
            FROM answers a JOIN conditions c ON c.id = a.condition WHERE {where} GROUP BY a.condition"""
        found = {name: Counter[str]() for name in (*FACTORS, "which")}
        for row in db.execute(sql, values):
            others = {name for name in FACTORS if getattr(self, name) not in ("", row[name])}
            for name in FACTORS:
                found[name][row[name]] += (row["n"] or 0) * (others <= {name})
            found["which"].update({} if others else {name: row[name] or 0 for name in told})
        return {name: {value: n for value, n in counts.items() if n} for name, counts in found.items()}

    def field_counts(self, db: sqlite3.Connection) -> dict[str, dict[str, int]]:
        """The same of each field's values."""
        self.search(db)
        where, values = structs.replace(self, field="").where()
        sql = f"""SELECT f.name, f.value, sum(n)
            FROM (SELECT a.parent, count(*) AS n FROM answers a WHERE {where} GROUP BY 1) found
            CROSS JOIN fields f ON f.parent = found.parent GROUP BY 1, 2"""
        found = dict[str, dict[str, int]]()
        for name, value, n in db.execute(sql, values):
            found.setdefault(name, {})[value] = n
        return found


ANSWERS = """SELECT a.*, c.model, c.set_name, c.variant, c.chain, c.context, c.style, c.shots, t.gold, t.picture
    FROM answers a JOIN conditions c ON c.id = a.condition LEFT JOIN samples t ON t.digest = a.digest"""
ORDER = "ORDER BY c.model, c.variant DESC, c.context, c.style, c.shots, c.chain, a.sample, a.epoch"


WAYS = {
    "kept": f"x.value > {EVEN} AND y.value > {EVEN}",
    "lost": f"x.value > {EVEN} AND y.value < {EVEN}",
    "partly": f"{EVEN} IN (x.value, y.value)",
    "gained": f"x.value < {EVEN} AND y.value > {EVEN}",
    "stuck": f"x.value < {EVEN} AND y.value < {EVEN}",
}
"""How a question changed, by its mean under the standard condition (x) and under the variant's (y): one of these."""


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


LONGEST_FORMULA = 1000
MOST_TOKENS = 4000
"""Beyond, words are not compared: it would take seconds."""

FORMULA = re.compile(
    rf"\$\$(.{{1,{LONGEST_FORMULA}}}?)\$\$|\\\[(.{{1,{LONGEST_FORMULA}}}?)\\\]"
    rf"|\\\((.{{1,{LONGEST_FORMULA}}}?)\\\)|\$(?!\s)([^$\n]{{1,{LONGEST_FORMULA}}}?)(?<!\s)\$",
    re.DOTALL,
)
_TOKEN = re.compile(rf"{FORMULA.pattern}|[A-Za-z0-9_]+|\s+|.", re.DOTALL)


class Piece(NamedTuple):
    """A part of a text: `words`, or a formula `inline` or on a line of its own (`display`)."""

    kind: str
    text: str
    changed: bool = False


def pieces(text: str, changed: bool = False) -> list[Piece]:
    """A text as words and formulas."""
    found, end = list[Piece](), 0
    for formula in FORMULA.finditer(text):
        if formula.start() > end:
            found.append(Piece("words", text[end : formula.start()], changed))
        kind = "display" if formula[1] or formula[2] else "inline"
        found.append(Piece(kind, next(part for part in formula.groups() if part), changed))
        end = formula.end()
    return [*found, Piece("words", text[end:], changed)] if text[end:] else found


def compared(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts, with the words marked that differ; formulas are words, and so is each Chinese character."""
    a, b = ([match[0] for match in _TOKEN.finditer(text)] for text in (before, after))
    if before == after or len(a) + len(b) > MOST_TOKENS:
        return pieces(before), pieces(after)
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        sides[0].extend(pieces("".join(a[a_from:a_to]), tag != "equal"))
        sides[1].extend(pieces("".join(b[b_from:b_to]), tag != "equal"))
    return sides


def render(template: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(template).render(**values)


def state_address(name: str, edition: str) -> str:
    """Where a page on a run asks whether it is out of date; `edition` is that of the index before the page was
    built."""
    return f"/run/{name}/state?edition={edition}"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("mmdyn.view"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    named = (condition_name, contrast_name, front_of, p_value, percent, pieces, score_text, unread_of)
    texts = {one.__name__: one for one in named}
    found.globals.update(texts, SAID=SAID, SORTS=SORTS)
    found.filters.update(when=_when, number="{:,}".format)
    return found


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
