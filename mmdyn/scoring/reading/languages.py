"""Answers that are announced in languages beside English and Chinese: what may stand before them and behind them.

French, German, Spanish, Portuguese, Italian, Russian, Japanese and Korean: "La réponse est B", "Antwort: B", 정답은 B입니다. Few
forms are known, so only they are read: the announcement begins its sentence, the answer ends it or a reason follows, and nothing
behind it sounds like a second thought. A further language is a row of `_TONGUES` and its words in the patterns. All in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from mmdyn.scoring.reading.response import Response

_S = r"\s{0,9}"
_OPTION = (
    r"(?:\s?(?:(?:la|le|l'|el|a|o|il|die|der)\s?)?(?:option|opción|opção|opzione|letra|lettre|lettera|buchstabe|вариант)\b"
    r"|\s?(?:la|le|el|il|die|[ao](?!\s[eyou]\s))(?=\s\W{0,3}[a-z]\W{0,3}(?:\s|$)))?"
)
"""Of "la réponse est l'option B" and "la respuesta es la B" what stands before the letter."""

_SURELY = (
    r"(?:,?\s(?:donc|certainement|sûrement|bien|also|daher|somit|sicher|pues|por\stanto|seguramente|claramente|portanto|certamente|quindi|dunque|sicuramente)\b,?)?"
    r"(?:\s(?:la|le|el|a|die)\s(?:suivante|folgende|siguiente|seguinte|seguente)(?=\s?:))?"
)


class _Tongue(Struct, frozen=True):
    """`words` name an answer; `right` may follow them; `says` is the copula, `denies` the copula of a denial.

    `corrects` begin a sentence that takes an answer back, `it_is` may stand there before the new one.
    """

    words: tuple[str, ...]
    says: str
    denies: str
    corrects: str
    it_is: str = ""
    right: str = "(?!)"


_TONGUES = {
    "French": _Tongue(
        ("réponse", "reponse"), r"\s(?:est|sont)\b(?!-)", r"\sn'(?:est|était)\spas\b",
        r"non|attendez|pardon|en\sfait|en\sréalité|je\sme\ssuis\strompée?", r"c'est\s(?:la\s)?", "correctes?|exacte|finale|juste",
    ),
    "German": _Tongue(
        ("antwort",), r"\s(?:ist|lautet)\b", r"\s(?:ist|lautet|wäre)\snicht\b",
        r"nein|moment|warte|entschuldigung|eigentlich|ich\shabe\smich\sgeirrt", r"es\sist\s",
    ),
    "Spanish": _Tongue(
        ("respuesta",), r"\s(?:es|son)\b", r"\sno\s(?:es|sería|son)\b",
        r"no|espera|perdón|en\srealidad|me\sequivoqué", r"es\s(?:la\s)?", "correctas?|final|definitiva",
    ),
    "Portuguese": _Tongue(
        ("resposta",), r"\s(?:é|são)\b", r"\snão\s(?:é|seria|são)\b",
        r"não|espera|desculpe|na\sverdade|errei", r"é\s(?:a\s)?", "corretas?|correctas?|certas?|final",
    ),
    "Italian": _Tongue(
        ("risposta",), r"\s(?:è|sia)\b", r"\snon\s(?:è|sarebbe)\b",
        r"no|aspetta|scusa|anzi|in\srealtà|ho\ssbagliato", r"è\s(?:la\s)?", "corretta|esatta|giusta|finale",
    ),
    "Russian": _Tongue(
        ("ответ",), r"\s(?:[—–-]|это\b)", r"(?:\s[—–-])?\s(?:это\s)?не\b", r"нет|извините|на\sсамом\sделе|я\sошибся", r"это\s",
    ),
    "Japanese": _Tongue(("答え", "正解"), r"は(?:[^\n。,、]{1,24}?(?:では|じゃ)なくて?[,、]?)?", "(?!)", "いや|待って|訂正|間違えました"),
    "Korean": _Tongue(("정답", "답"), r"[은는](?:[^\n.,]{1,24}?[가이]\s?아니라)?", "(?!)", "아니|잠깐|제가\\s틀렸습니다"),
}  # fmt: skip

WORDS = {word: name for name, tongue in _TONGUES.items() for word in tongue.words}
"""Each word that announces an answer, with its language."""

LINKS = {
    name: (
        rf"s?(?:\s(?:{tongue.right}))?(?:\s?\([^()\n]{{1,30}}\))?"
        rf"(?:(?P<slot>{_S}:)(?!\s?не\b)|(?P<no>{tongue.denies})|(?:{tongue.says}){_SURELY}{_S}:?){_OPTION}"
    )
    for name, tongue in _TONGUES.items()
}
"""By language, what must follow such a word: a colon, or a copula; group `no` where it denies."""

_CORRECTIONS = {
    name: re.compile(
        rf"[.!?;。\n]\s{{0,3}}(?:{tongue.corrects})[,:.、。]\s?(?:(?:{tongue.corrects})[,:.、。]?\s?){{0,2}}(?:{tongue.it_is})?"
    )
    for name, tongue in _TONGUES.items()
}

_BUT_NOW = r"(?:mais|aber|pero|mas|ma(?=\sla\s)|но)\s"
_SO = (
    r"donc|alors|ainsi|par\sconséquent|finalement|also|daher|somit|deshalb|folglich|entonces|por\s(?:lo\s)?tanto|así\sque|portanto|então|assim"
    r"|quindi|dunque|perciò|allora|итак|поэтому|следовательно|значит|таким\sобразом|したがって|よって|ゆえに|だから|따라서|그러므로|그래서"
)
_I_THINK = (
    r"je\s(?:pense|crois)\sque\s|ich\s(?:denke|glaube),\s|(?:creo|pienso|penso|acho|acredito)\sque\s|(?:credo|penso)\sche\s"
    r"|я\s(?:думаю|считаю),?\sчто\s"
)
_AS = r"(?:parce\sque|puisque|comme|da|weil|porque|como|poiché|siccome|так\sкак|поскольку)\s[^.!?,;\n]{1,80},\s"
_RIGHT = r"bonne|seule\sbonne|meilleure|(?:einzig\s)?richtigen?|korrekte|beste|правильный|верный|正しい|最終的な|정확한|최종|올바른"
_LEAD = re.compile(
    rf"(?:[\n.!?;。]|,\s{_BUT_NOW})[\s#>•*_-]*(?:{_BUT_NOW})?(?:(?:{'|'.join(tongue.corrects for tongue in _TONGUES.values())})[,.、]\s?){{0,2}}"
    rf"(?:(?:{_SO})[,、]?\s?)?(?:{_AS})?(?:{_I_THINK})?(?:(?:la|les|le|l'|die|das|las|a|as)\s)?(?:(?:{_RIGHT})\s?)?\Z"
)
"""What may stand between the sentence's beginning and the word that announces the answer."""
_EXAMPLE = re.compile(r"\b(?:z\.\s?b|p\.\s?ej|p\.\s?ex|par\sex|ad\ses)\.[,:]?\s{0,3}\Z")
_QUOTED = re.compile(r"[\"“”「」『』《》`]")
_ASKS = re.compile(r"[^\n]{0,160}\?")
_LONGEST_LEAD = 160

POLITE = re.compile(r"(?:です|でした|である|だ|입니다|이다|예요|이에요)$")
"""The copula at a sentence's end; no part of the answer."""
_REASON = r",?\s(?:parce\sque|car|weil|da|porque|pois|perché|poiché|потому\sчто|так\sкак)\s"
_NOT_THAT = r",?\s(?:(?:mais|und|y|e|a|и)\s)?(?:non|pas|nicht|no|não|не)\s\W?[a-z]\b\W{0,2}"
_TAIL = re.compile(
    rf"(?!\.\s?[a-z]\.)[\s)\]}}】*`]{{0,6}}(?:\([^()\n]{{1,40}}\))?(?:です|でした|である|だ|입니다|이다|예요|이에요)?(?:{_NOT_THAT})?[*`\"\s]{{0,3}}"
    rf"(?:[.!。]?\s{{0,9}}(?:\Z|\n)|[.!。;](?=\s|[^\x00-\x7f])|{_REASON}|(?=<))"
)
"""What must stand behind a label or a verdict."""
_LABELS = r"[a-j](?:(?:,\s?|\s(?:et|und|y|e|и)\s)[a-j])*"
_OTHERS_ARE_WRONG = re.compile(
    rf"\b(?P<labels>{_LABELS})\s(?:est|sont|ist|sind|es|son|é|são|è|sono)\s"
    r"(?:fauss?e?s?|falsch|incorrect[aoe]s?|falsos?|falsas?|errad[ao]s?|sbagliat[aoie])\b"
)
_SECOND_THOUGHTS = re.compile(
    r"\b(?:non|nein|no|not|não|нет|не|nicht|pas|pardon|perdón|peut-être|vielleicht|quizás?|tal\svez|talvez|forse|возможно|moment|warte|attendez|espera|aspetta"
    r"|doch|eigentlich|en\sfait|en\s(?:réalité|realidad)|na\sverdade|in\srealtà|anzi|faux|fausses?|falsch\w*|fals[oaie]s?|incorrect\w*|inkorrekt\w*|errad[oa]s?|wrong"
    r"|wait|actually|however|entschuldigung|desculpe|scusa|sorry|trompée?|equivoqu\w+|errei|geirrt|sbagli\w+|ho\ssbagliato|неверно|неправильно|извините|на\sсамом\sделе)\b"
    r"|ошиб|いや|間違|違い|違う|訂正|待って|ではな|ではありません|ないと|かもしれ|아니|아닙|아닌|틀[렸린림]|잠깐|不对|错"
)
"""Behind an answer: words that deny something, or take something back."""
_OPTION_LED = re.compile(r"(?:^|(?<=\s))\(?([a-j])[.):、]\s?(?=\w)")
_LISTED = 2

BUT = r"\b(?:mais|sondern|sino|mas(?:\ssim)?|ma|bensì)\s(?:(?:la|le|a|die)\s(?=[a-z]\b))?|,\sа\s"
"""Behind a denial, what the answer is instead."""

OR = r"ou\b|oder\b|o\b|или\b|または|か(?=[A-Z])|또는|혹은"
AND = r"et\s|und\s|y\s|e\s|и\s|と|및\s?|[와과]\s?"
"""Between two labels."""

DENIED_BEHIND = r"(?:\sist\snicht|\sn'est\spas|\sno\ses|\snão\sé|\snon\sè|では(?:ない|ありません|な[いく])|じゃな|[가이]\s?(?:아니|아닙))"
ASKED_BEHIND = r"(?:です|でしょう)か|입니까|인가"
"""Behind what is announced."""

UNKNOWN = r"i do(?: not|n't) know|not sure|不知道|不清楚|不确定|je ne sais pas|ich wei(?:ß|ss) (?:es )?nicht|no (?:lo )?sé|não sei|non (?:lo )?so|не знаю|わかりません|分かりません|모르겠"
"""Said in an answer's place."""

JOINS_A_LABEL = (
    "et", "ou", "und", "oder", "y", "e", "o", "est", "ist", "es", "weil", "porque", "parce", "nicht", "pas",
)  # fmt: skip
"""The words that may follow the label A or I; another word makes it a word of its own."""


def announces(response: Response, start: int, end: int) -> bool:
    """Does an announcement from `start` to `end` begin its sentence, unquoted and not as a question?"""
    first = max(0, start - _LONGEST_LEAD)
    lead = _LEAD.search(response.low[first:start] if first else f"\n{response.low[:start]}")
    if not lead or response.declined or _ASKS.match(response.low, end):
        return False
    if _EXAMPLE.search(response.low, first, start):
        return False
    return not _QUOTED.search(response.text, max(0, start - len(lead[0])), start)


def ends(low: str, end: int) -> bool:
    """Does the sentence end with the label or the verdict that ends here, or go on with a reason?"""
    return bool(_TAIL.match(low, end))


def kept(low: str, start: int, end: int) -> bool:
    """Is nothing denied or thought over behind an answer, and no list of the options given there?"""
    said = low[start:end]
    tail = _TAIL.match(low, end)
    behind = _OTHERS_ARE_WRONG.sub(
        lambda others: others[0] if said in re.findall(r"\b[a-j]\b", others["labels"]) else " ",
        low[tail.end() if tail else end :],
    )
    listed = {option[1] for option in _OPTION_LED.finditer(behind)} - {said}
    return not _SECOND_THOUGHTS.search(behind) and len(listed) < _LISTED


def corrections(low: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Where a sentence corrects an answer that was announced before it in its language: start, end, language."""
    for word, name in WORDS.items():
        announced = re.search(word + LINKS[name], low) if word in low else None
        for found in _CORRECTIONS[name].finditer(low, max(announced.start(), start)) if announced else ():
            yield found.start(), found.end(), name
