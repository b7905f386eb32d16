"""Benchmarks in the form in which they are released, small and of our own words."""

from __future__ import annotations

import json
from pathlib import Path

from making import picture


def write_gaokao_mm(folder: Path, count: int = 24) -> None:
    """A GAOKAO-MM of so many questions, of which half are `Biology_MCQs` and half `Physics_MCQs`; each has a picture."""
    (folder / "images").mkdir(parents=True)
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            subject, place = ("Biology_MCQs", "Physics_MCQs")[number % 2], number // 2
            (folder / "images" / f"{number}.png").write_bytes(picture(120, 60, text=str(number)))
            options = "\n".join(f"{label}. {number + step} 厘米" for step, label in enumerate("ABCD"))
            row = {
                "id": f"{subject}-{place}",
                "subject": subject,
                "year": "2019",
                "category": "（新课标Ⅰ）",
                "question": f"{place + 1}. (6 分) 图中数字加 {place} 是几? ( )\n{options}",
                "picture": [f"images/{number}.png"],
                "answer": ["ABCD"[place % 4]],
                "score": 6,
                "analysis": "",
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
