"""How fast the viewer is on a run of 100,000 records: 5,000 questions, four models, four chains.

python -P bench/viewer_speed.py FOLDER     makes FOLDER where it is not there; prints seconds
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from mmdyn.keys import canonical, digest, stream
from mmdyn.record import Condition, Record, Reply, Score
from mmdyn.sample import Option, Sample
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.view import run, samples
from mmdyn.view._page import Filter, render
from mmdyn.view.index import Catalog
from mmdyn.work import RECORD, SAMPLE, ModelEntry, RunConfig, SetEntry, Store, score_kind, write_config

QUESTIONS, MODELS, CHAINS = (
    5000,
    ("m1", "m2", "m3", "m4"),
    ("", "image.pad", "image.invert", "text.shuffle", "text.paraphrase"),
)
SCORER = f"mdk12@{SCORING_VERSION}"


def make(folder: Path) -> None:
    """The run."""
    conditions = (Condition(), Condition("dynamic"))
    entry = SetEntry("exam", "exam", "sets/exam", "0" * 64)
    models = tuple(ModelEntry(name, {"name": name}) for name in MODELS)
    config = RunConfig(
        sets=(entry,), models=models, conditions=conditions, epochs=1, limit=None, prompts="", ops="", versions={},
        scorer=SCORER, planned=QUESTIONS * len(MODELS) * len(CHAINS),
    )  # fmt: skip
    write_config(folder, config)
    options = tuple(Option(label, f"the {label.lower()} answer") for label in "ABCD")
    with Store(folder / "records") as store:
        for n in range(QUESTIONS):
            draws = stream("viewer speed", n).random((len(MODELS), len(CHAINS)))
            for place, chain in enumerate(CHAINS):
                sample = Sample(
                    f"q{n}~{chain}",
                    f"Question {n}: " + "what follows from this? " * 12,
                    "single_choice",
                    ("A",),
                    options=options,
                )
                rows = [(SAMPLE, sample.digest, canonical(sample))]
                for number, model in enumerate(MODELS):
                    key, right = digest([n, chain, model]), draws[number, place] < 0.7
                    condition = Condition("dynamic", chain) if chain else Condition()
                    reply = Reply("I think about it at some length. " * 20 + f"Answer: {'A' if right else 'B'}", "stop")
                    record = Record(
                        key,
                        key,
                        sample.digest,
                        model,
                        "exam",
                        sample.id,
                        f"q{n}",
                        "single_choice",
                        "single_choice",
                        "en",
                        condition,
                        reply,
                        fields={"subject": f"s{n % 8}", "year": 2010 + n % 10},
                    )
                    score = Score("ok", float(right), ["A" if right else "B"], "slot", chance=0.25, confidence=0.99)
                    rows += [(RECORD, key, canonical(record)), (score_kind(SCORER), key, canonical(score))]
                store.put_all(rows)


def timed(what: str, begun: tuple[float, float]) -> None:
    """Print how long something took, and how much of that this process computed."""
    wall, cpu = (now - then for now, then in zip(clock(), begun, strict=True))
    print(f"{what:40} {wall:6.2f} s {cpu:6.2f} s of CPU", flush=True)


def clock() -> tuple[float, float]:
    """Seconds, and those of CPU."""
    return time.perf_counter(), time.process_time()


if __name__ == "__main__":
    place = Path(sys.argv[1]).resolve()
    if not place.exists():
        make(place)
    render("problem.html", title="", problem="", back=(), live="")
    for turn in ("first", "again"):
        begun, catalog = clock(), Catalog(place)
        (name,) = catalog.runs()
        run.page(catalog, name)
        timed(f"open, {turn}", begun)
        index = catalog.index(name)
        while index.busy:
            index.refresh(1)
        timed(f"all is read, {turn}", begun)
        begun = clock()
        run.page(catalog, name)
        timed(f"the run's page, {turn}", begun)
    filters = [
        Filter(),
        Filter(which=("lost",)),
        Filter(model="m2", chain="image.pad", which=("wrong",)),
        Filter(field="subject=s3"),
        Filter(which=("gained",), over="all"),
        Filter(text="Question 4711"),
        Filter(text="no such words anywhere"),
        Filter(page=90),
        Filter(sort="name"),
    ]
    for asked in filters:
        begun = clock()
        samples.page(catalog, name, asked)
        timed(f"filter {asked.address()[:40]}", begun)
