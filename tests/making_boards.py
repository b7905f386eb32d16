"""Made-up sets under the names of OpenCompass's table, and scripted models of known rates.

python tests/making_boards.py FOLDER   writes FOLDER/SET.jsonl and FOLDER/MODEL.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mmdyn.keys import stream
from mmdyn.testing import write_script

SETS = {"gpqa_diamond": 60, "mmlu_pro": 120, "hle": 60, "aime_2025": 30}
RATES = {"atlas": (0.85, 0.85, 0.4, 0.9), "borel": (0.8, 0.85, 0.3, 0.8), "corvo": (0.6, 0.7, 0.1, 0.4)}
"""How often each model is right in each set."""


def write_boards(folder: Path) -> Path:
    """Write the sets, and for each model its replies."""
    folder.mkdir(parents=True, exist_ok=True)
    replies: dict[str, list[dict[str, str]]] = {model: [] for model in RATES}
    for place, (name, size) in enumerate(SETS.items()):
        lines = []
        for number in range(size):
            code, right = f"{name} {number:03}.", number * 7 + 3
            lines.append(
                {
                    "id": f"{name}-{number}",
                    "question": f"What is 7 x {number} + 3? ({code})",
                    "task_type": "fill_in_the_blank",
                    "answer": [[str(right)]],
                }
            )
            for model, rates in RATES.items():
                hit = float(stream("board", model, code).random()) < rates[place]
                replies[model].append({"match": code, "reply": f"Answer: {right if hit else right + 1}"})
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for model, lines in replies.items():
        write_script(folder / f"{model}.jsonl", *lines)
    return folder


if __name__ == "__main__":
    write_boards(Path(sys.argv[1]))
