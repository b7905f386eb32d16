"""The words that announce an answer in languages beside English and Chinese, and those that deny, join or question it.

French, German, Spanish, Portuguese, Italian, Russian, Japanese and Korean: "La réponse est B", "Antwort: B", 정답은 B입니다. A
further language is a row of `_TONGUES` and, where it has such words, a word in each pattern below. Texts are in lower case.
"""

from __future__ import annotations

import re

from msgspec import Struct

_S = r"\s{0,9}"
_OPTION = (
    r"(?:\s?(?:(?:la|le|l'|el|a|o|il|die|der)\s?)?(?:option|opción|opção|opzione|letra|lettre|lettera|buchstabe|вариант)\b"
    r"|\s?(?:la|le|el|a|o|il|die)(?=\s\W{0,3}[a-z]\W{0,3}(?:\s|$)))?"
)
"""Of "la réponse est l'option B" and "la respuesta es la B" what stands before the letter."""

_SURELY = (
    r"(?:,?\s(?:donc|certainement|sûrement|bien|also|daher|somit|sicher|pues|por\stanto|seguramente|claramente|portanto|certamente|quindi|dunque|sicuramente)\b,?)?"
    r"(?:\s(?:la|le|el|a|die)\s(?:suivante|folgende|siguiente|seguinte|seguente)(?=\s?:))?"
)


class _Tongue(Struct, frozen=True):
    """`words` name an answer; `right` may follow them; `says` is the copula, `denies` the copula of a denial."""

    words: tuple[str, ...]
    says: str
    denies: str
    right: str = "(?!)"


_TONGUES = {
    "French": _Tongue(("réponse", "reponse"), r"\s(?:est|sont)\b(?!-)", r"\sn'(?:est|était)\spas\b", "correctes?|exacte|finale|juste"),
    "German": _Tongue(("antwort",), r"\s(?:ist|lautet)\b", r"\s(?:ist|lautet|wäre)\snicht\b"),
    "Spanish": _Tongue(("respuesta",), r"\s(?:es|son)\b", r"\sno\s(?:es|sería|son)\b", "correctas?|final|definitiva"),
    "Portuguese": _Tongue(("resposta",), r"\s(?:é|são)\b", r"\snão\s(?:é|seria|são)\b", "corretas?|correctas?|certas?|final"),
    "Italian": _Tongue(("risposta",), r"\s(?:è|sia)\b", r"\snon\s(?:è|sarebbe)\b", "corretta|esatta|giusta|finale"),
    "Russian": _Tongue(("ответ",), r"\s(?:[—–]|это\b)", r"(?:\s[—–-])?\s(?:это\s)?не\b"),
    "Japanese": _Tongue(("答え", "正解"), r"は(?:[^\n。,、]{1,24}?(?:では|じゃ)なくて?[,、]?)?", "(?!)"),
    "Korean": _Tongue(("정답", "답"), r"[은는](?:[^\n.,]{1,24}?[가이]\s?아니라)?", "(?!)"),
}  # fmt: skip

FIXES = ("en fait", "en réalité", "eigentlich", "en realidad", "na verdade", "in realtà", "anzi,", "на самом деле")
CORRECTS = r"attendez|en\sfait|en\sréalité|\bmoment,|\bwarte\b|eigentlich|\bespera\b|en\srealidad|na\sverdade|aspetta|in\srealtà|\banzi\b|на\sсамом\sделе|待って|いや|아니,|잠깐"
"""The words that take an earlier answer back."""
IT_IS = r"c'est\s(?:la\s)?|es\sist\s|es\s(?:la\s)?|é\s(?:a\s)?|è\s(?:la\s)?|это\s"

WORDS = {word: name for name, tongue in _TONGUES.items() for word in tongue.words}
"""Each word that announces an answer, with its language."""

LINKS = {
    name: re.compile(
        rf"s?(?:\s(?:{tongue.right}))?(?:\s?\([^()\n]{{1,30}}\))?"
        rf"(?:(?P<slot>{_S}(?:[:=]|->|→)|\s-\s)(?!\s?не\b)|(?P<no>{tongue.denies})|(?:{tongue.says}){_SURELY}{_S}:?){_OPTION}"
    )
    for name, tongue in _TONGUES.items()
}
"""By language, what must follow such a word: a colon, or a copula; group `no` where it denies."""

BUT = r"\b(?:mais|sondern|sino|mas(?:\ssim)?|ma|bensì)\s(?:(?:la|le|a|die)\s(?=[a-z]\b))?|,\sа\s"
"""Behind a denial, what the answer is instead."""

DOUBTED = (
    r"\b(?:in|auf|zur|keine[rn]?|seine[rn]?|ihre[rn]?|dieser|aucune|sans|ninguna|sin|nenhuma|sem|nessuna|senza|без)\s\Z"
    r"|(?:mauvaise|fausse|falsche|неправильный|неверный)\s\Z|(?:間違った|誤った|不|틀린\s?|오)\Z"
    r"|\b(?:si|se|wenn|falls|если)\s(?:(?:la|a|die)\s)?(?:\w{3,12}\s)?\Z|¿[^?\n]{0,24}\Z"
    r"|(?:élèves|étudiants|gens|certains|croire|schüler|leute|manche|viele|estudiantes|alumnos|algunos|alunos|alguns|studenti|alcuni|ученики|многие)"
    r"\b[^,;.\n]{0,36}\Z"
)
"""Before such a word: the answer is wrong, nobody's, supposed, asked for, or what others say."""

OR = r"ou\b|oder\b|o\b|или\b|または|か(?=[A-Z])|또는|혹은"
AND = r"et\s|und\s|y\s|e\s|и\s|と|및\s?|[와과]\s?"
"""Between two labels."""

DENIED_BEHIND = r"(?:\sist\snicht|\sn'est\spas|\sno\ses|\snão\sé|\snon\sè|では(?:ない|ありません|な[いく])|じゃな|[가이]\s?(?:아니|아닙))"
ASKED_BEHIND = r"(?:です|でしょう)か|입니까|인가"
"""Behind what is announced."""

WRONG = r"\b(?:non|nein|no|não|нет|moment|warte|attendez|espera|aspetta)\b[^\n]{0,40}\b(?:faux|fausse|falsch|falso|incorrect[oa]|errad[oa]|sbagliat[oa]|неверно|неправильно)|いや[^\n]{0,30}間違|아니[^\n]{0,30}틀"
"""A sentence that takes an answer back."""

UNKNOWN = r"i do(?: not|n't) know|not sure|不知道|不清楚|不确定|je ne sais pas|ich wei(?:ß|ss) (?:es )?nicht|no (?:lo )?sé|não sei|non (?:lo )?so|не знаю|わかりません|분かりません|모르겠"
"""Said in an answer's place."""

POLITE = re.compile(r"(?:です|でした|である|입니다|이다|예요|이에요)$")
"""The copula at a sentence's end; no part of the answer."""

JOINS_A_LABEL = (
    "et", "ou", "und", "oder", "y", "e", "o", "est", "ist", "es", "weil", "porque", "parce", "nicht", "pas",
)  # fmt: skip
"""The words that may follow the label A or I; another word makes it a word of its own."""
