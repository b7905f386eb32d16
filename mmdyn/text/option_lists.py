"""Read option lists: where options begin, what each says, and which of them an answer names; English and Chinese.

Examination papers print options one a line, several a line, run together (`…则（）A. 1B. 2`) or between semicolons;
other files hold them one by one. Small errors are corrected, and each correction is noted in a sentence: labels in
lower case or in TeX, a missing point, one wrong letter among right ones (A, B, C, F), another order, a repeated option.
Text with two possible readings is an error, never a guess: two texts for one label, a gap in the letters, words after
the last option that may be one more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from string import ascii_uppercase
from typing import NamedTuple
from unicodedata import normalize

from mmdyn.sample import Option


class SplitQuestion(NamedTuple):
    """One question of a text: its stem, with its number where it has one; its options; notes on corrections to them."""

    stem: str
    options: tuple[Option, ...] = ()
    mended: tuple[str, ...] = ()


class _Block(NamedTuple):
    """A question's options: where their list begins and where the last one's words do; the words of those before it;
    which of them are A, B, C, …; what was mended."""

    begin: int
    last: int
    words: list[str]
    order: list[int]
    mended: tuple[str, ...]


_PLAIN = r"[(（]?([A-H])[.．、)）](?![ \t]*[;；])"
_TEX = r"\\(?:mathrm|mathbf|mathit|textbf|text|rm|bf)\s*\{\s*~?\s*"
_ANY = (
    rf"(?i:\$\s*(?:{_TEX})?[A-H]\s*\}}?\s*(?:\$\s*[.．:：)）]|[.．:：)）]\s*\}}?\s*\$)"
    rf"|{_TEX}[A-H]\s*(?:\}}\s*[.．:：)）]|[.．:：)）]\s*\}})"
    r"|\*\*[(（]?[A-H](?:[)）]?\*\*[.．:：)）]|[.．:：)）]\*\*)"
    r"|(?:(?:option|choice|选项)[ \t]?)?[(（\[【]?[A-HＡ-Ｈ][ \t]?[.．、:：)）\]】])(?![ \t]*[;；])"
)
_LINE = r"^[ \t\u3000\xa0]*(?:[-*•][ \t]+)?"
_GLUED = re.compile(r"(?<![A-Za-z\\(（*])[(（]?([A-H])[.．)）](?![ \t]*[;；])")
_SPACED = re.compile(rf"(?<![^\s;；]){_ANY}")
_READINGS = (
    re.compile(rf"^[ \t\u3000\xa0]*{_PLAIN}", re.MULTILINE),
    re.compile(rf"(?<![^\s;；]){_PLAIN}"),
    _GLUED,
    re.compile(_LINE + _ANY, re.MULTILINE),
    re.compile(rf"(?:{_LINE}|(?<=[ \t\u3000\xa0]{{2}})|(?<=\t)|(?<=[;；])[ \t]*){_ANY}", re.MULTILINE),
    _SPACED,
    re.compile(rf"(?<!\S)(?:{_PLAIN}|(?:(?<=\s\s)|(?<=\t)|(?m:^))(?!A [a-z])[A-H](?=[A-Z \t]))"),
)
"""How a letter is known to begin an option, surest first: a plain one on a line; after a white space or a semicolon;
glued to what stands before. One in any writing on a line; in a column too; after any white space. One without its
point, which begins a line or stands in a column."""

_MENDABLE = _READINGS[3:5]
"""Where a letter may be wrong."""

_BEFORE = re.compile(rf"\s*{_ANY}(?:(?<![、:：])|(?<=[:：])\s)(?=\s*\S)")
"""A label before an option's own words, which A、C、B and A:B are not."""

_TABLE = re.compile(r"\\begin\{tabular\}.*\\end\{tabular\}", re.DOTALL)
_FORMULA = re.compile(r"\$[^$\n]*\$")
_UNMARKED = re.compile(
    r"(?:[\n;；][ \t\u3000]*+|(?<![ \t\u3000])[ \t\u3000]{2,}+)[(（]?[^\s(（][.．、)）][ \t]*[^\s;；\d]"
)
"""What looks like a label that cannot be read."""

_NUMBER = re.compile(
    r"(?<![\d.．])(\d{1,2})\s*[.．、](?!\d)|[(（](\d{1,2})[)）]|^[ \t]*(\d{1,2})(?=\s+[A-Z])", re.MULTILINE
)
_HAN = "\u2e80-\u9fff\u3000-\u303f\uff00-\uffef"
_WRAPPED = re.compile(rf"(?<=[{_HAN}])[ \t]*\n\s*(?=[{_HAN}])")


def split_options(text: str, least: int = 4) -> SplitQuestion:
    """Split the options off the end of a question that has at least `least` of them.

    Without any, `options` is empty. Options may all be empty (`A. B. C. D.`): they are then in a picture.

    Raises:
        ValueError: Letters like those of options do not run A, B, C, … to the end.

    >>> split_options("2 + 3 = ? A. 4 B. 5 C. 6 D. 7").stem
    '2 + 3 = ?'
    >>> [option.text for option in split_options("2 + 3 = ? A. 4 B. 5 C. 6 D. 7").options]
    ['4', '5', '6', '7']
    """
    if blocks := _blocks(text, 1, least):
        [block] = blocks
        return SplitQuestion(text[: block.begin].strip(), _options(text, block, len(text)), block.mended)
    shown = _hide(text, _TABLE)
    if len(_letters(_SPACED, shown)) > 1 or {"A", "B"} <= _letters(_GLUED, shown):
        raise ValueError("the options do not run A, B, C, … to the question's end: write each on a line of its own")
    return SplitQuestion(text.strip())


def split_questions(text: str, count: int, least: int = 4) -> tuple[str, list[SplitQuestion]]:
    """Split a text with `count` > 1 numbered questions, each with its options.

    Args:
        text: A passage, and the questions behind it.
        count: The number of questions.
        least: The smallest number of options of a question.

    Returns:
        The passage before the questions, and the questions.

    Raises:
        ValueError: There are not so many runs of options, or the questions' numbers neither follow each other nor begin
            again with 1.
    """
    blocks = _blocks(text, count, least)
    if not blocks:
        raise ValueError(f"{count} answers, but the options of {count} questions cannot be told apart: split the row")
    begins, mended = _numbers(text, blocks)
    ends = [*begins[1:], len(text)]
    questions = [
        SplitQuestion(text[begin : block.begin].strip(), _options(text, block, end), block.mended + mended)
        for begin, block, end in zip(begins, blocks, ends, strict=True)
    ]
    if any(not option.text for question in questions for option in question.options):
        raise ValueError(f"{count} answers, but an option is empty: fill it")
    if any(_goes_on(text, block, end) for block, end in zip(blocks, ends, strict=True)):
        raise ValueError(f"{count} answers, but words follow a question's last option: label every option")
    return text[: begins[0]].strip(), questions


def read_options(
    texts: Sequence[str], labels: Sequence[str] = ascii_uppercase
) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """Build options A, B, C, … from texts that are given one by one; a label repeated before each text is removed.

    Args:
        texts: The options' texts.
        labels: Their labels, in any writing.

    Returns:
        The options, and notes on corrections.

    Raises:
        ValueError: The labels, or those before the texts, do not run A, B, C, …

    >>> options, notes = read_options(["A. four", "B. five"])
    >>> [(option.label, option.text) for option in options]
    [('A', 'four'), ('B', 'five')]
    """
    labels = list(labels[: len(texts)])
    order, mended = _settle([f"{label}." if len(label) == 1 else label for label in labels], texts)
    texts = [texts[at] for at in order]
    found = [_BEFORE.match(text) for text in texts]
    before = [mark[0].strip() if mark else "" for mark in found]
    words = [text[mark.end() if mark else 0 :].strip() for mark, text in zip(found, texts, strict=True)]
    own = sum(_letter(label) == right for label, right in zip(before, ascii_uppercase, strict=False))
    labelled = len(texts) > 1 and all(before) and "A" in map(_letter, before)
    if labelled and not all(map(_GOES_ON.search, texts)):
        again, more = _settle(before, words)
        if again != [*range(len(texts))]:
            raise ValueError("the letters before the options' words are not those of the options: correct them")
        texts, mended = words, (*mended, *more, "Letters before the options' words were taken off.")
    elif own > max(1, len(texts) - 2):
        raise ValueError("some options' words begin with a letter and a point, some do not: label all or none")
    return tuple(Option(label, text) for label, text in zip(ascii_uppercase, texts, strict=False)), mended


def options_are_letters(options: tuple[Option, ...]) -> bool:
    r"""Say whether each option's text is its own letter, as where its content is in a table or picture.

    >>> options_are_letters((Option("A", "A"), Option("B", "$B$")))
    True
    >>> options_are_letters((Option("A", "B"), Option("B", "A")))
    False
    """
    return bool(options) and all(_bare(option.text) in (option.label, "") for option in options)


def read_labels(text: str, labels: Sequence[str], texts: Sequence[str] = ()) -> tuple[str, ...]:
    r"""Find the labels that an answer names: `B`, `b`, `ACE`, `A, C`, `(A) and (C)`, `$\mathrm{BD}$`, `答案：B`.

    Args:
        text: The answer.
        labels: The options' labels.
        texts: The options' texts, in the same order; with them `B. three` and `three` name B, too.

    Returns:
        The labels; empty where the answer names none or may name others as well.

    >>> read_labels("(A) and (C)", "ABCD"), read_labels("five", "ABCD", ["four", "five", "six", "ten"])
    (('A', 'C'), ('B',))
    """
    if text in labels:
        return (text,)
    words = dict(zip(labels, map(_folded, texts), strict=False))
    plain = re.sub(r"\\[a-z]+(?=\s*\{)|[${}~*]", " ", _SAID.sub("", normalize("NFKC", text))).strip(_ENDS)
    listed = tuple(part for part in re.split(r"[\s,;、，；/&.()（）]+|(?<!\w)and(?!\w)|[和与]", plain) if part)
    letters = tuple("".join(listed))
    for named in ((text.strip(),), (plain,), listed, letters):
        for way in (named, tuple(part.upper() for part in named)):
            word = named is letters and way != named and list(way) != sorted(way)
            if way and not word and all(part in labels for part in way):
                return way if len(plain) == 1 or _folded(text) not in words.values() else ()
    led = leading_labels(text)
    if led and len(led[0]) == 1 and words.get(led[0][0]) == _folded(led[1]):
        return led[0]
    told = [label for label, word in words.items() if word == _folded(text)]
    return tuple(told) if len(told) == 1 and len(told[0]) < len(_folded(text)) else ()


def read_letters(text: str, options: tuple[Option, ...] = ()) -> tuple[str, ...]:
    """Find the labels that an answer names, as `read_labels` does; without options they are A to H.

    Raises:
        ValueError: The answer names none.
    """
    labels = [option.label for option in options] or list("ABCDEFGH")
    if named := read_labels(text, labels, [option.text for option in options]):
        return named
    raise ValueError(f"the answer {text.strip()[:40]!r} is no option: the options are {', '.join(labels)}")


def leading_labels(text: str) -> tuple[tuple[str, ...], str] | None:
    """Split an answer into the labels that it begins with, in any writing, and the rest.

    Labels are `C: Because …`, `(C) Because …`, `$C$` or `(A, D) Option A is …`.

    Returns:
        None where there are no labels, or several that may belong to a sentence (`A, B and C are …`).

    >>> leading_labels("C: Because it is red."), leading_labels("A, B and C are red.")
    ((('C',), 'Because it is red.'), None)
    """
    if several := _SEVERAL.match(text):
        labels = tuple(re.findall("[A-H](?![A-Za-z])", several[1]))
        return (labels, text[several.end() :].strip()) if len({*labels}) == len(labels) else None
    found = _BEGINS.match(text)
    return ((_letter(found[1]),), text[found.end() :].strip()) if found else None


_ENDS = " .()（）[]【】。．:：\t\r\n"
_SAID = re.compile(
    r"^(?:\s*(?i:(?:the\s+)?(?:correct\s+)?(?:answer|option)|【?答案】?|故?选)(?:\s+is|[为是])?\s*[:：]?(?![A-Za-z]{2}))"
)
_BEGINS = re.compile(
    rf"{_SAID.pattern[1:]}?\s*({_ANY}|\$[A-H]\$|\(?[A-H]\)?(?![A-Za-z)]))"
    r"(?!(?<=、)\s*[A-H](?![A-Za-z]))(?!\s*(?:or\b|and\b|[/&,、或和])\s*\(?[A-H](?![A-Za-z]))[\s:：.,)-]*"
)
_SEVERAL = re.compile(
    rf"{_SAID.pattern[1:]}?\s*\(?((?:\(?[A-H]\)?\s*(?:(?:[,，、&]|and\b|和)\s*)+)+\(?[A-H](?![A-Za-z])\)?)\)?"
    r"(?=\s*$|\s*[.。:：]|\s+[A-Z][a-z])[\s.。:：]*"
)
_GOES_ON = re.compile(r"(?i)[,;]\s?\(?B\)?\s?[:=.)]|[,;]\s?\(B\)")
"""In each option: the letters name what all of them speak of ("A: 3, B: 4")."""
_LEADING = re.compile(r"^\s*(\d{1,2})\s*(?:[．、]|\.(?=\D|(?:19|20)\d\d\s*年))\s*")
_POINTS = re.compile(r"^\s*[(（]\s*\d{1,2}(?:\.\d)?\s*分\s*[)）]\s*")
_RANGE = re.compile(r"(?:完成|回答)\s*(?:第\s*)?(\d{1,2})\s*(?:[~～〜－\-–—﹣至、]\s*|\s)(\d{1,2})\s*小?题")


def question_range(text: str) -> tuple[int, int] | None:
    """Find the questions that a Chinese passage says it is for; None where it does not say.

    >>> question_range("据此完成6～8题。")
    (6, 8)
    """
    found = _RANGE.search(text.replace("$", "").replace("\\sim", "~"))
    return (int(found[1]), int(found[2])) if found else None


def strip_question_number(text: str) -> str:
    """Remove a Chinese examination question's leading number and points, `1. (6 分) `.

    The number stays where the text says that it is for several questions: there it says which one is meant.

    >>> strip_question_number("1. (6 分) 求 x 的值。")
    '求 x 的值。'
    """
    if question_range(text):
        return text.strip()
    return _POINTS.sub("", _LEADING.sub("", text)).strip()


def _blocks(text: str, count: int, least: int) -> list[_Block]:
    """The last `count` runs of options, by the surest reading that gives them; none where none does."""
    shown = _hide(text, _TABLE)
    for reading in _READINGS:
        marks = list(reading.finditer(_hide(shown, _FORMULA) if reading is _GLUED else shown))
        firsts = [at for at, mark in enumerate(marks) if _letter(mark[0]) == "A"][-count:]
        runs = [marks[begin:end] for begin, end in pairwise([*firsts, len(marks)])]
        small = all(mark[0].islower() for mark in marks[firsts[0] :]) if firsts else False
        if len(runs) < count or (small and _letters(_GLUED, text) & {"A", "B"}):
            continue  # a list in lower case is none where capitals stand too: those are the options
        with suppress(ValueError):
            blocks = [_block(text, run, mendable=reading in _MENDABLE) for run in runs]
            if min(len(block.order) for block in blocks) >= least and not _goes_on(text, blocks[-1], len(text)):
                return blocks
    return []


def _block(text: str, marks: list[re.Match[str]], *, mendable: bool) -> _Block:
    """The options that begin at these marks. Raises ValueError where their labels cannot be put in order, and where
    some say something and some do not."""
    printed = [mark[0].strip() for mark in marks]
    words = [_tidy(text[mark.end() : after.start()]) for mark, after in pairwise(marks)]
    whole = [*words, _tidy(text[marks[-1].end() :])]
    order, mended = _settle(printed, whole)
    as_it_should = "".join(map(_letter, printed)) == ascii_uppercase[: len(printed)]
    if any(whole) != all(whole) or not (mendable or as_it_should):
        raise ValueError("an option is empty, or the labels do not run A, B, C, …")
    return _Block(marks[0].start(), marks[-1].end(), words, order, mended)


def _settle(printed: Sequence[str], texts: Sequence[str]) -> tuple[list[int], tuple[str, ...]]:
    """Which options are A, B, C, … of a list with these labels; and what was mended.

    One wrong letter among three or more right ones stands for the one that is missing there; the letter after the last
    one does not, because then an option may be lost. Raises ValueError.
    """
    labels = [_letter(label) for label in printed]
    first: dict[str, int] = {}
    mended = list[str]()
    for at, label in enumerate(labels):
        if first.setdefault(label, at) == at:
            continue
        if texts[first[label]] != texts[at]:
            raise ValueError(f"two options are labelled {label or printed[at]!r}: correct one of the labels")
        mended.append(f"Option {label} stood there twice.")
    given, wanted = "".join(first), ascii_uppercase[: len(first)]
    wrong = [(label, right) for label, right in zip(first, wanted, strict=False) if label != right]
    if sorted(given) == list(wanted):
        order = [first[label] for label in wanted]
        mended += [f"The options stood in the order {', '.join(given)}."] if wrong else []
    elif len(wrong) == 1 < len(first) - 2 and wrong[0][0] != ascii_uppercase[len(first)] and wrong[0][1] != "A":
        order = list(first.values())
        mended.append(f"Option {wrong[0][1]} was labelled {wrong[0][0] or '?'}.")
    else:
        raise ValueError(f"the options are labelled {', '.join(printed)}: label them A, B, C, …")
    odd = [label for label in printed if not re.fullmatch(r"[(（]?[A-Z][.．、)）]", label)]
    return order, (*mended, *([f"The options' labels were written {', '.join(map(repr, odd))}."] if odd else ()))


def _letter(printed: str) -> str:
    """The capital letter that a label is, without its brackets, points and TeX; itself where it is none."""
    bare = re.sub(r"(?i:option|choice|选项)|[-•]", "", _bare(normalize("NFKC", printed))).upper()
    return bare if re.fullmatch(r"[A-Z]", bare) else printed


def _letters(reading: re.Pattern[str], text: str) -> set[str]:
    return {_letter(found[0]) for found in reading.finditer(text)}


def _goes_on(text: str, block: _Block, end: int) -> bool:
    """Whether something after the last option's words may be one more: a label in another writing, a part after a
    semicolon where semicolons part the options, a line after a short one (Chinese papers are wrapped anywhere)."""
    rest, after = text[block.last : end], ascii_uppercase[len(block.order)]
    line, _, below = rest.strip().partition("\n")
    return bool(
        any(_letter(found[0]) == after and not re.match(_PLAIN, found[0]) for found in _SPACED.finditer(rest))
        or (below.strip() and len(line) < 60 and not re.search(f"[{_HAN}]", text))
        or (_are_parted(block.words) and re.search(r"[;；]\s*\S", rest))
        or _UNMARKED.search(rest)
    )


def _are_parted(words: Sequence[str]) -> bool:
    """Whether semicolons part the options: most of those before the last end with one."""
    return sum(word.endswith((";", "；")) for word in words) > len(words) / 2


def _options(text: str, block: _Block, end: int) -> tuple[Option, ...]:
    words = [*block.words, _tidy(text[block.last : end])]
    if _are_parted(block.words):
        words = [word.rstrip(" ;；") for word in words]
    return tuple(Option(label, words[at]) for label, at in zip(ascii_uppercase, block.order, strict=False))


def _tidy(text: str) -> str:
    """An option's words on one line; lines that were only wrapped are joined."""
    return re.sub(r"\s+", " ", _WRAPPED.sub("", text)).strip()


def _bare(text: str) -> str:
    return re.sub(r"\\[a-z]+(?=\s*\{)|[\s$(){}\[\]~*（）【】.．、:：]", "", text)


def _folded(text: str) -> str:
    """Words to be compared: without TeX's spaces, brackets and points around, in lower case."""
    return re.sub(r"\s+", "", normalize("NFKC", text)).casefold().strip(".。;；")


def _hide(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: "\0" * len(found[0]), text)


def _numbers(text: str, blocks: list[_Block]) -> tuple[list[int], tuple[str, ...]]:
    """Where each question's number stands: the one run k, k + 1, … with a number before each run of options; or the
    one number that begins a line, or stands, before each, where all follow each other or begin again with 1."""
    windows: list[list[tuple[int, int]]] = []
    for begin, block in zip([0, *(block.last for block in blocks)], blocks, strict=False):
        found = _NUMBER.finditer(text, begin, block.begin)
        windows.append([(int(number[number.lastindex or 1]), number.start()) for number in found])
    runs = [[[at for n, at in one if n == k + i] for i, one in enumerate(windows)] for k in dict(windows[0])]
    runs = [run for run in runs if all(len(places) == 1 for places in run[1:])]
    if len(runs) == 1:
        return [places[-1] for places in runs[0]], ()
    windows[0] = [(k, at) for k, at in windows[0] if k == 1] or windows[0]
    lined = [[(k, at) for k, at in window if not text[:at].rpartition("\n")[2].strip()] for window in windows]
    again = [it for line, window in zip(lined, windows, strict=True) for it in (line if len(line) == 1 else window)]
    run = [k for k, _ in again]
    if len(run) == len(blocks) and 1 in run[1:] and all(k in (1, before + 1) for before, k in pairwise(run)):
        return [at for _, at in again], (f"The questions' numbers began again: {', '.join(map(str, run))}.",)
    raise ValueError(f"{len(blocks)} answers, but the questions' numbers do not follow each other: number them")
