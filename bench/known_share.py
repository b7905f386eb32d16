"""Models that are known to know a share of the questions, sent through all chains and contexts: how many contrasts on
the scale corrected for chance are significant, where in truth nothing changed?

    python bench/known_share.py --data DATA [--out FOLDER] [--seeds 5] [--limit N] [--ops mdk12] [--sets we_math,…]

For every set: `mmdyn data convert`, `mmdyn perturb`, `mmdyn eval` of `baseline:random`, `mmdyn report`. A model that
knows a share and guesses else answers from a copy of that run, into which its replies are written before `mmdyn score`
scores them: what it knows, it answers rightly in any form and context; else it guesses as docs/statistics.md says, anew
for every question that it is asked, or omits the answer. So no golden answer is ever in a prompt.

A cell of the table counts contrasts with p <= 0.05 of all, and those that are left after Holm's adjustment.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from mmdyn.keys import canonical, stream
from mmdyn.record import Reply
from mmdyn.sample import Language, Sample, from_json
from mmdyn.scoring import Scorer
from mmdyn.work import RECORD, SAMPLE, ModelEntry, Reader, RunFolder, Store, write_config

MMDYN = [sys.executable, "-m", "mmdyn"]
SETS = {"we_math": "we-math", "scemqa": "scemqa", "gaokao_mm": "gaokao-mm"}
CONTEXTS = "none,kprag,kprag:inline,kprag:two-turn,kprag:retrieved,kprag:mixed,distractor"
MODELS = {"guesses": (0.0, 0.0), "knows .6": (0.6, 0.0), "knows .6, omits .2": (0.6, 0.5)}
"""The share of the questions that each knows, and the share that it omits of the others."""

ANSWER: dict[Language, str] = {"en": "Answer: ", "zh": "答案："}
TRUE_FALSE: dict[Language, tuple[str, str]] = {"en": ("True", "False"), "zh": ("正确", "错误")}
NOTHING: dict[Language, str] = {"en": "I do not know.", "zh": "我不知道。"}


def right(sample: Sample) -> str:
    """The reply that gives the golden answer."""
    answer, said = sample.answer, ANSWER[sample.language]
    if isinstance(answer, bool):
        return said + TRUE_FALSE[sample.language][not answer]
    if isinstance(answer, str):
        return said + answer
    separator = "" if sample.kind.form == "choice" else "; "
    return said + separator.join(part if isinstance(part, str) else part[0] for part in answer)


def guess(sample: Sample, random: np.random.Generator) -> str:
    """The reply of the stated guesser; at a blank or an open question none."""
    labels, said = sample.labels, ANSWER[sample.language]
    if sample.task_type == "true_false":
        return said + TRUE_FALSE[sample.language][int(random.integers(2))]
    if not labels:
        return NOTHING[sample.language]
    picked = ""
    if sample.task_type == "multi_select":
        picked = "".join(label for label, coin in zip(labels, random.random(len(labels)), strict=True) if coin < 0.5)
    return said + (picked or labels[int(random.integers(len(labels)))])


def answered(run: RunFolder, out: Path, model: str, seed: int) -> int:
    """Write a run of the same questions with the replies of a model; how many right replies are not read as such."""
    (knows, omits), scorer, unread = MODELS[model], Scorer(), 0
    with Reader(run.records_folder) as reader, Store(out / "records") as store:
        for record in run.records():
            stored = reader.get(SAMPLE, record.digest)
            assert stored is not None
            sample, random = from_json(stored, Sample), stream("known share", model, seed, record.key)
            if stream("known share", seed, record.parent).random() < knows:
                text = right(sample)
                unread += scorer.score(sample, Reply(text)).value != 1
            else:
                text = NOTHING[sample.language] if random.random() < omits else guess(sample, random)
            made = replace(record, model=model, reply=Reply(text, finish_reason="stop"), score=None)
            store.put(SAMPLE, record.digest, stored)
            store.put(RECORD, record.key, canonical(made))
    entries = [replace(entry, folder=str(run.set_folder(entry).resolve())) for entry in run.config.sets]
    write_config(out, replace(run.config, sets=tuple(entries), models=(ModelEntry(model, {"knows": knows}),)))
    mmdyn("score", out)
    return unread


def counted(run: Path) -> dict[str, tuple[int, int, int]]:
    """By scale: how many contrasts of a run there are, have p <= 0.05, and have that after Holm's adjustment."""
    tables: list[dict[str, Any]] = json.loads(mmdyn("report", run, "--json"))["parts"]
    contrasts = [row for table in tables if (table["kind"], table["by"]) == ("contrasts", "") for row in table["rows"]]
    told = dict[str, tuple[int, int, int]]()
    for scale in ("corrected", "raw"):
        tested = [one for one in contrasts if one["scale"] == scale and one["p"] is not None]
        told[scale] = len(tested), *(sum(one[name] <= 0.05 for one in tested) for name in ("p", "p_adjusted"))
    return told


def mmdyn(*arguments: object) -> bytes:
    """What a command prints. Its exit status may be 1: some variants could not be made."""
    done = subprocess.run([*MMDYN, *map(str, arguments)], capture_output=True)
    if done.returncode > 1:
        raise SystemExit(f"mmdyn {' '.join(map(str, arguments))}: {done.stderr.decode()}")
    return done.stdout


def asked(name: str, given: argparse.Namespace) -> RunFolder:
    """A run of `baseline:random` over a set and its variants, in every context that the set allows."""
    folder = given.out / name
    standard, dynamic, run = folder / "set", folder / "dynamic", folder / "random"
    few = ["-n", given.limit] if given.limit else []
    if not (standard / "set.json").is_file():
        mmdyn("data", "convert", "--from", name, given.data / SETS[name], "-o", standard, *few, "--skip-bad", "-q")
    mmdyn("perturb", standard, "-o", dynamic, "--ops", given.ops, "--seed", given.seed, "-q")
    knows_points = any(json.loads(line).get("knowledge_points") for line in (standard / "samples.jsonl").open())
    contexts = ["--context", CONTEXTS, "--retriever", "lexical"] if knows_points else []
    mmdyn("eval", standard, dynamic, "-m", "baseline:random", "-o", run, "--mode", "standard,dynamic", *contexts, "-q")
    return RunFolder(run)


def rows(name: str, given: argparse.Namespace) -> Iterator[tuple[str, dict[str, tuple[int, int, int]], int]]:
    """The models with their counts over all seeds, and how often a known answer was not read as right."""
    run = asked(name, given)
    yield "baseline:random", counted(run.folder), 0
    for model in MODELS:
        unread, total = 0, {scale: np.zeros(3, np.int64) for scale in ("corrected", "raw")}
        for seed in range(given.seeds):
            with tempfile.TemporaryDirectory() as folder:
                unread += answered(run, Path(folder) / "run", model, seed)
                for scale, numbers in counted(Path(folder) / "run").items():
                    total[scale] += numbers
        yield model, {scale: tuple(numbers.tolist()) for scale, numbers in total.items()}, unread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "known-share")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--ops", default="mdk12")
    parser.add_argument("--seed", type=int, default=0, help="of the variants")
    parser.add_argument("--seeds", type=int, default=5, help="how often each model is drawn")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    print(
        "| set | model | corrected: contrasts | p <= 0.05 | adjusted | raw: contrasts | p <= 0.05 | adjusted | unread |"
    )
    print("|" + "---|" * 9)
    for name in given.sets.split(","):
        for model, found, unread in rows(name, given):
            cells = " | ".join(str(number) for scale in ("corrected", "raw") for number in found[scale])
            print(f"| {name} | {model} | {cells} | {unread} |", flush=True)


if __name__ == "__main__":
    main()
