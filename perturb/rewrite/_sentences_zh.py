"""What a Chinese sentence may become. Its questions have the order of its statements, so frames say it all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perturb.rewrite._atoms import BLANK, FORMULA
from perturb.rewrite._frames import Choice, Frames, Pick, read

_WORTH_A_LOOK = re.compile(
    rf"[{BLANK}求则哪谁几]|那么|多少|什么|是否|下列|以下|下面|如图|据此|阅读|读图|证明|计算|分析|说明|概括|指出|简述|简析|归纳|阐述|由于|因此"
    r"|所以|结合|关于|[是为元岁天页棵株米克升时钟]$|等于$|星期$|共有|写出"
)
_LEAD = re.compile(
    rf".*[，,﹐：:；;]\s?(?<!(?:计算|算式)[：:])(?<!(?:计算|算式)[：:] )|.*[{FORMULA}] ?(?=则|那么)", re.DOTALL
)
_NUMBERED = re.compile(r"(?:[(（] ?(?:\d{1,2}|[IVXⅠ-Ⅻ]{1,4}|[一二三四五]) ?[)）]|\d{1,2}[.．、]|[①-⑩])\s?")
_THEN = re.compile(
    r"(?:则|那么请问|那么|请问|问|试问|请你?(?=求|计算|[分说概简指归阐])|试(?=求))[：:，,﹐]?\s?(?:计算[:：]?"
    r" ?(?=.*(?:结果|值)))?"
)
_THEN_AND_COMMA = re.compile(r"(?:^|(?<=[，,﹐：:；;\s]))(?:则|那么请问|那么|请问|问|试问)[：:，,﹐]\s?$")
_HANGING = re.compile(
    r"(?:则|那么)[^，,]*[，,﹐：:] ?$|(?:使得?|问|得出|推出|可知|认为|知道|说)[^，,]{0,3}[，,﹐：:] ?$"
)
_LISTED = re.compile(
    r"(?:^|[，,﹐：:；;、"
    r"])(?!如图|现在|其中|因此|所以|然后|最后|结果|当时|这时|此时|今年|那时|至此)[\u4e00-\u9fff]{1,3}[，,﹐] ?$"
)
_LISTED_FORMULA = re.compile(rf"[{FORMULA}][，,﹐、] ?\Z")
"""What comes before the last of things that commas join, as in "$a$，$b$，$c$的大小关系"."""

_FORMULA = re.compile(f"[{FORMULA}]")
_BLANK = re.compile(f"[{BLANK}]")
_JOINTS = "，,﹐：:；;)）.．、"
_CONDITIONS = ("若", "如果", "假如", "假设")
_CONDITION = re.compile("若|如果|假如|假设|当")
_ASKS = re.compile(r"(?:哪|多少)[^，,。：:]*$")


class Chinese:
    """The frames of Chinese sentences."""

    def __init__(self) -> None:
        data = read("zh")
        self._about_words = re.compile("|".join(data["about_words"]))
        self._clauses = Frames(data["clauses"], data["pieces"])
        self._anchored, self._tells = (Frames(data[name], data["pieces"]) for name in ("anchored", "tells"))

    def about_words(self, text: str) -> bool:
        """Whether a stem asks about words, or about a text that it quotes."""
        return bool(self._about_words.search(text))

    def rephrased(self, sentence: str, pick: Pick, *, asks: bool, closing: bool, tells: bool) -> str | None:
        """One of the sentences that this one may become, with 。 or ？ at its end, or None.

        `sentence` has no mark. `asks`: its mark is a question mark; `closing`: it is the last of its line; `tells`: it
        may change though it asks nothing.
        """
        if not (asks or _WORTH_A_LOOK.search(sentence)):
            return None
        asks = asks or (closing and bool(_ASKS.search(sentence)))
        text = sentence + ("？" if asks else "。")
        choices = [*self._clause(text, closing), *self._from_anchors(self._anchored, text, closing)]
        if tells and not asks:
            choices += self._from_anchors(self._tells, text, closing)
        if not choices:
            return None
        to, pieces = choices[pick(len(choices))]
        return pieces["lead"] + to.format_map(pieces)

    def _clause(self, text: str, closing: bool) -> Iterator[Choice]:
        """What the last clause may become."""
        found = _LEAD.match(text) or _NUMBERED.match(text)
        lead = found[0] if found else ""
        clause = text[len(lead) :]
        then = _THEN.match(clause)
        if before := _THEN_AND_COMMA.search(lead):
            lead = lead[: before.start()]
        if lead and (_HANGING.search(lead) or (not (then or before) and _is_listed(lead, clause))):
            return
        ending = _ending(clause)
        if ending == "blank" and _BLANK.search(lead):
            return
        for to, pieces in self._clauses.fitting(ending, clause[then.end() :] if then else clause, closing):
            yield to, {**pieces, "lead": lead}

    def _from_anchors(self, frames: Frames, text: str, closing: bool) -> Iterator[Choice]:
        """What the sentence may become from where a frame's word stands at the beginning of a clause."""
        for word in frames.by_word:
            at = text.find(word)
            if at < 0:
                continue
            lead = text[:at]
            if lead and (lead.rstrip()[-1:] not in _JOINTS or (word in _CONDITIONS and _CONDITION.search(lead))):
                continue
            for to, pieces in frames.fitting(word, text[at:], closing):
                yield to, {**pieces, "lead": lead}


def _is_listed(lead: str, clause: str) -> bool:
    """Whether a clause is the last of things that commas join."""
    return bool(_LISTED.search(lead) or (_FORMULA.match(clause) and _LISTED_FORMULA.search(lead)))


def _ending(clause: str) -> str:
    """How a clause ends, which decides what frames may fit it."""
    if clause[-1] == "？":
        return "question"
    if _BLANK.search(clause):
        return "blank"
    return "copula" if clause[-2:-1] in ("是", "为") or clause.endswith("等于。") else "plain"
