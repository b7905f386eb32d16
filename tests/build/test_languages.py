"""What is no translation is refused: what was left as it was, in part or whole, and what is in a third language."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mmdyn.build.languages import foreign
from mmdyn.sample import Language

PARALLEL = Path(__file__).resolve().parents[3] / "shared" / "data" / "parallel-en-zh" / "dev"

ENGLISH = "A train leaves at {n} o'clock and goes {m} km before it stops. How long does it take if nobody waits?"
CHINESE = "一列火车在{n}点出发，行驶{m}千米后停下。如果没有人等待，需要多长时间？"
THIRD = {
    "fr": "Un train part à {n} heures et parcourt {m} km avant de s'arrêter. Combien de temps met-il si personne n'attend ?",
    "de": "Ein Zug fährt um {n} Uhr ab und legt {m} km zurück, bevor er hält. Wie lange braucht er, wenn niemand wartet?",
    "es": "Un tren sale a las {n} y recorre {m} km antes de detenerse. ¿Cuánto tiempo tarda si nadie espera?",
    "it": "Un treno parte alle {n} e percorre {m} km prima di fermarsi. Quanto tempo impiega se nessuno aspetta?",
    "pt": "Um trem parte às {n} horas e percorre {m} km antes de parar. Quanto tempo leva se ninguém esperar?",
    "ru": "Поезд отправляется в {n} часов и проходит {m} км до остановки. Сколько времени он идёт, если никто не ждёт?",
    "ja": "列車は{n}時に出発し、{m}キロ走ってから止まります。だれも待たないとき、どれだけの時間がかかりますか。",
    "ko": "기차가 {n}시에 출발하여 {m}km를 달린 뒤 멈춥니다. 아무도 기다리지 않으면 얼마나 걸립니까?",
}
CASES = [(code, {"n": n, "m": 10 * n + 7}) for n in range(1, 14) for code in THIRD]


@pytest.mark.parametrize(("language", "before"), [("zh", ENGLISH), ("en", CHINESE)])
def test_a_third_language_is_refused(language: Language, before: str) -> None:
    assert len(CASES) > 100
    for code, numbers in CASES:
        assert foreign([before.format(**numbers)], [THIRD[code].format(**numbers)], language, []), (code, numbers)


@pytest.mark.parametrize(
    ("language", "before", "after", "told"),
    [
        ("zh", ENGLISH, ENGLISH, "'A train leaves at' is not in Chinese"),
        ("en", CHINESE, CHINESE, "'一列火车在' is not in English"),
        (
            "zh",
            ENGLISH,
            "一列火车在5点出发。 How long does it take if nobody waits?",
            "'How long does it take if nobody waits'",
        ),
        ("en", CHINESE, "A train leaves at 5. 需要多长时间？", "'需要多长时间' is not in English"),
        ("zh", "the mitochondria", "the mitochondria", "'mitochondria' is not in Chinese"),
        ("zh", "Newton", "Newton", "'Newton' is not in Chinese"),
        ("zh", "Which is a noble gas?", "ヘリウムはどれ", "'ヘ' is no letter of Chinese"),
    ],
)
def test_what_is_left_is_told(language: Language, before: str, after: str, told: str) -> None:
    assert foreign([before], [after], language, []).startswith(told)


@pytest.mark.parametrize(
    ("language", "before", "after", "names"),
    [
        ("zh", "$x^2 + \\text{of the first}$", "$x^2 + \\text{of the first}$", []),
        ("zh", "sin 30°", "sin 30°", []),
        ("zh", "5 mmol", "5 mmol", []),
        ("zh", "NaOH + HCl", "NaOH + HCl", []),
        ("zh", "Newton", "Newton", ["Newton"]),
        ("zh", "Who wrote The Lord of the Rings?", "谁写了 The Lord of the Rings？", ["The Lord of the Rings"]),
        ("zh", "What does the pH meter of J. K. Rowling show?", "J. K. Rowling 的 pH 计显示什么？", []),
        ("zh", "Who wrote Gone with the Wind?", "《Gone with the Wind》的作者是谁？", []),
        ("zh", "Who said to be or not to be?", "谁说过 “to be or not to be”？", []),
        ("zh", "What are X-rays?", "什么是Ｘ射线？", []),
        ("en", "钠、钾、钙、镁、铝、锌", "Sodium, potassium, calcium, magnesium, aluminium, zinc", []),
        ("en", "牛顿、爱因斯坦、玻尔、薛定谔", "Isaac Newton, Albert Einstein, Niels Bohr, Erwin Schrödinger", []),
        ("en", "《道德经》里的“道”是什么意思？", "What does 道 mean in the Tao Te Ching?", []),
        ("en", "3", "3", []),
        ("en", "“道”是什么意思？", "What does “道” mean?", []),
        ("en", "李白写了《静夜思》。", "Li Bai wrote Quiet Night Thought (静夜思).", []),
        ("en", "α、β 和 γ 是什么？", "What are α, β and γ?", []),
    ],
)
def test_formulas_names_and_quotations_may_stay(language: Language, before: str, after: str, names: list[str]) -> None:
    assert foreign([before], [after], language, names) == ""


@pytest.mark.skipif(not PARALLEL.is_dir(), reason=f"{PARALLEL} is not there")
def test_right_translations_of_real_questions_pass_and_halves_do_not() -> None:
    rows = [json.loads(line) for file in sorted(PARALLEL.glob("*.jsonl")) for line in file.read_text().splitlines()]
    texts = [tuple(row[language] for language in ("en", "zh")) for row in rows]
    pairs = [
        tuple([one] if isinstance(one, str) else [one["passage"], one["question"]] for one in pair) for pair in texts
    ]
    assert len(pairs) >= 200
    refused = [told for en, zh in pairs for told in (foreign(en, zh, "zh", []), foreign(zh, en, "en", [])) if told]
    assert len(refused) <= len(pairs) // 200, refused
    assert all(foreign(en, en, "zh", []) and foreign(zh, zh, "en", []) for en, zh in pairs)
    for en, zh in pairs:
        first, second = (re.split(r"(?<=[.?!。？！])\s*", side[-1].strip())[:1] for side in (en, zh))
        if re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", first[0]):
            assert foreign(en, [*zh[:-1], zh[-1] + first[0]], "zh", []), first
        if re.search("[\u4e00-\u9fff]{4}", second[0]):
            assert foreign(zh, [*en[:-1], second[0] + en[-1]], "en", []), second
