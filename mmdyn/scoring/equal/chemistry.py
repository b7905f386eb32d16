"""Chemical formulas, ions, and reactions: species of a side in any order, arrows in any form, conditions left out."""

from __future__ import annotations

import re
from collections import Counter

from mmdyn.text.maths import spelled

_LONGEST = 200
_ELEMENTS = frozenset(
    [
        "H",
        "He",
        "Li",
        "Be",
        "B",
        "C",
        "N",
        "O",
        "F",
        "Ne",
        "Na",
        "Mg",
        "Al",
        "Si",
        "P",
        "S",
        "Cl",
        "Ar",
        "K",
        "Ca",
        "Sc",
        "Ti",
        "V",
        "Cr",
        "Mn",
        "Fe",
        "Co",
        "Ni",
        "Cu",
        "Zn",
        "Ga",
        "Ge",
        "As",
        "Se",
        "Br",
        "Kr",
        "Rb",
        "Sr",
        "Y",
        "Zr",
        "Nb",
        "Mo",
        "Tc",
        "Ru",
        "Rh",
        "Pd",
        "Ag",
        "Cd",
        "In",
        "Sn",
        "Sb",
        "Te",
        "I",
        "Xe",
        "Cs",
        "Ba",
        "La",
        "Ce",
        "Pr",
        "Nd",
        "Pm",
        "Sm",
        "Eu",
        "Gd",
        "Tb",
        "Dy",
        "Ho",
        "Er",
        "Tm",
        "Yb",
        "Lu",
        "Hf",
        "Ta",
        "W",
        "Re",
        "Os",
        "Ir",
        "Pt",
        "Au",
        "Hg",
        "Tl",
        "Pb",
        "Bi",
        "Po",
        "At",
        "Rn",
        "Fr",
        "Ra",
        "Ac",
        "Th",
        "Pa",
        "U",
        "Np",
        "Pu",
        "Am",
        "Cm",
        "Bk",
        "Cf",
        "Es",
        "Fm",
        "Md",
        "No",
        "Lr",
        "D",
        "T",
    ]
)
_CONDITIONED = re.compile(r"\\x(?:right|left|rightleft)?(?:arrow|harpoons)\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}")
_STACKED = re.compile(r"\\(?:over|under|stack)(?:set|rel)\s*\{[^{}]*\}\s*\{?\s*(\\[A-Za-z]+|=+|→|⇌)\s*\}?")
_LABELLED = re.compile(r"(?:=+|-{2,}|—+)\s*[\u4e00-\u9fff△Δ]{1,12}\s*(?:=+|-*>|—+>?|→)")
_BOTH = re.compile(r"<=+>|<-+>|⇌|⇄|⇔")
_FORWARD = re.compile(r"-+>|=+>|[→⟶⇒]|—+>?|=+")
_CHARGE_ABOVE = re.compile(r"\^\s?(?:\{\s?(\d?)\s?([+-])\s?\}|(\d?)([+-]))")
_INDEX = re.compile(r"_\s?(?:\{\s?(\d+|n)\s?\}|(\d+|n))")
_ABOVE_ARROW = re.compile(r"(->|→|⇌)\s?\[[^\[\]]*\]")
_CHARGE_BEHIND = re.compile(r"(?<=[A-Za-z\d)\]])([+-])(?=\s*(?:[+→⇌]|$|\(|[↑↓])|\s)")
_STATE = re.compile(r"\s*\(\s*(?:aq|s|l|g)\s*\)|[↑↓]")
_ATOM = re.compile(r"[A-Z][a-z]?|[()\[\]]|\d+|[*.]|[⊕⊖]|e")
_SPECIES = re.compile(r"(?P<count>\d{1,3}|\d{1,2}/\d{1,2}|n)?\s*(?P<formula>[A-Z(\[e].*)")
_ELECTRON = ("e⊖",)


def same_reaction(given: str, gold: str) -> bool | None:
    """Are two reactions the same? None unless both are reactions. Coefficients must agree, multiples are not reduced."""
    one, other = _reaction(given), _reaction(gold)
    return one == other if one and other else None


def same_species(given: str, gold: str) -> bool | None:
    """Are two chemical formulas the same, charges included? None unless both are formulas with an index or a charge."""
    if len(given) > _LONGEST or len(gold) > _LONGEST:
        return None
    one, other = _species(_ions(_flat(given))), _species(_ions(_flat(gold)))
    if not one or not other or not any(char in "⊕⊖" or char.isdigit() for char in one[1] + other[1]):
        return None
    return one == other


def _flat(text: str) -> str:
    text = _STACKED.sub(r" \1 ", _CONDITIONED.sub(" → ", text))
    return _ABOVE_ARROW.sub(r"\1", spelled(text)).replace("•", "*")


def _ions(text: str) -> str:
    """Charges as ⊕ and ⊖ with their size before them, indices bare."""
    text = _CHARGE_ABOVE.sub(_charge, text)
    text = _INDEX.sub(lambda found: found[1] or found[2], text).replace("{", "").replace("}", "")
    return _CHARGE_BEHIND.sub(lambda found: "⊕" if found[1] == "+" else "⊖", text)


def _charge(found: re.Match[str]) -> str:
    return (found[1] or found[3] or "") + ("⊕" if "+" in (found[2], found[4]) else "⊖")


def _reaction(text: str) -> tuple[str, Counter[str], Counter[str]] | None:
    if len(text) > _LONGEST:
        return None
    flat = _BOTH.sub("⇌", _LABELLED.sub("→", _flat(text)))
    flat = flat if "⇌" in flat else _FORWARD.sub("→", flat)
    arrow = "⇌" if "⇌" in flat else "→"
    if flat.count(arrow) != 1:
        return None
    left, right = (_side(side) for side in _ions(flat).split(arrow))
    return (arrow, left, right) if left and right else None


def _side(text: str) -> Counter[str] | None:
    side = Counter[str]()
    for part in text.split("+"):
        species = _species(_STATE.sub("", part).strip())
        if not species:
            return None
        side[f"{species[0]} {species[1]}"] += 1
    return side


def _species(text: str) -> tuple[str, str] | None:
    """The coefficient and the formula; None for what is made of anything but elements, numbers, brackets and a charge."""
    text = _STATE.sub("", text).strip()
    found = _SPECIES.fullmatch(text)
    if not found:
        return None
    formula = found["formula"].replace(" ", "")
    atoms = _ATOM.findall(formula)
    if "".join(atoms) != formula or formula.count("(") != formula.count(")"):
        return None
    names = [atom for atom in atoms if atom[0].isalpha()]
    if names == ["e"]:
        return (found["count"] or "1", formula) if formula in _ELECTRON else None
    if not names or "e" in names or not all(name in _ELEMENTS for name in names):
        return None
    return found["count"] or "1", formula
