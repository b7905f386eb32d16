"""AcadReason: research questions of five disciplines with a golden answer, a checklist and three kinds of hints."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, sample_id
from mmdyn.sample import Sample
from mmdyn.table import NamedTable, Paired, Part, Pivot, Where

_MEASURES = ("pass_rate", "checklist")
_HINTS = ("background", "definition", "methodology", "all")


def _by(*factors: str, context: str = "") -> tuple[Part, ...]:
    """Pass rate and checklist score."""
    where: Where = {"context": (context,)} if context else {}
    return tuple(Pivot(by=factors, measure=measure, where=where) for measure in _MEASURES)


def _gains(by: tuple[str, ...] = ("model",)) -> tuple[Part, ...]:
    """What each kind of hints adds."""
    ways = [(measure, hint) for measure in _MEASURES for hint in _HINTS]
    return tuple(Paired(factor="context", a="none", b=f"hint:{hint}", by=by, measure=measure) for measure, hint in ways)


_TABLES = (
    NamedTable.of("table1", "Disciplines", *_by("model", "discipline", context="none")),
    NamedTable.of("table2", "Hints", *_by("model", "context")),
    NamedTable.of("table4", "With background hints", *_by("model", "discipline", context="hint:background")),
    NamedTable.of("table5", "With definition hints", *_by("model", "discipline", context="hint:definition")),
    NamedTable.of("table6", "With methodology hints", *_by("model", "discipline", context="hint:methodology")),
    NamedTable.of("figure2", "Checklist score by discipline", *_by("discipline", "model", context="none")[1:]),
    NamedTable.of("figure3", "Gains by hints", *_gains(), *_gains(by=("discipline",))),
    NamedTable.of("figure11", "Pass rate by discipline", *_by("discipline", "model", context="none")[:1]),
)

_BAR = re.compile(r"(?<!\S)\|(?!\S)")
_SPACES = re.compile(r"[ \t]*+")
_STARTS = re.compile(r"[ \t]*+(?:\||$|\n|[-*•–] |\*\*|#+ |\(?\d{1,2}[.)、](?!\d)|\(?[a-z]\) )")
_ENDS = re.compile(r"(?:[.:;?!。：；？！][*_)\]”\"’]*|\n)$")
_DIGITS = r"[(\[]?(?:(?:item|point|step|criterion)\s*)?(\d{1,3})[.)、:：\]](?!\d)"
_NUMBER = re.compile(
    rf"^([ \t]*)(?:[-*•] +)?(?:\[ ?\] *)?(?:#+ *)?(?:\*\*)?{_DIGITS}[ \t]*", re.MULTILINE | re.IGNORECASE
)
_INLINE = re.compile(rf"(?:^|(?<=[\s|;；,，/])){_DIGITS}", re.IGNORECASE)
_MARK = re.compile(rf"\A(?:[-*•–] +)?(?:\[ ?\] *)?((?:#+ *)?(?:\*\*)?)(?:{_DIGITS})?\s*", re.IGNORECASE)
_HEADING = r"(?:#+ [^\n]*|\*\*[^*\n]+\*\*:?)[ \t]*"
_STARTS_OF_ITEMS = (
    rf"^{_HEADING}$", r"^(?:[-*•–]|\[ ?\]) +", r"(?:\A|(?<=\n\n))(?=\S)", r"^(?=\S)", r"(?:\A|(?<=\|))(?=\s*[^\s|])",
    r"(?:\A|(?<=[;；]))(?=\s*[^\s;；])",
)  # fmt: skip
"""Headings, bullets that are not indented, paragraphs, lines, parts between bars, parts between semicolons."""


class _Question(Struct):
    task_id: int
    domain: str
    title: str
    query: str
    golden_truth: str
    checklist: str
    num_checklist: int
    hints_background: str = ""
    hints_definition: str = ""
    hints_methodology: str = ""


class Acadreason(Benchmark[_Question]):
    """AcadReason (OPPO AI Agent Team 2025, arXiv:2510.11652; github.com/OPPO-PersonalAI/Acadreason-benchmark;
    Apache-2.0).

    Reads `questions.jsonl`, or the release's `data/acadreason_benchmark.jsonl`. Every question is open_ended with the
    golden answer; the domain is the discipline, the title of the paper stays in `meta`. The hints are `background`,
    `definition` and `methodology`. The checklist is cut into exactly `num_checklist` items (`split_checklist`); a list
    that numbers more keeps the surplus in the last item, and `meta` then says how many are numbered. ` | ` where a line
    ends is a new line.
    """

    name = "acadreason"
    contrasts = ("context",)
    tables = _TABLES
    row = _Question
    published = (("data/acadreason_benchmark.jsonl",),)

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        try:
            items, numbered = split_checklist(row.checklist, row.num_checklist)
        except ValueError as error:
            raise ValueError(f"task {row.task_id}: {error}") from None
        hints = {
            "background": row.hints_background,
            "definition": row.hints_definition,
            "methodology": row.hints_methodology,
        }
        surplus = {"checklist_numbered": numbered} if numbered > len(items) else {}
        return Sample(
            id=sample_id("acadreason", str(row.task_id)),
            question=lines(row.query),
            task_type="open_ended",
            answer=lines(row.golden_truth),
            fields={"discipline": row.domain.strip().lower(), "modality": "text"},
            hints={name: text for name, hint in hints.items() if (text := lines(hint))},
            checklist=items,
            meta={"title": re.sub(r"\s*\|\s*", " ", row.title).strip(), **surplus},
        )


def lines(text: str) -> str:
    """The text with a new line for each ` | ` that ends one.

    It does where a sentence or a heading (`# …`) ends before it, or where a list item, a heading or another bar begins
    after it. Any other bar stays, such as those of {x | x > 0} and | x − y | ≤ 1.
    """
    pieces: list[str] = []
    at, first = 0, ""
    for bar in _BAR.finditer(text):
        piece = text[at : bar.start()]
        at = bar.end()
        if "\n" in piece or not first:
            first = piece[piece.rfind("\n") + 1 :].lstrip()[:1]
        if first == "#" or not piece.strip() or _ENDS.search(piece.rstrip()[-8:]) or _STARTS.match(text, at):
            pieces += [piece.rstrip(" \t"), "\n"]
            spaces = _SPACES.match(text, at)
            assert spaces
            at, first = spaces.end(), ""
        else:
            pieces += [piece, "|"]
    whole = re.sub(r"(?<![ \t])[ \t]++$", "", "".join([*pieces, text[at:]]), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", whole).strip()


def split_checklist(text: str, count: int) -> tuple[tuple[str, ...], int]:
    """A checklist's `count` items without their numbers, and how many the list numbers (0 where it does not number
    them).

    The items are, in this order, what the numbers 1, 2, 3, … at the beginning of lines begin; what such numbers begin
    that start again with 1; what numbers inside lines begin, where there are no others; what headings begin; what
    bullets begin that are not indented; paragraphs; lines; and without any number parts between bars, and between
    semicolons. The first of these that gives `count` items is taken. Where none does and the list numbers more, the
    items above `count` stay in the last one, with their numbers. Quotes, commas and brackets of a list in JSON's or
    Python's writing, closed or not, go.

    Raises ValueError where `count` is no positive number or no way gives as many.
    """
    if count < 1:
        raise ValueError(f"num_checklist is {count}: give the number of items")
    text = lines(_unquoted(text))
    numbered = _in_order(text)
    inline = {found.start(): int(found[1]) for found in _INLINE.finditer(text)}
    patterns = _STARTS_OF_ITEMS[: 4 if inline else 6]
    ways = [
        *(numbered, _in_order(text, again=True), list(inline) if [*inline.values()] == [*range(1, count + 1)] else []),
        *([found.start() for found in re.finditer(pattern, text, re.MULTILINE)] for pattern in patterns),
    ]
    starts = next((way for way in ways if len(way) == count), numbered[:count])
    if len(starts) < count:
        raise ValueError(
            f"the checklist numbers {len(numbered)} items and num_checklist says {count}: number the items 1. 2. …"
        )
    return _items(text, starts), len(numbered)


def _unquoted(text: str) -> str:
    r"""A list of quoted strings as one string a line; any other text as it is, but with 1. for ①, and a new line for
    each `\n`, `<br>` or bar before a number."""
    text = re.sub(r"[①-⑳]", lambda found: f"{ord(found[0]) - ord('①') + 1}. ", text)
    text = re.sub(r"\|(?=\d{1,3}[.)])|\\n(?=\s*(?:[-*•] |\d{1,3}[.)]))|<br ?/?>", "\n", text)
    body = text.strip(" \t\n[]|,")
    quote = re.match(r"[\"'“]", body) or re.search(r"[\"'”][\s|]*,[\s,|]*([\"'“])(?=\d)", body)
    if not quote:
        return text
    begin = quote[quote.lastindex or 0]
    end = "”" if begin == "“" else begin
    parts = re.split(rf"{end}[\s,|]*[,|\n][\s,|]*{begin}", body.removeprefix(begin).removesuffix(end))
    escaped = end if re.search(r"(?<!\\)(?:\\\\)*\\[^\\\"']", body) else rf"[{end}\\]"
    return "\n".join(re.sub(rf"\\({escaped})", r"\1", part).strip() for part in parts)


def _in_order(text: str, *, again: bool = False) -> list[int]:
    """Where the numbers 1, 2, 3, … stand that are not indented more than the first; `again`: they may start again."""
    wanted, indent, starts = 1, 0, list[int]()
    for found in _NUMBER.finditer(text):
        number = int(found[2])
        if number in (wanted, 1 if again else wanted) and (not starts or len(found[1]) <= indent):
            wanted, indent = number + 1, len(found[1])
            starts.append(found.start())
    return starts


def _items(text: str, starts: list[int]) -> tuple[str, ...]:
    """What begins at each start, without a heading or a separator at its end; what stands before the first is the
    list's title and is left out."""
    items = [text[start:end].strip() for start, end in pairwise([*starts, len(text)])]
    items = [re.sub(rf"(?<=\S)\s*\n{_HEADING}\Z", "", item) for item in items]
    ends = {item[-1:] for item in items[:-1]}
    if len(ends) == 1 and ends < {*"|/;；,，"}:
        items = [item.rstrip("|/;；,， ") for item in items]
    return tuple(_MARK.sub(r"\1", item) for item in items)
