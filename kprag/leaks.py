"""Whether a text beside a question holds the gold answer word for word."""

from __future__ import annotations

import re
from itertools import pairwise

from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text.latex import plain
from mmdyn.text.normalise import one_spelling

_TOKEN = re.compile(r"[^\W\d_\u3400-\u9fff]+|\d+|\S")
_LATIN = r"[^\W_\u3400-\u9fff]"
_NUMBERING = re.compile(r"^([ \t]*|- [^\n]*?[:：]\s*)\d{1,2}[.)、．](?=\s)", re.M)
"""What counts the lines of a text, also behind a point's name."""
_CIRCLED = re.compile(r"[\u2460-\u2473]+")
_OUTSIDE = " \t\r\n.,;:!?。、…\"'“”‘’"


def leaks(text: str, sample: Sample) -> bool:
    """Whether a text holds a sample's gold answer verbatim.

    What counts: of a choice the texts of all right options, not their letters (an option that is a picture has none); of
    blanks one accepted string for each; of an open question the whole answer. A statement's verdict is never held.

    Compared is what is left of both without LaTeX's wrappers and dollars, in one spelling of look-alike characters, without
    regard to case and spacing, and of the answer without punctuation at its ends. Words and numbers have to stand alone:
    `ion` is not held by `lion`, nor 5 by 15, 5.2, -5, 1/5, x^5, 5th or 1,5; Chinese characters may stand within others. A
    single Latin letter is never held. Numbers that count lines (`3. …`) hold nothing, and ③ is held by itself alone. Nothing
    is worked out: 0.5 is not held by 1/2, nor `foxes` by `fox`.
    """
    block = _form(_NUMBERING.sub(r"\1", text))
    squeezed = "".join(block.split())
    wanted = _wanted(sample)

    def held(answer: str) -> bool:
        circled = _CIRCLED.fullmatch(answer.strip())
        return circled[0] in text if circled else _holds(block, squeezed, answer)

    return bool(wanted) and all(any(map(held, accepted)) for accepted in wanted)


def _wanted(sample: Sample) -> list[list[str]]:
    """The parts of the answer, each with the strings that count for it."""
    answer = sample.answer
    if isinstance(answer, bool):
        return []
    if isinstance(answer, str):
        return [[answer]]
    texts = {option.label: IMAGE_MARK.sub(" ", option.text) for option in sample.options}
    return [[texts[part]] if isinstance(part, str) else list(part) for part in answer]


def _holds(block: str, squeezed: str, answer: str) -> bool:
    """`block` is a text in its form, `squeezed` the same without spaces."""
    wanted = _form(answer).strip(_OUTSIDE)
    if not wanted or (len(wanted) == 1 and re.match(r"[^\W\d_\u3400-\u9fff]", wanted)):
        return False
    return "".join(wanted.split()) in squeezed and re.search(_alone(wanted), block) is not None


def _alone(wanted: str) -> str:
    """The pattern of an answer in its form, spaces free, ends that are words or numbers bounded."""
    tokens = list(_TOKEN.finditer(wanted))
    pattern = _before(tokens[0][0], wanted) + re.escape(tokens[0][0])
    for last, token in pairwise(tokens):
        apart = last.end() < token.start() and _kind(last[0]) == _kind(token[0]) != ""
        pattern += (r"\s+" if apart else r"\s*") + re.escape(token[0])
    return pattern + _after(tokens[-1][0])


def _before(first: str, wanted: str) -> str:
    if _kind(first) == "number":
        return rf"(?<!{_LATIN})(?<!\d[.,/])(?<![.^])(?<![^\w)\]]-)(?<!\A-)"
    if re.match(r"-\s*\d", wanted):
        return r"(?<![\w)\]])"
    return rf"(?<!{_LATIN})" if _kind(first) else ""


def _after(last: str) -> str:
    return rf"(?!{_LATIN})" + (r"(?![.,/]\d)" if _kind(last) == "number" else "") if _kind(last) else ""


def _kind(token: str) -> str:
    if token.isdigit():
        return "number"
    return "word" if re.match(r"[^\W\d_\u3400-\u9fff]", token) else ""


def _form(text: str) -> str:
    return one_spelling(plain(text)).replace("$", "").casefold()
