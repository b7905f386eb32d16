"""Sentence frames lose nothing: their templates by what they are made of, their results on made and on real stems."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.real_sets import real
from growth import grows_linearly
from hypothesis import given, settings, strategies as st

from mmdyn.keys import stream
from mmdyn.text import protected_spans
from perturb import NotApplicable
from perturb.rewrite._frames import mask, read, with_pieces
from perturb.rewrite._sentences import ABOUT_WORDS, paraphrase
from perturb.rewrite.embedded_rewriter import FOREIGN
from perturb.text.paraphrase import Paraphrase

GUARDED = {
    "en": re.compile(r"\b(?:not|no|never|none|neither|nor|without|except|cannot|false|wrong|incorrect|all|every|each|any|some|only|both|" r"least|most|more|less|fewer|may|might|must|can|could|should|would|always|likely|possible|impossible|one|two|three|" r"first|second|half|twice|respectively)\b|n['’]t\b|\d", re.IGNORECASE),
    "zh": re.compile(r"[不没无非未]|错误|均|都|全|各|每|任[何意]|所有|只|仅|至[少多]|最[多少大小]|可能|一定|必|分别|除|[零一二两三四五六七八九十百千万半]|些|可以|应|\d"),
}  # fmt: skip
"""Negations, quantifiers, numbers and modals, which must occur equally often before and after."""

FREE = {"Q", "t", "T", "m", "be", "done", "lead", "things"}
"""What a template may use that its pattern does not capture: pieces of the question that it captures as q, and fixed
words."""

DROPPED = {"v": ("{done}",), "q": ("{t}", "{T}", "{Q}"), "d": ("{k}的{n}{v}",)}
"""What is captured and may be missing in a template that has one of the others instead (下列 in "正确的说法是")."""


def frames() -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    for language in ("en", "zh"):
        data = read(language)
        sections = [data[name] for name in ("asks", "leads", "tells") if name in data]
        sections += [data[name] for name in ("clauses", "anchored") if name in data]
        for section in sections:
            for entries in section.values():
                for entry in entries:
                    yield language, entry, data["pieces"]
        for entry in data.get("trails", []):
            yield language, entry, data["pieces"]


FRAMES = list(frames())


@pytest.mark.parametrize(("language", "entry", "pieces"), FRAMES, ids=[entry["match"][:40] for _, entry, _ in FRAMES])
def test_a_template_takes_over_all_that_its_pattern_captures_and_adds_nothing(
    language: str, entry: dict[str, Any], pieces: dict[str, str]
) -> None:
    captured = set(re.compile(with_pieces(entry["match"], pieces)).groupindex)
    literal = Counter(
        GUARDED[language].findall(re.sub(r"\(\?P<\w>|@(?:[a-z]:)?[A-Za-z]+|\{[\d,]+\}|\\.", "", entry["match"]))
    )
    for to in entry["to"]:
        assert to[-1] in ".?。？" or to.endswith(("{Q}", "{T}", "{m}")), to
        used = {name for _, name, _, _ in string.Formatter().parse(to) if name}
        assert used <= captured | FREE, to
        missing = captured - used
        assert all(any(part in to for part in DROPPED.get(name, ())) for name in missing), (to, missing)
        new = Counter(GUARDED[language].findall(re.sub(r"\{\w+\}", "", to))) - literal
        assert not new, (to, new)


def counted(text: str, language: str) -> Counter[str]:
    return Counter(found.lower() for found in GUARDED[language].findall(text))


def assert_kept(before: str, after: str, language: str) -> None:
    """The protected spans are all still there, and what is guarded is there as often as before."""
    assert counted(before, language) == counted(after, language), (before, after)
    for mark in re.findall(r"<image \d>|_{2,}|[(（] ?[)）]|\$[^$]*\$|“[^”]*”", before):
        assert before.count(mark) == after.count(mark), (before, after)
    for start, end in protected_spans(before):
        for span in re.split(r"_{2,}|[(（] ?[)）]", before[start:end]):  # blanks, counted above, may touch others
            assert span.strip(" .．。，,;；:：、?？").lower() in after.lower(), (span, before, after)


EN = ["the area of $ABC$", "3 pens", "he", "Tom", "not all cubes", "<image 1>", "____", "“no way”", "at least 5 cm", "two rings",
      "$x=3$", "must be", "is", "which", "how many", "did", "buy", "if", "given that", "so", "and", ",", "as shown in the figure"]  # fmt: skip
ZH = ["若", "如果", "则", "那么", "求", "$a>0$", "$a$", "的面积", "是", "（ ）", "____", "不", "至少", "3", "个", "小明", "“都错”", "<image 1>",
      "下列说法", "正确的", "最大值", "多少", "哪", "，", "已知", "如图", "的取值范围", "星期", "元"]  # fmt: skip
OPENERS = [
    "What is ", "How many ", "Find ", "If ", "Which of the following ", "As shown in the figure, ", "There are ",
    "In the diagram, ",
]  # fmt: skip


def stems(words: list[str], joint: str, openers: list[str], stops: str) -> st.SearchStrategy[str]:
    sentence = st.tuples(
        st.sampled_from(openers), st.lists(st.sampled_from(words), min_size=1, max_size=9), st.sampled_from(stops)
    )
    return st.lists(sentence.map(lambda s: s[0] + joint.join(s[1]) + s[2]), min_size=1, max_size=3).map("\n".join)


STEMS = {"en": stems(EN, " ", OPENERS, ".?"), "zh": stems(ZH, "", ["", "已知", "若", "如图，", "请问"], "。？")}


@pytest.mark.parametrize("language", STEMS)
@settings(max_examples=400, deadline=None)
@given(st.data(), st.integers(0, 10**6), st.sampled_from(["", "mild", "strong"]))
def test_what_is_protected_stays(language: str, data: st.DataObject, seed: int, severity: str) -> None:
    text = data.draw(STEMS[language])
    made = paraphrase(text, language, stream(seed), severity)
    if isinstance(made, str):
        assert made != text
        assert_kept(text, made, language)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["en", "zh"]))
def test_any_text_is_rewritten_or_declined(text: str, language: str) -> None:
    made = paraphrase(text, language, stream("any"))
    assert made.reason if isinstance(made, NotApplicable) else made != text


NO_CHANGE = [
    "As shown in the figure, as shown in the figure.", "as shown in the figure, As  shown in the figure.",
    "As shown in the figure, $a$ as shown in the figure, $a$.",
]  # fmt: skip


@pytest.mark.parametrize("severity", ["", "mild", "strong"])
@pytest.mark.parametrize("text", NO_CHANGE)
def test_a_sentence_that_becomes_itself_is_no_change(text: str, severity: str) -> None:
    for asked in (text, f"{text} What is $x$?"):
        for number in range(30):
            made = paraphrase(asked, "en", stream(number), severity)
            assert isinstance(made, NotApplicable) or "".join(made.split()).lower() != "".join(asked.split()).lower()
        assert asked == text or isinstance(made, str), "another sentence changes"


@pytest.mark.parametrize(("text", "made"), [
    ("三角形$A$的面积是多少？．", "三角形$A$的面积．"),
    ("三角形$A$的面积是多少? ．", "三角形$A$的面积．"),
    ("What is the area of $A$? ．", "the area of $A$．"),
    ("What is the area of $A$? .\nIt is 3.", "the area of $A$.\nIt is 3."),
    ("What is the area of $A$? .5 is more.", "the area of $A$. .5 is more."),
])  # fmt: skip
def test_a_full_stop_that_stood_behind_a_question_mark_stays_alone(text: str, made: str) -> None:
    language = "zh" if "三" in text else "en"
    texts = {paraphrase(text, language, stream(number)) for number in range(60)}
    asked = [one for one in texts if isinstance(one, str) and one.endswith(made)]
    assert asked and not [one for one in texts if re.search(r"[．.]\s?[．.](?!\d)", str(one))]


HOSTILE = ["a", "7", "12,", "1１", "1.２", "$", "(", "（", "“", '"', "\\(", "_ ", "1.", "? ", "\n", "what is the ", "if a b c, ", "求", "若啊，", "的", "如果", "下列",
           "what is $x$? ", "(  ) is the "]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_hostile_texts_take_linear_time(piece: str, language: str) -> None:
    paraphrase("What is the area?", language, stream(0))
    assert grows_linearly(lambda size: paraphrase((piece * size)[:size], language, stream(0)), 25_000)


SETS = {
    "en": ("scemqa", "we_math", "math_vision", "tal_scq5k", "gaokao_bench"),
    "zh": ("gaokao_mm", "tal_scq5k", "gaokao_bench"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_most_real_questions_change_and_lose_nothing(language: str) -> None:
    """Eligible is what is not refused as being about words or a text, and what has words outside of formulas."""
    changed = eligible = 0
    for sample in (sample for name in SETS[language] for sample in real(name).values() if sample.language == language):
        params = Paraphrase().params(stream("real", sample.id), sample)
        if isinstance(params, NotApplicable):
            eligible += params.reason not in (ABOUT_WORDS, FOREIGN.reason) and any(
                map(str.isalpha, mask(sample.question)[0])
            )
            continue
        eligible, changed = eligible + 1, changed + 1
        text = params["question"]
        assert isinstance(text, str) and counted(text, language) == counted(sample.question, language)
    assert eligible > 1000 and changed / eligible >= 0.6
