"""The amount of money that a declared sentence says is left: "Answer: she will still have $45 to repay within 6 months".

With two numbers in a sentence only the question tells which was asked for, but where one is money that is said to be left and
every other one only says by when, the first is what the sentence says.
"""

from __future__ import annotations

import re

_AMOUNT = re.compile(
    r"(?:us\s?)?[$€£¥]\s?\d[\d.,]*\d|(?:us\s?)?[$€£¥]\s?\d|(?<![\d.,])\d(?:[\d.,]*\d)?\s?(?:[$€£¥]|dollars?\b|euros?\b|pounds?\b|yen\b|元|块)",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"(?:\bstill\s(?:(?:has|have|had|owes?|needs?|be)\s)?(?:to\s(?:pay|repay|save)\s)?|\bencore\s|\bnoch\s|\btodavía\s|\baún\s|\bainda\s|\bancora\s"
    r"|\b(?:ещё|еще)\s|\breste(?:ra)?\s|\bquedan?\s|\brestano\s|还[有剩欠]|剩下?)$",
    re.IGNORECASE,
)
_LEFT = re.compile(r"\s(?:left|remaining|restants?|übrig)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:if|when|until|unless|with|after|before|since|not|no|never|or|than|of|si|quand|avec|après|ou|pas|wenn|mit|bis|nicht|oder|si|con|hasta|o"
    r"|quando|com|ou|se|если|до|или)\b|n't\b|[不没或若]|如果",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d.,]*")
_BY_WHEN = re.compile(
    r"(?:\b(?:in|within|over|d'ici|dans|en|innerhalb\svon|binnen|dentro\sde|em|entro|tra|fra|через|за)|在)\s?(?:(?:the|next|les|los|os|den|nächsten)\s){0,2}"
    r"\d+\s?(?:days?|weeks?|months?|years?|jours|semaines?|mois|ans?|tagen?|wochen?|monaten?|jahren?|días?|semanas?|mes(?:es)?|años?|dias?|anos?"
    r"|giorni|settimane|mesi|anni|дн(?:я|ей)|недел[июь]|месяц(?:а|ев)|лет|года?|天内?|周内?|个月内?|年内?)(?:\s[a-zäöüß]{3,16}en)?\W*$",
    re.IGNORECASE,
)


def amount_left(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one amount of money in a stretch, if it is said to be left and any other number says by when, at the very end."""
    amounts = list(_AMOUNT.finditer(text, start, end))
    if len(amounts) != 1 or _ASIDE.search(text, start, end):
        return None
    amount = amounts[0]
    until = _BY_WHEN.search(text, amount.end(), end)
    numbers = _NUMBER.findall(text[start : amount.start()]) + _NUMBER.findall(
        text[amount.end() : until.start() if until else end]
    )
    left = _STILL.search(text, max(start, amount.start() - 40), amount.start()) or _LEFT.match(text, amount.end(), end)
    return amount.span() if left and not numbers else None
