"""Find what a rewriter must not change in a question: formulas, numbers with units, symbols, blanks, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

Span = tuple[int, int]


@lru_cache(maxsize=256)
def protected_spans(text: str) -> tuple[Span, ...]:
    """Find the half-open spans of a text that must stay as they are: sorted, disjoint, none empty.

    These are LaTeX between delimiters (an unclosed one extends to the end of its line) and commands outside of them;
    numbers with their units, dates; formulas and equations, single letters and names of capitals (x, AB, DNA, H2O);
    chemical names in Chinese; option letters and option lines; blanks; quotations, also in 《》; image marks, tags,
    tables, code, URLs; numbers of sub-questions. The time is linear in the length.

    >>> text = "A car of 5 kg moves at $v$ in <image 1>."
    >>> [text[start:end] for start, end in protected_spans(text)]
    ['5 kg', '$v$', '<image 1>']
    """
    found = [match.span(1) for match in _SCAN.finditer(text) if match[1]]
    found += [_with_unit(text, span) for span in latex_spans(text)]
    found += _option_lines(text)
    if "|" in text or "&" in text or "<table" in text:
        found += [match.span() for match in _TABLE.finditer(text)]
    return _merged(found)


def _merged(found: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return tuple(merged)


# --- formulas, numbers, names ---------------------------------------------------------------------------------------

_SIGN = "０-９Ａ-Ｚａ-ｚα-ωΑ-Ω∀-⋿←-⇿⇌△▲▱⊿⊙°℃℉′″‰²³¹⁰-ⁿ₀-ₜ√∞×÷±·Å%"
_RUN = rf"[A-Za-z0-9{_SIGN}^_=+*/<>()\[\]{{}}|'.,:;!~−－＝＋＞＜＊-]{{0,200}}(?<![.,:;!'(\[{{])"
_JOINED = (
    rf"(?:(?:\s?(?:[-+*/=<>^~×÷±·≤≥≠≈≡∈∉⊂⊆∪∩→⇌∥⊥∽≌−－＝＋＞＜]|∶){{1,3}}\s?|\s[:|]\s)"
    rf"(?:[A-Za-z]{{1,3}}(?![A-Za-z])|[-+−]?[A-Za-z]{{0,6}}[0-9{_SIGN}^_(\[{{|]{_RUN}))*"
)
_MEASURE = (
    "[克吨斤升秒分时点天日周月年岁元角度倍成折个只条种类次项支张本根辆位名人组对层行列排棵块头件部台座家户步句篇段节章页"
    "遍题级代面边维号]"
)
_NAMED_UNIT = (
    r"\s?(?:%|°\s?C|percent|degrees?|(?:kilo|centi|milli|deci|nano|micro|mega)?(?:met(?:er|re)|gram|lit(?:er|re)|watt|joule|volt"
    r"|amp(?:ere)?|newton|pascal|hertz|mole)s?|miles?|inch(?:es)?|f(?:ee|oo)t|ft|yards?|pounds?|lbs?|ounces?|gallons?|ton(?:ne)?s?"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|cents?|dollars?|euros?|yuan|rpm|mph"
    r"|[kcdmnμMG]?(?:m|g|L|l|s|A|V|W|J|N|T|Hz|Pa|mol|eV|Wh)(?:[·^][^\s\u3000-\uffef]{1,4})?)"
    r"(?:\s?/\s?[A-Za-z][^\s\u3000-\uffef]{0,6}(?<![.,;:?!])|\sper\s[a-z]{3,10})?(?![A-Za-z])"
    r"|\s?多?(?:平方|立方)?(?:千米|公里|厘米|毫米|分米|纳米|微米|米)(?:[/每](?:秒|小时|时|分))?|\s?多?(?:千克|公斤|毫克|毫升|小时|分钟"
    r"|摄氏度|星期|世纪|个月|月份|年代|边形|面体|角形|牛|焦|瓦|伏|安|欧|赫兹|帕|摩尔)"
)
_UNIT = rf"(?:{_NAMED_UNIT}|(?:(?<=[0-9])|(?<=[0-9] ))\s?多?{_MEASURE})?"
_COUNTED = rf"(?:\s?多?{_MEASURE}|{_NAMED_UNIT})"
_SYMBOL = rf"{_RUN}{_JOINED}{_UNIT}"
_NUMERAL = "零〇一二两三四五六七八九十百千万亿半几"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_TEENS = "eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
_TENS = "(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
_NUMBER_WORD = (
    rf"(?:{_TENS}-(?:one|two|three|four|five|six|seven|eight|nine)|two|three|four|five|six|seven|eight|nine|ten|{_TEENS}|{_TENS}"
    rf"|hundred|thousand|million|billion|dozen)(?![A-Za-z]){_UNIT}"
)
_SALT = (
    "(?:氢氧化|过氧化|次氯酸|亚硫酸|硫酸|硝酸|磷酸|碳酸氢?|醋酸|氯化|溴化|碘化|氟化|硫化|氮化|氧化)亚?"
    "[铁铜钠钾钙镁铝锌银钡铅锰铵氢碳硫氮硅磷汞]{0,2}"
)
_PROTECTED = (
    # tags and image marks, code, addresses
    r"<[A-Za-z/!][^<>]{0,300}>",
    r"`{3}[^`]*`{3}|`[^`\n]+`",
    r"(?:https?://|www\.)[^\s\u3000-\u9fff]+",
    # quotations; an apostrophe ends none
    r"“[^“”]*”|「[^「」]*」|『[^『』]*』|《[^《》]*》|【[^【】]*】|‘[^‘’\n]*(?:’[A-Za-z][^‘’\n]*)*’|\"[^\"\n]{1,400}\"",
    r"'(?=\S)[^'\n]{1,200}(?:'[A-Za-z][^'\n]{0,100}){0,3}'(?![A-Za-z0-9])",
    # blanks, numbers of sub-questions, option letters
    r"_{2,}|[(（][\s_]{0,40}[)）]|[▲□○]{1,3}|[①-⓿❶-❿Ⅰ-ⅿ](?:[^\S\n]?[.．、])?",
    r"[(（]\s?(?:[0-9]{1,2}|[ivx]{1,4}|[一二三四五六七八九十]{1,3}|[A-Ha-h])\s?[)）]",
    r"(?:[Oo]ptions?|[Cc]hoices?|选项)\s?[A-H](?![A-Za-z])(?:\s?(?:,|、|and|or|和|或)\s?[A-H](?![A-Za-z]))*",
    # dates and number words
    rf"(?:{_MONTH})\s[0-9]{{1,4}}(?:,\s[0-9]{{4}})?",
    _NUMBER_WORD,
    # numbers, formulas, symbols: from what they begin with
    rf"(?:sin|cos|tan|log|ln|lim)\s?(?:[A-Za-z](?![A-Za-z])|[0-9({_SIGN}]){_SYMBOL}",
    rf"[-+−$¥€£]{{0,2}}[0-9]{_SYMBOL}",
    rf"[{_SIGN}]{_SYMBOL}",
    rf"[B-HJ-Zb-z](?![A-Za-z]){_SYMBOL}",
    rf"(?<=[a-z,] )A(?![A-Za-z]){_SYMBOL}",
    rf"[AaI](?=\s?[+*/=<>^_{_SIGN}]|[-(0-9,，.。、:：;；\u3400-\u9fff]|\s(?:and|or|is|are|to|in|on|-)\s){_SYMBOL}",
    rf"[A-Za-z][a-z]{{0,11}}[0-9A-Z^_(=]{_SYMBOL}",
    rf"[A-Za-z]{{2,15}}\s?=\s?[-+]?[A-Za-z0-9({_SIGN}]{_SYMBOL}",
    rf"[(\[](?:[A-Za-z](?![A-Za-z])|[-+]?[0-9{_SIGN}]){_SYMBOL}",
    # Chinese: counted things, chemical names, the names 甲乙丙丁
    rf"第?[{_NUMERAL}]{{1,12}}+(?:分之[{_NUMERAL}]{{1,9}}|{_COUNTED})",
    rf"[浓稀]?{_SALT}|(?:乙|甲|丙|丁|苯)(?:烷|烯|炔|醇|醛|酸|酯|酚|苯)[钠钾]?|[浓稀]?盐酸|[甲乙丙丁]",
)
# What no protected span begins with is passed over in one go, so that the scan stops at few places.
_PLAIN = (
    rf"(?!https?://|www\.|(?:[Oo]ptions?|[Cc]hoices?|{_MONTH}|sin|cos|tan|log|ln|lim|{_NUMBER_WORD})\s?(?![A-Za-z]))"
    r"(?:[A-Z]?[a-z]{2,30}|I(?=['’]))(?:['’-][A-Za-z]{1,20})*+(?![A-Za-z0-9^_(=]|\s=)[ ,]*+"
    r"|\\[A-Za-z]*+[ {}]*+|\$+(?![0-9])|[ \n,}]++"
    rf"|[^\x00-\x7f“「『《【‘（{_SIGN}①-⓿❶-❿Ⅰ-ⅿ▲□○选第{_NUMERAL}氢过次亚硫硝磷碳醋氯溴碘氟氮氧浓稀盐甲乙丙丁苯−]++"
)
_SCAN = re.compile(rf"(?:{_PLAIN})*+(?:({'|'.join(_PROTECTED)})|[A-Za-z]+|[{_NUMERAL}]+|(?s:.)|\Z)")

_AFTER_NUMBER = re.compile(_COUNTED)


def _with_unit(text: str, span: Span) -> Span:
    """A number in dollar signs together with the unit after them: `$4$ cm`, `$$75$$米`."""
    start, end = span
    if (
        text[end - 1] == "$"
        and text[start:end].rstrip("$ ")[-1:].isdigit()
        and (unit := _AFTER_NUMBER.match(text, end))
    ):
        return start, unit.end()
    return span


# --- lines ----------------------------------------------------------------------------------------------------------

_TABLE = re.compile(
    r"^[^\S\n]{0,20}\|[^\n]*\|[^\n]*$|^[^|&\n]*+(?:(?<=\s)[|&]\s[^|&\n]*+){2}.*$|<table\b(?:[^<]|<(?!/table))*+(?:</table>)?",
    re.MULTILINE,
)
_OPTION_LINE = re.compile(r"\n([^\S\n]{0,20}(?:[A-H]\s?[.．、:：)）]|[(（][A-H][)）]).*)")
_FIRST_OPTION = re.compile(r"A(?<![^\s)）(（.。]A)\s?[.．、)）](?!\s?B)")
_SECOND_OPTION = re.compile(r"B(?<![^\s;；,，.。]B)\s?[.．、)）].*")


def _option_lines(text: str) -> list[Span]:
    """Lines that begin as an option does, and options that follow each other in one line."""
    found = [(match.start(1) - 1, match.end() - 1) for match in _OPTION_LINE.finditer("\n" + text)]
    if (first := _FIRST_OPTION.search(text)) and (second := _SECOND_OPTION.search(text, first.end())):
        found.append((first.start(), second.end()))
    return found


# --- LaTeX ----------------------------------------------------------------------------------------------------------


def latex_spans(text: str) -> Iterator[Span]:
    """Find the half-open spans of LaTeX in a text.

    They are text between delimiters, environments, and commands with their arguments. An unclosed delimiter,
    environment or brace extends to the end of its line. `$5 and $7` delimits nothing where every dollar sign of the
    text stands before a number. The time is linear in the length.
    """
    return _Reader(text).spans() if "$" in text or "\\" in text else iter(())


_OPENED = re.compile(r"\$\$?|\\(?:[(\[]|begin\b|[A-Za-z]+\*?|(?s:.)|\Z)")
_CLOSED = {
    "$$": re.compile(r"(?:[^$\\]|\\.|\$(?!\$))*+\$\$", re.DOTALL),
    "$": re.compile(r"(?:[^$\\\n]|\\.|\n(?![^\S\n]*\n))*+\$", re.DOTALL),
    r"\(": re.compile(r"(?:[^\\]|\\[^)])*+\\\)"),
    r"\[": re.compile(r"(?:[^\\]|\\[^\]])*+\\\]"),
}
_PRICES = re.compile(r"(?:[^$]*+(?<![^\s(（“])\$[0-9])++[^$]*+")
_ENVIRONMENT = re.compile(r"\\(begin|end)\b(?:\s?\{[^{}]{0,40}\})?")
_BRACE = re.compile(r"\\.|([{])|[}]", re.DOTALL)
_TAIL = re.compile(
    r"(?:\s?(?=[{\[]))?(?:\[[^\[\]\n]{0,80}\]|[^\s\\{}$\u3000-\u9fff\uff01-\uffef]{1,80}(?<![.,;:?!\[]))"
)


class _Reader:
    """Goes once through a text and finds where LaTeX begins and ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.prices = bool(_PRICES.fullmatch(text))  # "$5 and $7" delimits nothing
        self.never_closed: set[str] = set()

    @cached_property
    def environments(self) -> dict[int, int]:
        """Where each \\begin that has an \\end begins -> where that ends."""
        return _pairs(_ENVIRONMENT.finditer(self.text), "begin")

    @cached_property
    def groups(self) -> dict[int, int]:
        """Where each brace that is closed opens -> where its group ends."""
        return _pairs((brace for brace in _BRACE.finditer(self.text) if brace[0][0] != "\\"), "{")

    def spans(self) -> Iterator[Span]:
        at = 0
        while opened := _OPENED.search(self.text, at):
            at = self._end(opened[0], opened.start(), opened.end())
            if not (opened[0] == "$" and self.prices):
                yield opened.start(), at

    def _end(self, token: str, start: int, after: int) -> int:
        if token == "$" and self.prices:
            return after
        if token in _CLOSED:
            return self._closed(token, after)
        if token == r"\begin":
            return self.environments.get(start) or self._line_end(after)
        return self._arguments(after) if token[1:2].isalpha() else after

    def _closed(self, token: str, after: int) -> int:
        if token not in self.never_closed:
            if found := _CLOSED[token].match(self.text, after):
                return found.end()
            if token != "$":  # which is looked for in its paragraph only
                self.never_closed.add(token)
        return self._line_end(after)

    def _arguments(self, at: int) -> int:
        """The end of a command's groups and of the formula that goes on without a space."""
        while True:
            brace = at + 1 if self.text[at : at + 2] == " {" else at
            if self.text[brace : brace + 1] == "{":
                at = self.groups.get(brace) or self._line_end(at)
            elif tail := _TAIL.match(self.text, at):
                at = tail.end()
            else:
                return at

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _pairs(found: Iterable[re.Match[str]], opening: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    opened: list[int] = []
    for match in found:
        if match[1] == opening:
            opened.append(match.start())
        elif opened:
            ends[opened.pop()] = match.end()
    return ends
