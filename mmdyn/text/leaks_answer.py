"""Decide whether a text gives the gold answer of a sample away, by its words."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate, pairwise

from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text.normalise import one_spelling, without_latex
from mmdyn.text.numbers import WORDS, english, han

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
_SMALL = "|".join(sorted(WORDS, key=len, reverse=True))
_ENGLISH = re.compile(
    rf"\b(?!one\b(?! hundred| thousand| million))(?:{_SMALL})"
    rf"(?:(?:(?:(?<=hundred)|(?<=thousand)) and |[- ])(?:{_SMALL}|hundred|thousand|million|billion))*\b"
)
"""A number in words; `one` alone is mostly none."""
_ONES, _MORE = "一二两三四五六七八九", "零一二三四五六七八九十百千万亿"
_CHINESE = re.compile(
    rf"(?<![第分之点几数{_MORE}])(?:[{_ONES}]?十[{_ONES}]?|[{_ONES}][百千万亿][{_MORE}]*|[{_ONES[1:]}](?=[个种条只次名倍组层年岁元米]))"
    rf"(?![分足全字几{_MORE}])"
)
"""A numeral with places, or a digit before what is counted; not those of 十分, 十字 and 第三."""
_NUMBERS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("oes", "o"), ("ies", "y"),
    ("lves", "lf"), ("aves", "af"), ("ives", "ife"), ("ses", "sis"), ("xes", "xis"), ("ae", "a"), ("i", "us"),
    ("ices", "ex"), ("ices", "ix"), ("teria", "terium"), ("teria", "terion"), ("dria", "drion"), ("dia", "dium"),
    ("data", "datum"), ("tra", "trum"), ("omena", "omenon"), ("men", "man"), ("feet", "foot"), ("teeth", "tooth"),
    ("mice", "mouse"), ("children", "child"), ("people", "person"),
)  # fmt: skip
"""How English nouns end, of many and of one."""
_SENTENCE = re.compile(r"(?<=[.?!:])\s+|[。？！：\n]")
_VERDICTS = frozenset({"yes", "no", "true", "false", "正确", "错误", "不能", "不是", "不对"})


def leaks_answer(text: str, sample: Sample) -> bool:
    """Say whether a text contains a sample's gold answer.

    It must contain, of a choice, the texts of all right options (not their letters) and no wrong option outside a right
    one; of blanks, one accepted string each; of an open question the whole answer; of a true statement its longest
    sentence; of a claim made from a question, that question's answer.

    Both are compared without LaTeX wrappers, emphasis, case and spacing. Words and numbers must stand alone: `ion` is
    not in `lion`, nor 5 in 15, 5.2, -5, 5 × a or 5%, but it is in x = 5, 5cm and 5 faces. Item numbers (`3. …`, step 3,
    第3步) do not count. A noun may be singular or plural, a number in words or digits. A single letter or Chinese
    character, signs alone, and yes, no, true and false never count. Nothing is computed: 1/2 does not contain 0.5.

    >>> sample = Sample(id="q", question="2 + 3 = ?", task_type="fill_in_the_blank", answer=(("5", "five"),))
    >>> leaks_answer("So x = 5.", sample), leaks_answer("It is 15 or -5.", sample)
    (True, False)
    """
    block = _BULLET.sub("", _NUMBERING.sub(r"\1", _form(text)))
    told = sample.told
    right = told.right
    if sample.answer is True and not right:
        right = ((max(_SENTENCE.split(sample.question), key=len),),)
    spans = [[span for answer in accepted for span in _spans(answer, block)] for accepted in right]
    if not spans or not all(spans):
        return False
    held = sorted(span for found in spans for span in found)
    starts, ends = [start for start, _ in held], list(accumulate((end for _, end in held), max))
    return all(
        (last := bisect(starts, start)) and end <= ends[last - 1]
        for answer in told.wrong
        for start, end in _spans(answer, block)
    )


def _spans(answer: str, block: str) -> list[tuple[int, int]]:
    """Where an answer stands in a text, `block`, which is in its form."""
    wanted = _form(IMAGE_MARK.sub(" ", answer)).strip(_OUTSIDE)
    letter = len(wanted) == 1 and wanted.isalpha()
    if letter or wanted in _VERDICTS or not _TELLING.search(wanted):
        return []
    if not any(part in block for part in _numbers_of(_TOKEN.findall(wanted)[-1])):
        return []
    return [found.span() for found in re.finditer(_alone(wanted), block)]


def _alone(wanted: str) -> str:
    """The pattern of an answer in its form, spaces free, ends that are words or numbers bounded."""
    tokens = list(_TOKEN.finditer(wanted))
    signed = re.match(r"-\d", wanted) is not None
    pattern = _before(tokens[0][0], signed) + _either(tokens[0][0])
    for last, token in pairwise(tokens):
        apart = last.end() < token.start() and _kind(last[0]) == _kind(token[0]) != ""
        joined = signed and last is tokens[0]
        pattern += (r"\s+" if apart else "" if joined else r"\s*") + _either(token[0])
    return pattern + _after(tokens[-1][0])


def _either(token: str) -> str:
    return f"(?:{'|'.join(map(re.escape, _numbers_of(token)))})"


def _numbers_of(word: str) -> list[str]:
    """A word as it is, and an English noun as it may be for one and for many."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return [word]
    many = [word.removesuffix(one) + more for more, one in _NUMBERS if word.endswith(one)]
    single = [word.removesuffix(more) + one for more, one in _NUMBERS if word.endswith(more) and len(word) > 3]
    return [word, *many, *single]


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
    text = _CHINESE.sub(lambda found: str(han(found[0])), re.sub(r"[^\S\n]+", " ", _UNIT.sub(" ", text)).casefold())
    return _ENGLISH.sub(lambda found: str((english(found[0]) or found)[0]), text)
