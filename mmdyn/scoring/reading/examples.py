"""Announcements that are shown, not made: the form that an answer is to have ("write your answer in the format: …"), an example."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.doubts import finds

_THE_FORM = (
    r"\b(?:the|this|that)\s(?:(?:following|required|requested|exact|given|same|correct|specified|answer|output)\s){0,2}(?:form(?:at)?|template)"
    r"(?:\s(?:of|is|like))?"
)
_REPLY = r"(?:respond|reply|answer|end|finish|conclude|begin|start)"
_ASKS_FOR = r"(?:[\n.!?:;]\W{0,3}|\bplease\s|(?<!\bi\s)(?:should|must)\s)"
_SHOWS = re.compile(
    rf"(?:{_THE_FORM}(?!\s(?:the|your)\s)|\bbe\s(?:formatted|written|stated|given|presented)\sas(?!\sthe\s)"
    rf"|{_ASKS_FOR}{_REPLY}\s(?:(?:your|the|its|every|each)\s(?:\w+\s){{1,2}})?(?:\w+ly\s|just\s)?with(?!\sthe\s(?!line)):?(?:\sthe\sline)?"
    rf"|(?:{_ASKS_FOR}(?:use|follow|{_REPLY}|write|put|give|provide|format|state|return|output|print|present)\b|\bplease\b"
    r"|\b(?:answers?|response|reply|line|output|it)\s(?:should|must|needs?\sto|has\sto|have\sto)\b)"
    rf"(?![^.\n]{{0,80}}\b(?:my|i|we|here)\b)[^.\n]{{0,80}}?(?:{_THE_FORM}|\bfollows|\blike(?:\sthis)?):?|\bplease\b[^.\n]{{0,40}}\bas(?!\sthe\s)"
    r"|\bformat\s(?:is|(?:would|should|must)\sbe|looks\slike):?"
    rf"|\b(?:is|example\sof)\s{_THE_FORM}:"
    r"|[\n.;]\W{0,4}(?:the\s)?(?:(?:required|expected|correct|desired|answer|output|response|reply)\s){0,2}format:"
    r"|\bfor\sexample[,:]?|\be\.g\.[,:]?|\bsuch\sas"
    r")[\s'‘]{1,3}(?:(?:the|your)\s)?(?:(?:final|correct|right)\s)?(?:(?:final\s)?answer:\s?\w[,\s']{1,3}(?:(?:or|and)\s)?'?){0,9}\Z"
    r"|(?:请|务必|必须|应按|须按|输出|答题|最后一行)[^。\n,我]{0,30}(?:格式|形式)[^。\n,]{0,8}\Z|(?:格式|形式)(?:应?[是为]|如下)[:\s]{0,3}\Z"
    r"|[\n。;](?:输出|回答|答题|作答|答案|示例)?格式:\s{0,3}\Z|请[^。\n,我]{0,12}(?:写|写上|写出|输出):\s{0,3}\Z"
    r"|(?:例如|比如|譬如|示例)[,:]?\s{0,3}\Z"
)
"""Before an announcement: it is asked for in this form, or an example. "My answer in the required format:" does not ask."""
_HINTS_AT_FORM = ("form", " as", "with", "like", "follows", "example", "e.g", "templ", "式", "如", "示例", "请")
_SHOWN = re.compile(
    r"\A[\s(*]{0,4}\w{1,4}[*)\]”’'\s]{0,4}?(?:\sis\s(?:only\s|just\s)?(?:the|an?)\s(?:(?:required|expected|correct|requested|right|exact|output)\s)?(?:format\b(?!\sof)|example\b(?!\sof))"
    r"|[是为][^。\n,;]{0,8}格式"
    r"|\s?\((?:(?:this|that|which)\sis\s[^()\n]{0,30}\bform|[^()\n]{0,12}\b(?:this|that|diesem|dieser|ce|cette|este|esta|neste|nesta|questo|questa|этом)\s(?:exact\s)?(?:form|форм)"
    r"|(?:请|须|务必|この|次の|이)[^()\n]{0,20}(?:格式|形式|형식)))"
)
"""Behind it: "Answer: A is the format"."""
_HINTS_AT_SHOWN = ("form", "example", "式", "форм", "형식")
_SENTENCE, _BEHIND = 100, 60


def shown(low: str, start: int, end: int) -> bool:
    """Is it said on its line that an answer should look like the announcement from `start` to `end`?"""
    first = max(0, start - _SENTENCE)
    line = low.rfind("\n", first, start)
    before = low[max(line, first) : start] if line >= 0 or first else f"\n{low[:start]}"
    if "form" in low[start:end] and before.endswith(("your ", "your final ")):
        return True  # "write your answer in the format: …"
    return finds(_SHOWS, _HINTS_AT_FORM, before) or finds(_SHOWN, _HINTS_AT_SHOWN, low[end : end + _BEHIND])
