"""How many sentences a text has."""

from __future__ import annotations

import re

_SHORT = re.compile(
    "(?:.*-)?(?:mr|mrs|ms|dr|prof|st|sen|rep|gen|col|jr|sr|inc|ltd|corp|co|cos|bros|ok|vs|ave|ph\\.d|[ap]\\.m|u\\.[skn]|d\\.c"
    "|jan|feb|aug|sept?|oct|nov|dec|tues|wed|fri|[c-hk-mr-tvw])"
)
"""What a stop shortens: no sentence ends there, unless a word of _BEGIN follows."""
_BEGIN = (
    "according|although|among|as|at|because|but|despite|even|her|here|however|if|in|indeed|instead|it|many|meanwhile"
    "|moreover|most|nevertheless|nonetheless|note|please|since|so|some|the|there|these|they|this|though|thus|when|which"
    "|while|your"
)
_OFTEN = (
    rf"{_BEGIN}|a|an|after|all|also|and|any|are|both|by|can|could|does|each|every|finally|first|for|from|given|have|he"
    "|hence|his|how|is|let|my|next|no|not|now|of|on|once|one|only|or|our|otherwise|she|such|that|their|then|therefore"
    "|to|under|use|using|was|we|what|where|who|why|will|with|would|you"
)
"""Words that begin a sentence behind a shortened word or dots; and behind a letter that shortens none."""
_STOP = re.compile(r"""[.?!](?=[)";}*:@'({\[!?\]‘’“”«»]|$)""")
_CUTS = re.compile(r"""[?!)";}\]*:@'({\[‘’“”«»]|--|\.{2,}|,$""")


def count_sentences(text: str) -> int:
    """Count the sentences of a text, much as Punkt (Kiss and Strunk 2006, in NLTK) divides English.

    >>> count_sentences("Mr. Fox left at 5 p.m. today. Why? He was 3.5 miles away... or so.")
    3
    """
    words, count = text.split(), 0
    for word, after in zip(words, [*words, ""][1:], strict=True):
        stops = [stop for stop in _STOP.finditer(word) if after or stop.end() < len(word)]
        if stops:
            rest = word[stops[-1].end() :]
            goes_on = after or rest.strip("\"')]}‘’“”«»")
            count += bool(goes_on) and _ends(word[: stops[-1].start()], stops[-1][0], rest or after)
    return count + bool(words)


def _ends(word: str, stop: str, after: str) -> bool:
    """Whether a sentence ends with a stop behind a word, before what follows it."""
    last, begins = _CUTS.split(word.lower())[-1], after[:1].isupper()
    following = re.split(r"[^\w-]", after.lower())[0]
    if stop != ".":
        return True
    if word.endswith(".") or _SHORT.fullmatch(last):
        return len(last) != 1 and begins and bool(re.fullmatch(_BEGIN, following))
    if re.fullmatch(r"[^\W\d_]", last):
        return bool(re.fullmatch(_OFTEN, following)) if begins else not after[:1].isalpha()
    return not (re.fullmatch(r"-?[.,]?\d[\d,.-]*", last) and after[:1].islower())
