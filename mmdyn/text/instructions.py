"""Whether a reply follows instructions that rules can verify: the 25 kinds of IFEval (Zhou et al. 2023,
arXiv:2311.07911, Table 1), strictly and loosely (there, "IFEval Metrics").

Where the paper leaves open what counts, the published checker decides, so that scores can stand beside published ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from inspect import signature
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias
from unicodedata import category

import msgspec

from mmdyn.errors import did_you_mean
from mmdyn.keys import canonical
from mmdyn.sample import from_json
from mmdyn.text.language import language_of
from mmdyn.text.sentences import count_sentences

LANGUAGES = (
    *"en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split(),  # noqa: SIM905
    *"zh af ca cs cy da el et hr hu id lt lv mk nl no ro sk sl sq sv tr".split(),  # noqa: SIM905
)
"""The languages that a reply may be asked for in, and among which its own is looked for; those of IFEval first."""

LIKELY = 0.5
"""The probability from which another language than English is believed; replies of few words have less in each."""

OF_LANGUAGES = {"language:response_language", "change_case:english_capital", "change_case:english_lowercase"}
"""The kinds of instructions that look for a reply's language."""


class Instruction(NamedTuple):
    """An instruction: a name of KINDS, and what it gives, by the names of TERMS."""

    kind: str
    given: Mapping[str, Any]


@lru_cache(maxsize=4096)
def read_instruction(text: str) -> Instruction:
    """Read an instruction as answers hold it: its kind, and what it gives as a JSON object.

    Raises:
        ValueError: There is no such kind, or it gives something else.

    >>> read_instruction('keywords:existence {"keywords": ["war"]}').given
    {'keywords': ['war']}
    >>> read_instruction("keywords:existence")
    Traceback (most recent call last):
        ...
    ValueError: keywords:existence: the key 'keywords' is missing: add it
    """
    name, _, rest = text.partition(" ")
    if name not in KINDS:
        raise ValueError(
            f"the instruction {name[:60]!r} is unknown{did_you_mean(name, KINDS)}: docs/scoring.md has all"
        )
    try:
        return Instruction(name, msgspec.structs.asdict(from_json(rest or "{}", _terms(name))))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


@cache
def _terms(kind: str) -> type[msgspec.Struct]:
    names = [*signature(KINDS[kind]).parameters][1:]
    return msgspec.defstruct("Terms", [(name, TERMS[name]) for name in names], forbid_unknown_fields=True)


def spell_instruction(kind: str, given: Mapping[str, Any]) -> str:
    """Spell an instruction as answers hold it. What is null counts as not given."""
    told = {name: value for name, value in given.items() if value is not None}
    return f"{kind} {canonical(told).decode()}" if told else kind


def followed(instructions: Sequence[str], reply: str) -> tuple[float, ...]:
    r"""Tell of each instruction whether a reply follows it: 1 strictly, 0.5 only loosely, 0 not.

    Loosely it is followed where the reply follows it as it is, or without its first line, its last line or both, or
    any of these without asterisks. An empty text follows none.

    Raises:
        MissingExtra: A language is asked for, and the identifier of languages is not installed.

    >>> followed(["punctuation:no_comma", "detectable_format:json_format"], "Sure, here it is:\n[1]")
    (0.5, 0.5)
    """
    lines = reply.split("\n")
    cuts = [reply, *["\n".join(cut).strip() for cut in (lines[1:], lines[:-1], lines[1:-1])]]
    texts = [text for cut in cuts for text in (cut, cut.replace("*", "")) if text.strip()]

    def degree(text: str) -> float:
        kind, given = read_instruction(text)
        places = (place for place, said in enumerate(texts) if KINDS[kind](said, **given))
        return {0: 1.0, None: 0.0}.get(next(places, None), 0.5)

    return tuple(map(degree, instructions))


def lost_term(instructions: Sequence[str], before: str, after: str) -> str:
    """Find a text that instructions give and a question says less often than before; empty where there is none.

    Languages are given by codes, which no question says.

    >>> lost_term(['keywords:frequency {"keyword": "war", "frequency": 2, "relation": "at least"}'], "War!", "Battle!")
    'war'
    """
    given = [read_instruction(text).given for text in instructions]
    terms = [term for one in given for name, term in one.items() if name != "language"]
    texts = (text for term in terms for text in (term if isinstance(term, list) else [term]) if isinstance(text, str))
    return next((text for text in texts if _said(text, after) < _said(text, before)), "")


def need_packages(instructions: Sequence[str]) -> None:
    """Load what instructions need.

    Raises:
        MissingExtra: A language is asked for, and the identifier of languages is not installed.
    """
    if {text.partition(" ")[0] for text in instructions} & OF_LANGUAGES:
        language_of("", LANGUAGES)


def _said(text: str, question: str) -> int:
    return _found(rf"(?<!\w){re.escape(text.strip())}(?!\w)", question)


# --- the kinds --------------------------------------------------------------------------------------------------------


def _has(count: int, number: int, relation: str) -> bool:
    return count < number if relation == "less than" else count >= number


def _found(pattern: str, reply: str) -> int:
    return len(re.findall(pattern, reply, re.IGNORECASE | re.MULTILINE))


def _times(text: str, reply: str) -> int:
    """How often a text stands in a reply, within words too, in capitals or not."""
    return _found(re.escape(text.strip()), reply)


def _words(reply: str) -> int:
    """The runs of letters and digits; vowel signs, as in Hindi, are parts of words."""
    return _found(r"\w+", "".join(char for char in reply if not category(char).startswith("M")))


def _is_in(language: str, reply: str) -> bool:
    """Whether a reply is in a language: in any where it has no letters, in English where no other is likely. Capitals
    are read as small letters, which the identifier knows better."""
    if not any(map(str.isalpha, reply)):
        return True
    found, share = language_of(reply.lower(), LANGUAGES)
    return found == language or (language == "en" and share < LIKELY)


def _divided(reply: str, divider: str) -> list[str]:
    """The parts of a reply; none where one between two others is empty. Empty ones at its ends do not count."""
    parts = [part.strip() for part in reply.split(divider)]
    return [part for part in parts if part] if all(parts[1:-1]) else []


def _begins(reply: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Whether a reply has so many paragraphs, and one of them begins with a word; empty ones have places, too."""
    paragraphs = [part.split() for part in reply.split("\n\n")]
    count = sum(map(bool, paragraphs))
    if count != num_paragraphs or nth_paragraph > count or not paragraphs[nth_paragraph - 1]:
        return False
    word = paragraphs[nth_paragraph - 1][0].lstrip("'").lstrip('"')
    return re.split(r"[.,?!'\"]", word)[0].lower() == first_word.lower()


_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}


def _bullets(reply: str) -> int:
    return _found(r"^\s*\*[^*].*", reply) + _found(r"^\s*-", reply)


def _highlights(reply: str) -> int:
    found = (re.findall(pattern, reply) for pattern in (r"\*([^\n*]*)\*", r"\*\*([^\n*]*)\*\*"))
    return sum(bool(text.strip()) for texts in found for text in texts)


def _is_json(reply: str) -> bool:
    try:
        json.loads(re.sub(r"\A```(?:json|Json|JSON)?|```\Z", "", reply.strip()))
    except (ValueError, RecursionError):
        return False
    return True


_TOKEN_ENDS = re.compile(
    r"""[\s;@#$%&?!"“”„‘’«»`()\[\]{}<>*‒–—―]|[:,](?!\d)|--|\.{2,}"""
    r"""|(?i:(?<=\w)(?=(?:n't|'(?:s|m|d|ll|re|ve))(?:[^\w']|$))|(?<=\bcan)(?=not\b))"""
)
"""Where a token ends; a contraction is two."""


def _capitals(reply: str) -> int:
    """The tokens in capital letters: U.S. and COVID-19 are one, and I'M is two."""
    return sum(map(str.isupper, _TOKEN_ENDS.split(reply)))


_Text: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\S")]
_Texts: TypeAlias = Annotated[list[_Text], msgspec.Meta(min_length=1)]
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
TERMS: Mapping[str, Any] = {
    **dict.fromkeys(("keywords", "forbidden_words"), _Texts),
    **dict.fromkeys(("keyword", "first_word", "postscript_marker", "section_spliter"), _Text),
    **dict.fromkeys(("prompt_to_repeat", "end_phrase"), _Text),
    **dict.fromkeys(("relation", "let_relation", "capital_relation"), Literal["less than", "at least"]),
    **dict.fromkeys(("frequency", "let_frequency", "capital_frequency", "num_placeholders", "num_bullets"), _Number),
    **dict.fromkeys(("num_words", "num_sentences", "num_paragraphs", "num_highlights", "num_sections"), _Number),
    "nth_paragraph": Annotated[int, msgspec.Meta(ge=1)],
    "letter": Annotated[str, msgspec.Meta(min_length=1, max_length=1)],
    "language": Literal[LANGUAGES],
}
"""The types of what instructions give, by the names in the published `kwargs`."""

KINDS: Mapping[str, Callable[..., bool]] = {
    "keywords:existence": lambda reply, keywords: all(_times(text, reply) for text in keywords),
    "keywords:frequency": lambda reply, keyword, frequency, relation: _has(_times(keyword, reply), frequency, relation),
    "keywords:forbidden_words": lambda reply, forbidden_words: (
        not any(_found(rf"\b{re.escape(text)}\b", reply) for text in forbidden_words)
    ),
    "keywords:letter_frequency": lambda reply, letter, let_frequency, let_relation: _has(
        reply.lower().count(letter.lower()), let_frequency, let_relation
    ),
    "language:response_language": lambda reply, language: _is_in(language, reply),
    "length_constraints:number_sentences": lambda reply, num_sentences, relation: _has(
        count_sentences(reply), num_sentences, relation
    ),
    "length_constraints:number_paragraphs": lambda reply, num_paragraphs: len(_divided(reply, "***")) == num_paragraphs,
    "length_constraints:number_words": lambda reply, num_words, relation: _has(_words(reply), num_words, relation),
    "length_constraints:nth_paragraph_first_word": _begins,
    "detectable_content:number_placeholders": lambda reply, num_placeholders: (
        _found(r"\[.*?\]", reply) >= num_placeholders
    ),
    "detectable_content:postscript": lambda reply, postscript_marker: bool(
        _found(_POSTSCRIPTS.get(postscript_marker.strip(), re.escape(postscript_marker.strip())), reply)
    ),
    "detectable_format:number_bullet_lists": lambda reply, num_bullets: _bullets(reply) == num_bullets,
    "detectable_format:constrained_response": lambda reply: bool(re.search(r"My answer is (?:yes|no|maybe)\.", reply)),
    "detectable_format:number_highlighted_sections": lambda reply, num_highlights: _highlights(reply) >= num_highlights,
    "detectable_format:multiple_sections": lambda reply, section_spliter, num_sections: (
        len(re.findall(rf"{re.escape(section_spliter.strip())}\s?\d+", reply)) >= num_sections
    ),
    "detectable_format:json_format": _is_json,
    "detectable_format:title": lambda reply: any(
        title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", reply)
    ),
    "combination:two_responses": lambda reply: len(_divided(reply, "******")) == len({*_divided(reply, "******")}) == 2,
    "combination:repeat_prompt": lambda reply, prompt_to_repeat: (
        reply.strip().lower().startswith(prompt_to_repeat.strip().lower())
    ),
    "startend:end_checker": lambda reply, end_phrase: (
        reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())
    ),
    "startend:quotation": lambda reply: bool(re.fullmatch(r'"(?s:.*)"', reply.strip())),
    "change_case:capital_word_frequency": lambda reply, capital_frequency, capital_relation: _has(
        _capitals(reply), capital_frequency, capital_relation
    ),
    "change_case:english_capital": lambda reply: reply.isupper() and _is_in("en", reply),
    "change_case:english_lowercase": lambda reply: reply.islower() and _is_in("en", reply),
    "punctuation:no_comma": lambda reply: "," not in reply,
}
"""Whether a reply, which has words, follows an instruction, by the names in the published `instruction_id_list`. The
parameters behind the reply are what the instruction gives."""
