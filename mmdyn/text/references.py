"""Find references to answer options by letter or place, and parts of a stem that are not the question itself.

Letters name many things besides options (points, places, vitamins). So a stem is searched for words that make the
letter an option ("option B", "选项B"), and an option for joined letters ("A and C", "A、B都对") that the stem does not
introduce.

The other parts of a stem are blanks to fill in, notes on the form of the answer, and frames around the question:
greetings, instructions, headers of papers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from mmdyn.text.option_lists import strip_question_number

_LATEX = re.compile(r"\\(?:mathrm|mathbf|mathit|text|textbf|rm|bf)\b|[${}~]|\\[,;:! ]|\\quad")
_LATEX_SIGNS = "\\$~{}"

_CUES = ("option", "choice", "alternative", "answer", "choose", "select", "pick", "mark", "选", "答案", "项")
"""One of these stands in every text that points at an option; looking for them first spares most texts the patterns."""

_PLACE = re.compile(
    r"\b(?:first|second|third|fourth|fifth|last|previous|preceding|next)\s+(?:\w+\s+){0,2}(?:options?|choices?|alternatives?|answers?)\b"
    r"|\b(?:options?|choices?)\s+(?:above|below)\b|(?:第\s*[一二三四五1-5]|[前后]\s*[一二两三2-3])\s*[个项]?(?:选项|答案)",
    re.IGNORECASE,
)
_PLACE_IN_OPTION = re.compile(
    r"\b(?:first|last|previous|preceding)\s+(?:two|three)\s*(?:of\b|are\b|above\b|$)|\bthe\s+(?:two|three|one)\s+above\b"
    r"|^[前后]\s*[一二两三2-3]\s*[个项者]",
    re.IGNORECASE,
)

_ALL_EN = re.compile(
    r"(?:(?:all|none|any|both|neither|either|some|two|three|more than one|(?:a )?combination)\s+(?:of\s+)?"
    r"(?:the\s+)?(?:above|these|them|those|foregoing|preceding|previous|others?)\b"
    r"|no(?:ne)?\s+(?:of\s+the\s+)?(?:other\s+)?(?:correct|right|given|listed)\s+(?:answers?|options?|choices?)"
    r"|none\s+of\s+the\s+(?:other\s+|given\s+|listed\s+)?(?:answers?|options?|choices?)|not\s+(?:listed|given)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_ALL_ZH = re.compile(
    r"(?:以上|上述|上面).*|(?:[都均皆全]|全部|全都)\s*(?:不?[对是]|不?正确|错误?|有)|没有正确(?:的)?(?:答案|选项)|其他(?:选项|答案)?(?:都|均).*",
    re.DOTALL,
)
_PAIR = re.compile(r"both|neither|either|两[者个项]|二者", re.IGNORECASE)

_STARTS = ("\n", "\\hline", "\\\\")
"""Where a stem may list a second option: two labels stand at the start of lines or of a table's rows."""

_AFTER = r"(?![A-Za-z0-9'’])"
_BEFORE = r"(?<![A-Za-z0-9\\])"
_GAP = r"\s{0,4}"
_WORD_AND = r"\band\b|\bor\b|\bnor\b|和|与|或|及"
_AND = rf"{_GAP}(?:[,，、&/+]{_GAP}(?:{_WORD_AND})?|{_WORD_AND}){_GAP}"
_MOST_JOINED = 10
_LONGEST_NAME = 40
_LEAD = rf"(?:(?:both|either|neither|only|just|all\s+(?:but|except)|same\s+as|仅|只有|只|除了?){_GAP})"
_RIGHT = (
    rf"(?:(?:only|both|all|are|is|都|均|皆|是|为){_GAP}){{0,4}}(?:correct|true|right|wrong|false|possible"
    r"|不?正确|不?对|错误?|不是|可以)?"
)


def refers_to_option(text: str, labels: Sequence[str]) -> str:
    """Find the first words of a stem, an explanation or a hint that refer to an option by letter or place; else "".

    Words that name every label ("选项A、B、C和D中") do not count.

    >>> refers_to_option("Why is option B wrong?", "ABCD"), refers_to_option("Points A and B are joined.", "ABCD")
    ('option B', '')
    """
    plain = unwrapped_text(text)
    low = plain.casefold()
    if not any(cue in low for cue in _CUES):
        return ""
    if place := _PLACE.search(plain):
        return place[0].strip()
    for pattern in _letter_patterns(tuple(labels)):
        for found in pattern.finditer(plain):
            if not set(labels) <= _letters(found[0], labels):
                return found[0].strip()
    return ""


def option_refers_to_option(text: str, labels: Sequence[str], stem: str) -> str:
    """Find the words of an option that refer to other options by letter or place; "" without any.

    Letters that the stem introduces (points A and B) are the stem's own, unless the option calls them right or wrong.

    >>> option_refers_to_option("A and C are correct", "ABCD", "Which is true?")
    'A and C are correct'
    """
    if found := refers_to_option(text, labels):
        return found
    plain = unwrapped_text(text)
    if place := _PLACE_IN_OPTION.search(plain):
        return place[0].strip()
    strict, loose = _joined_patterns(tuple(labels))
    if whole := strict.fullmatch(plain):
        return whole[0]
    if (start := loose.match(plain)) and not _letters(plain, labels) <= _letters(unwrapped_text(stem), labels):
        return start[0].strip()
    return ""


def names_a_label(text: str, labels: Sequence[str]) -> bool:
    """Say whether any option's letter stands alone in a text, or a place is named.

    It errs on the side of yes.

    >>> names_a_label("Vitamin C", "ABCD"), names_a_label("Cars", "ABCD")
    (True, False)
    """
    plain = unwrapped_text(text)
    return bool(_PLACE.search(plain) or (labels and _standing(tuple(labels)).search(plain)))


def is_named_by_label(text: str, labels: Sequence[str]) -> bool:
    """Say whether an option's whole text is a label, or a word or two and a label ("Object A", "A点").

    A reply that names such an option may be mistaken for the label.

    >>> is_named_by_label("Object A", "ABCD"), is_named_by_label("Object A is the heavier one", "ABCD")
    (True, False)
    """
    plain = unwrapped_text(text)
    return len(plain) <= _LONGEST_NAME and bool(_named_by(tuple(labels)).fullmatch(plain))


def lists_options(text: str, labels: Sequence[str]) -> bool:
    r"""Say whether a stem lists options: two labels or more, each with its mark at the start of a line or a table row.

    >>> lists_options("Choose.\nA. red\nB. blue", "ABCD")
    True
    """
    plain = unwrapped_text(text)
    if not any(start in plain for start in _STARTS):
        return False
    return len({found[1] for found in _listed(tuple(labels)).finditer(plain)}) >= 2


def refers_to_all(text: str) -> bool:
    """Say whether an option speaks of all others together: "all of the above", "none of these", "以上都不对".

    >>> refers_to_all("None of the above"), refers_to_all("All metals")
    (True, False)
    """
    plain = unwrapped_text(text)
    return bool(_ALL_EN.fullmatch(plain) or _ALL_ZH.fullmatch(plain))


def refers_to_pair(text: str) -> bool:
    """Say whether an option that refers to others means exactly two: "both of the above", "neither".

    >>> refers_to_pair("Neither of the above"), refers_to_pair("None of the above")
    (True, False)
    """
    return bool(_PAIR.search(unwrapped_text(text)))


@lru_cache(maxsize=256)
def unwrapped_text(text: str) -> str:
    r"""Remove the LaTeX that wraps letters, and outer punctuation: `$\mathrm{A}$` becomes A.

    >>> unwrapped_text(r"$\mathrm{A}$.")
    'A'
    """
    if any(sign in text for sign in _LATEX_SIGNS):
        text = _LATEX.sub("", text)
    return text.strip().strip("。．.,，;；").strip()


@lru_cache(maxsize=256)
def _letter_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    letters = _joined(labels, 0)
    return (
        re.compile(
            rf"\b(?i:options?|choices?|alternatives?|answers?(?:\s+is)?|choose|select|pick|mark){_GAP}[:：]?{_GAP}{letters}"
        ),
        re.compile(rf"(?:选项|答案[是为选]?|故选|应选|请选|则选|选填|选择){_GAP}[:：]?{_GAP}{letters}"),
        re.compile(rf"{letters}{_GAP}(?:[一二三四五六两]个)?(?:选?项(?![目链式])|答案|中选)"),
    )


@lru_cache(maxsize=256)
def _named_by(labels: tuple[str, ...]) -> re.Pattern[str]:
    letter = rf"[(（]?{_letter(labels)}[)）]?[.．、]?"
    return re.compile(rf"(?:[A-Za-z]+ ){{0,2}}{letter}|[\u4e00-\u9fff]{{0,3}}{letter}[\u4e00-\u9fff]{{0,3}}")


@lru_cache(maxsize=256)
def _joined_patterns(labels: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Letters joined to each other: alone or called right or wrong, and as the beginning of a longer text."""
    several, one = _joined(labels, 1), _joined(labels, 0)
    strict = rf"(?i:{_LEAD})?{several}{_GAP}(?i:{_RIGHT})|(?i:{_LEAD}){one}{_GAP}(?i:{_RIGHT})"
    loose = rf"(?i:{_LEAD})?{several}{_GAP}(?i:are|is|have|都|均|皆)"
    return re.compile(strict), re.compile(loose)


def _joined(labels: tuple[str, ...], least: int) -> str:
    """A letter and at least so many more, each in brackets perhaps; bounded, so that hostile texts cost no time."""
    letter = rf"[(（]?{_BEFORE}{_letter(labels)}{_AFTER}[)）]?"
    return rf"{letter}(?:{_AND}{letter}){{{least},{_MOST_JOINED}}}"


def _letters(text: str, labels: Sequence[str]) -> set[str]:
    """The labels that stand alone in a plain text."""
    return set(_standing(tuple(labels)).findall(text))


@lru_cache(maxsize=256)
def _standing(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}{_letter(labels)}{_AFTER}")


@lru_cache(maxsize=256)
def _listed(labels: tuple[str, ...]) -> re.Pattern[str]:
    """A label with its mark at the start of a text, a line or a table's row."""
    return re.compile(rf"(?:^|\n|\\hline|\\\\){_GAP}[(（]?({_letter(labels)}){_GAP}[)）.．、:：&]")


def _letter(labels: tuple[str, ...]) -> str:
    return "(?:" + "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True)) + ")"


_SPACE = r"(?:[\s\u3000~_]|\\textasciitilde|\\q?quad|\\hspace\{[^{}]{0,20}\}|\\[,;: ])"
_INSIDE = rf"\$?{_SPACE}{{0,99}}\$?\s?(?:\\right\s?)?[)）]"
# Each alternative begins with a character of its own, so that a search skips all others quickly.
BLANK = re.compile(
    rf"[(（](?<![A-Za-z0-9_].){_INSIDE}|\\left(?<![A-Za-z0-9_].{{5}})\s?[(（]{_INSIDE}"
    rf"|\\(?:uline|underline)\s?\{{{_SPACE}{{0,99}}\}}|_{{2,}}(?:\d{{1,2}}_{{2,}})?"
)
"""One blank as exam papers write it: ____, （　）, \\underline{\\quad}; `__1__` is one too.

A function's empty brackets, f(), are none: they follow a letter or a digit."""


def count_blanks(text: str) -> int:
    """Count the blanks of a text.

    >>> count_blanks("____ is the capital of （　）, and f() is a function.")
    2
    """
    return sum(1 for _ in BLANK.finditer(text))


_FORMS = (
    r"(?:your\s)?final\sanswers?\s(?:is|are|should\sbe|must\sbe)\b",
    r"(?:your\s)?answers?\s(?:(?:is|should\sbe|must\sbe|in|as)\s(?:an?|one)\b|with\b)",
    r"(?:请\s?)?[用以][^()（）\[\]<>。]{1,20}(?:作答|回答)",
    r"答案(?:应)?[为是](?:一个|单个)",
)
_ROUNDING = "round|nearest|decimal|significant|digit|unit|小数|保留|有效数字|精确|单位"
_NOTE = re.compile(
    rf"[ \t]{{0,4}}[(（\[]\s{{0,4}}(?:{'|'.join(_FORMS)})"
    rf"(?![^()（）\[\]<>]{{0,80}}(?:{_ROUNDING}))[^()（）\[\]<>]{{0,80}}[)）\]]",
    re.IGNORECASE,
)
"""A note in brackets on the form of the answer ("(Answer is a single word.)"), and not on rounding or units."""


def without_form_notes(text: str) -> str:
    """Remove notes in brackets on the form of the answer.

    Notes on rounding and units stay, and so does a text that is nothing but a note.

    >>> without_form_notes("Name it. (Answer is a single word.)"), without_form_notes("Find x. (Round to 2 decimals.)")
    ('Name it.', 'Find x. (Round to 2 decimals.)')
    """
    shorter = _NOTE.sub("", text)
    return text if shorter == text or not shorter.strip() else shorter.rstrip()


_PIECE = re.compile(
    r"[(（\[【][^()（）\[\]【】\n]{1,60}[)）\]】][.:。：]?|[^,.;:!?，。；：！？．\n(（\[【]+[,.;:!?，。；：！？．\n]*+|(?s:.)"
)
"""What stands in brackets, a clause with the marks behind it, or a single character."""
_LABEL = re.compile(r"\s*[(（]?[A-Za-z]\s?[.．、:：)）]\s?")
_SAYS = re.compile(r"(?:answer|答案|\A\s*答)(?: is|是|为)?\s?[:：]\s*\Z")

_GOES_ON = re.compile(r"\$?\s+(?:at|by|for|from|in|of|on|to|with)\b")
"""What begins no clause behind a formula or a bracket: "[Cu] in solution"."""


@lru_cache(maxsize=512)
def without_frames(text: str) -> str:
    """Remove notes on the form of the answer, and frames: clauses of no words but those of frames.tsv.

    A text that is nothing but frames stays as it is, and so do clauses that follow an option's label or an answer.

    >>> without_frames("Read the question carefully. What is the capital of France?")
    'What is the capital of France?'
    """
    text = without_form_notes(text)
    lower = text.lower()
    if len(lower) != len(text):
        return text
    kept, begun = [""], False
    for piece in _PIECE.finditer(lower):
        words = piece[0]
        says = _SAYS.search(words) and text[piece.end() :].strip()
        goes_on = kept[-1].endswith((")", "]")) and _GOES_ON.match(words)
        if says or goes_on or _LABEL.fullmatch(kept[-1]) or not _is_frame(words, not begun or words[0] in "(（[【"):
            kept.append(text[piece.start() : piece.end()])
            begun = begun or not words.isspace()
    return strip_question_number("".join(kept)) or text


def _is_frame(words: str, may_be_header: bool) -> bool:
    if words.rstrip().endswith(("?", "？")):
        return bool(_made_of("filler", "talk", "plea").match(words) and not _made_of("filler", "talk").match(words))
    kinds = ("filler", "talk", "plea", *(["header"] if may_be_header else []))
    return bool(_made_of(*kinds).match(words) and not _made_of("filler").match(words))


@cache
def _made_of(*kinds: str) -> re.Pattern[str]:
    """A text of no words but those of these kinds."""
    phrases = list[str]()
    for line in files(__package__).joinpath("frames.tsv").read_text(encoding="utf-8").splitlines():
        kind, _, listed = line.partition("\t")
        phrases += listed.split("|") if kind in kinds else []
    known = "|".join(
        re.escape(phrase).replace(r"\#", r"\d{1,4}+(?:\.\d)?") + (r"(?![\w'])" if phrase[-1].isascii() else "")
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile(rf"(?:\W|{known})*+\Z")
