"""Whether a text beside a question gives the gold answer away word for word."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate, pairwise

from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text.latex import without_latex
from mmdyn.text.normalise import one_spelling

_TOKEN = re.compile(r"[^\W\d_\u3400-\u9fff]+|\d+|\S")
_LATIN = r"[^\W_\u3400-\u9fff]"
_SIGNS = r"[-+*/^÷±√]"
_COUNTED = ("step", "chapter", "section", "lesson", "unit", "figure", "fig.", "table", "example", "rule")
_NUMBERING = re.compile(r"^((?: ?- [^\n]*?:)? ?)\d{1,2}[.)、](?!\d)(?= ?\S)|(?<![\w)\]])\(\d{1,2}\)", re.M)
"""What counts the lines of a text, also behind a point's name, or the items within them."""
_BULLET = re.compile(r"^ ?[-*+•] ", re.M)
_CIRCLED = {0x2460 + number: 0xE000 + number for number in range(20)}
"""Circled numbers as characters for private use, which no spelling makes plain numbers of."""
_EMPHASIS = re.compile(r"(?<![\w*)])([*_]{1,3})(?=[^\s*_])([^*_\n]+)(?<!\s)\1(?![\w*(])")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_SUBSCRIPT = re.compile(r"(?<=[A-Za-z)])_(?=\d)")
_UNIT = re.compile(r"(?<=\d)(?=(?:[kcdmn]m|[km]?g|ml|min|km/h|m/s)(?![^\W_]))", re.I)
_TELLING = re.compile(r"[^\W_]|[\ue000-\ue013]")
_OUTSIDE = " \t\r\n.,;:!?。、…\"'“”‘’"
_VERDICTS = frozenset({"yes", "no", "true", "false", "正确", "错误", "不能", "不是", "不对"})


def leaks_answer(text: str, sample: Sample) -> bool:
    """Whether a text holds a sample's gold answer verbatim.

    What counts: of a choice the texts of all right options, not their letters (an option that is a picture has none);
    of blanks one accepted string for each; of an open question the whole answer; of a question that became a claim what
    counts for its parent, whether the claim is true or not. A text that holds a wrong option too,
    other than inside a right one, tells nothing about a choice, whatever it says of them.

    Compared is what is left of both without LaTeX's wrappers, dollars and emphasis, in one spelling of look-alike
    characters, without regard to case and spacing, and of the answer without punctuation at its ends. Words and numbers
    have to stand alone: `ion` is not held by `lion`, nor 5 by 15, 5.2, 5th or 1,5; Chinese characters may stand within
    others. A number at an end of an answer does not stand beside a sign of arithmetic, % or ° in the text: 5 is not
    held by -5, 10-5, 5 × a, 3-5, x^5 or 5%, but by x = 5, 5cm and 5 faces. Numbers that count (`3. …`, `(3) …`, step 3,
    第3步) hold nothing, and ③ is held by itself alone. Never held are a single letter or Chinese character, signs
    alone, and yes, no, true and false. Nothing is worked out: 0.5 is not held by 1/2, nor `foxes` by `fox`.
    """
    block = _BULLET.sub("", _NUMBERING.sub(r"\1", _form(text)))
    squeezed = "".join(block.split())
    told = sample.told
    spans = [[span for answer in accepted for span in _spans(answer, block, squeezed)] for accepted in told.right]
    if not spans or not all(spans):
        return False
    held = sorted(span for found in spans for span in found)
    starts, ends = [start for start, _ in held], list(accumulate((end for _, end in held), max))
    return all(
        (last := bisect(starts, start)) and end <= ends[last - 1]
        for answer in told.wrong
        for start, end in _spans(answer, block, squeezed)
    )


def _spans(answer: str, block: str, squeezed: str) -> list[tuple[int, int]]:
    """Where an answer stands in a text. `block` is the text in its form, `squeezed` the same without spaces."""
    wanted = _form(IMAGE_MARK.sub(" ", answer)).strip(_OUTSIDE)
    letter = len(wanted) == 1 and wanted.isalpha()
    if letter or wanted in _VERDICTS or not _TELLING.search(wanted) or "".join(wanted.split()) not in squeezed:
        return []
    return [found.span() for found in re.finditer(_alone(wanted), block)]


def _alone(wanted: str) -> str:
    """The pattern of an answer in its form, spaces free, ends that are words or numbers bounded."""
    tokens = list(_TOKEN.finditer(wanted))
    signed = re.match(r"-\d", wanted) is not None
    pattern = _before(tokens[0][0], signed) + re.escape(tokens[0][0])
    for last, token in pairwise(tokens):
        apart = last.end() < token.start() and _kind(last[0]) == _kind(token[0]) != ""
        joined = signed and last is tokens[0]
        pattern += (r"\s+" if apart else "" if joined else r"\s*") + re.escape(token[0])
    return pattern + _after(tokens[-1][0])


def _before(first: str, signed: bool) -> str:
    unsigned = rf"(?<!{_SIGNS})(?<!{_SIGNS} )"
    if signed:
        return rf"(?<![\w)\]])(?<![\d)\]] ){unsigned}"
    if _kind(first) == "number":
        counted = "".join(rf"(?<!\b{re.escape(word)} )" for word in _COUNTED)
        return rf"(?<!{_LATIN})(?<!\d[.,:])(?<![.)]){unsigned}(?<!第)(?<!第 ){counted}"
    return rf"(?<!{_LATIN})" if _kind(first) else ""


def _after(last: str) -> str:
    if _kind(last) == "number":
        return rf"(?!{_LATIN})(?![.,:]\d)(?!\()(?! ?(?:{_SIGNS}|[%°]))"
    return rf"(?!{_LATIN})(?!\^)" if _kind(last) else ""


def _kind(token: str) -> str:
    if token.isdigit():
        return "number"
    return "word" if re.match(r"[^\W\d_\u3400-\u9fff]", token) else ""


def _form(text: str) -> str:
    text = one_spelling(without_latex(_EMPHASIS.sub(r"\2", text.translate(_CIRCLED)))).replace("$", "")
    text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), _SUBSCRIPT.sub("", text))
    return re.sub(r"[^\S\n]+", " ", _UNIT.sub(" ", text)).casefold()
