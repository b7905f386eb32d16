"""The amount of money that a declared sentence says is left: "Answer: she will still have $45 to repay within 6 months".

Of two numbers only the question tells which was asked for, but where one is money that is still to be had or paid and the other
says by when, the first is what the sentence says. Only sentences that are this and nothing more are read.
"""

from __future__ import annotations

import re

_SUBJECT = (
    r"(?!(?:if|when|unless|because|since|as|not|no|nobody|neither|who|suppose|maybe|perhaps|si|quand|wenn|falls|quando|se)\b)"
    r"[^\W\d_]+(?:\s[^\W\d_]+)?"
)
_STILL = (
    r"(?:still\s(?:has|have|owes?)|will\sstill\s(?:have|owe)|(?:a|aura|doit|devra)\sencore|(?:hat|muss|schuldet)\snoch"
    r"|todavía\s(?:tiene|tendrá|debe)|ainda\s(?:tem|terá|deve)|(?:ha|avrà|deve)\sancora)(?:\sto\s(?:pay|repay))?"
)
_AMOUNT = r"(?P<amount>[$€£¥]\s?\d(?:[\d.,]*\d)?|\d(?:[\d.,]*\d)?\s?(?:[$€£¥]|dollars?|euros?|pounds?))"
_TO_PAY = r"(?:\s(?:left|to\s(?:pay|repay)|à\s(?:payer|rembourser)|por\spagar|a\spagar|da\spagare))?"
_BY_WHEN = (
    r"(?:\s(?:in|within|over|d'ici|dans|en|innerhalb\svon|binnen|dentro\sde|em|entro|tra|fra)\s(?:(?:the|next|les|los|os|den)\s){0,2}"
    r"\d+\s(?:days?|weeks?|months?|years?|jours?|semaines?|mois|ans?|tagen?|wochen?|monaten?|jahren?|días?|semanas?|mes(?:es)?|años?|dias?|anos?"
    r"|giorni|settimane|mesi|anni)(?:\szahlen)?)?"
)
_SENTENCE = re.compile(rf"{_SUBJECT}\s{_STILL}\s{_AMOUNT}{_TO_PAY}{_BY_WHEN}", re.IGNORECASE)


def amount_left(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The amount of money in a stretch that is one sentence of who still has it, or still has to pay it."""
    sentence = _SENTENCE.fullmatch(text, start, end)
    return sentence.span("amount") if sentence else None
