"""Chemical formulas, ions, and reactions: species of a side in any order, arrows in any form, conditions left out."""

from __future__ import annotations

import re

from mmdyn.text import spell_formula

_LONGEST = 200
_ELEMENT = (
    "(?:A[cglmrstu]|B[aeikr]?|C[adefl-orsu]?|D|Dy|E[rsu]|F[emr]?|G[ade]|H[efgo]?|I[nr]?|Kr?|L[airu]|M[dgno]|N[abdeiop]?|Os?"
    "|P[abdmortu]?|R[abehnu]|S[bceimnr]?|T[abcehilm]?|U|V|W|Xe|Yb?|Z[nr])"
)
_ARROWS = (
    (
        r"\\x(?:right|left)\w*\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}"
        r"|\\(?:over|under|stack)(?:set|rel)\s*\{[^{}]*\}\s*\{?\s*(?:\\\w+|=+)\s*\}?",
        " → ",
    ),
    (r"(?:=+|-{2,}|—+)\s*[\u4e00-\u9fff△Δ]{1,12}\s*(?:=+|-*>|—+>?|→)|(?:->|→)\s?\[[^\[\]]*\]", "→"),
    (r"<=+>|<-+>|⇄|⇔", "⇌"), (r"-+>|=+>|[⟶⇒]|—+>?|=+", "→"),
)  # fmt: skip
_CHARGE = re.compile(
    r"\^\s?(?:\{\s?(\d?)\s?([+-])\s?\}|(\d?)([+-]))|(?<=[A-Za-z\d)\]])[+-](?=\s*(?:[+→⇌]|$|\(|[↑↓])|\s)"
)
_DRAWN = re.compile(r"[_{}]|\s*\(\s*(?:aq|s|l|g)\s*\)|[↑↓]")
_SPECIES = re.compile(
    rf"(?P<count>\d{{1,3}}(?:/\d{{1,2}})?|n)?\s*(?P<formula>(?=[A-Z(\[])(?:{_ELEMENT}|[()\[\]*.⊕⊖\s\dn])+|e⊖)"
)
_MARKED = re.compile(r"[⊕⊖]|[A-Za-z)]\d")


def same_chemistry(given: str, gold: str) -> bool | None:
    """Are two reactions, or two formulas with an index or a charge, the same? None unless both are of one kind.

    Coefficients must agree, multiples are not reduced.
    """
    if max(len(given), len(gold)) > _LONGEST or given == given.lower():
        return None
    one, other = _reaction(given), _reaction(gold)
    alone = len(one) == 2 and not (_MARKED.search(one[0][0]) or _MARKED.search("".join(other[0] if other else [])))
    return one == other if one and len(one) == len(other) and not alone else None


def _reaction(text: str) -> list[list[str]]:
    """The species of each side, in order, behind them the arrow; of a formula alone itself; nothing for anything
    else."""
    text = spell_formula(re.sub(*_ARROWS[0], text))
    for pattern, arrow in _ARROWS[1:]:
        text = re.sub(pattern, arrow, text)
    text = _CHARGE.sub(lambda found: (found[1] or found[3] or "") + ("⊕" if "+" in found[0] else "⊖"), text)
    text = _DRAWN.sub("", text).replace("•", "*")
    arrows = re.findall("[→⇌]", text)
    sides = [sorted(_species(part) for part in side.split("+")) for side in re.split("[→⇌]", text)]
    single = len(sides) == 1 and len(sides[0]) == 1
    return [*sides, arrows] if all(map(all, sides)) and (single or len(arrows) == 1) else []


def _species(text: str) -> str:
    """The coefficient and the formula; empty for what is made of anything but elements, numbers, brackets and a
    charge."""
    found = _SPECIES.fullmatch(text.strip())
    formula = re.sub(r"\s", "", found["formula"]) if found else ""
    return f"{found['count'] or 1} {formula}" if found and formula.count("(") == formula.count(")") else ""
