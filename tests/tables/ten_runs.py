"""Diverse runs, always the same ones, of which the tables are known (old_numbers): between them they have all that a
report counts. Each is made here without a model; what is right is drawn by keys."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from tables.making_runs import SETS, Said, answer, judged_run, write_run

from making import choice, true_false
from mmdyn.data import ChainStrength, Dropped, Origin, SampleSet, SetWriter
from mmdyn.keys import canonical, stream
from mmdyn.record import Condition, ContextInfo, Judgement, Record, Reply, Score, Usage
from mmdyn.sample import Sample, Variant, Verdict
from mmdyn.stats import Share
from mmdyn.table import (
    Attribution,
    Curves,
    ErrorKinds,
    Gap,
    Ladder,
    Leaderboard,
    Noise,
    Paired,
    Part,
    Pivot,
    Ranking,
    Spread,
    Trend,
    Where,
)
from mmdyn.tables import (
    Calibration,
    Design,
    ErrorLabel,
    draw,
    keep_design,
    label_kind,
    measure,
    save,
    save_grading,
    survey,
)
from mmdyn.work import RunFolder, SetEntry, Store

MARKS = "marks.jsonl"
"""People's marks, beside the runs whose scores are corrected by them."""


class Kept(NamedTuple):
    """Runs of one report, and what is reported of them.

    make: writes them into a folder. by, flips, repeats, auc: as `report` takes them. corrections: methods, each a report
        of its own. tables: declarations for `tabulate`; their titles differ.
    """

    make: Callable[[Path], list[RunFolder]]
    tables: tuple[Part, ...]
    by: tuple[str, ...] = ()
    flips: bool = False
    repeats: tuple[int, ...] | None = None
    auc: bool = False
    corrections: tuple[str, ...] = ()


def luck(*identity: str | int) -> float:
    """A number in [0, 1) that is always the same for an identity."""
    return float(stream("ten runs", *identity).random())


def chained(name: str, context: str = "none") -> Condition:
    """The standard condition for the empty chain, else a dynamic one."""
    return Condition("dynamic", name, context) if name else Condition(context=context)


def asked(
    run: str,
    condition: Condition,
    share: float,
    count: int = 24,
    *,
    model: str = "m1",
    set: str = "exam",
    draw: int = 0,
    epoch: int = 0,
    of: Callable[[int], dict[str, Any]] = lambda place: {},
) -> list[Record]:
    """Answers to `count` questions, of which a share is right: easy ones sooner, whatever the condition. `of` says what
    else `answer` takes for the question at a place."""
    who = (run, model, set, condition.variant, condition.chain, condition.context, condition.style, condition.shot_name)
    made = list[Record]()
    for place in range(count):
        ease = 0.5 * luck(run, set, "ease", place) + 0.5 * luck(*who, draw, epoch, place)
        told = {"value": float(ease > 1 - share)} | of(place)
        made.append(answer(f"s{place:02}", condition=condition, model=model, set=set, draw=draw, epoch=epoch, **told))
    return made


def marred(records: Iterable[Record], share: float = 0.2) -> Iterator[Record]:
    """Some of the answers are unparsed, refused, failed, cut off or not scored."""
    for record in records:
        fate, score = luck("fate", record.key) / share, record.score
        assert score is not None
        if fate < 0.3:
            yield replace(record, score=replace(score, status="unparsed", value=0.0, extracted=None))
        elif fate < 0.5:
            yield replace(record, score=replace(score, status="refused", value=0.0, extracted=None))
        elif fate < 0.7:
            yield replace(record, score=Score("failed", None), reply=Reply(error="the server said 500"))
        elif fate < 0.9:
            status: Any = "ok" if score.value else "unparsed"
            cut = Reply("The answer is", "length", Usage(50, 400))
            yield replace(record, reply=cut, score=replace(score, status=status))
        elif fate < 1:
            yield replace(record, score=None)
        else:
            yield record


def with_strength(strengths: dict[str, ChainStrength]) -> tuple[SetEntry, SetEntry]:
    """The standard set and the dynamic one, whose chains are so strong."""
    return SETS[0], replace(SETS[1], strength=strengths)


def models_and_groups(folder: Path) -> list[RunFolder]:
    """Three models, one of them a baseline; chains, partial credit, weights, groups of two questions, fields."""
    models = {"openai:strong": 0.75, "openai:weak": 0.6, "baseline:random": 0.3}
    chains = {"": 0.0, "pad": -0.02, "color": -0.35, "pad+color": -0.45}

    def of(model: str, form: str) -> Callable[[int], dict[str, Any]]:
        def more(place: int) -> dict[str, Any]:
            fields = {"discipline": ("math", "physics", "biology")[place % 3], "grade": 7 + place // 3 % 4}
            told = {"fields": fields, "weight": (1.0, 1.0, 2.5)[place % 3], "chance": 0.25}
            if place < 16:
                told |= {"group": f"g{place // 2}"}
            if luck("partly", model, form, place) < 0.15:
                told |= {"value": (0.25, 0.5, 0.75)[place % 3]}
            return told

        return more

    records = [
        asked("models", chained(form), share + less, model=model, of=of(model, form))
        for model, share in models.items()
        for form, less in chains.items()
    ]
    sets = with_strength({"pad": ChainStrength(24, 0.0, 0.995), "color": ChainStrength(24, 0.0, 0.6, 0.9)})
    return [write_run(folder / "models", chain(*records), sets=sets)]


def two_sets(folder: Path) -> list[RunFolder]:
    """Two models on two sets of two languages: unparsed, refused, failed, cut-off, unscored and missing answers; a field
    of numbers that some questions lack, one of words that another set lacks."""
    sets = (
        *SETS,
        SetEntry("quiz", "quiz", "sets/quiz", "e0"),
        SetEntry("quiz-dynamic", "quiz", "sets/quiz-dynamic", "e1"),
    )

    def of(set: str) -> Callable[[int], dict[str, Any]]:
        def more(place: int) -> dict[str, Any]:
            fields: dict[str, str | int] = {} if place % 5 == 4 else {"difficulty": 1 + place % 3}
            fields |= {"topic": ("optics", "sound")[place % 2]} if set == "exam" else {}
            return {"fields": fields, "language": "zh" if place % 4 == 0 else "en", "chance": 0.25}

        return more

    shares = {"": 0.65, "pad": 0.6, "shuffle": 0.4}
    records = [
        asked("sets", chained(form), share + 0.1 * (model == "m2"), count, model=model, set=set, of=of(set))
        for model in ("m1", "m2")
        for set, count in (("exam", 24), ("quiz", 18))
        for form, share in shares.items()
    ]
    return [write_run(folder / "sets", marred(chain(*records)), sets=sets, planned=260, scorer="mdk12@3")]


def several_runs(folder: Path) -> list[RunFolder]:
    """Three runs: other prompts, another version of the dynamic set and other examples; a model in one run alone; a run
    of other rules, of variants alone."""
    later = (SETS[0], replace(SETS[1], digest="d2"))
    shot, pad = Condition(shots="3"), chained("pad")
    spring = [asked("spring", Condition(), 0.7, 20), asked("spring", pad, 0.5, 20), asked("spring", shot, 0.75, 20)]
    autumn = [
        asked("autumn", condition, share + more, 22, model=model)
        for model, more in (("m1", 0.0), ("m2", 0.12))
        for condition, share in ((Condition(), 0.6), (pad, 0.45), (shot, 0.7))
    ]
    other = [asked("other", pad, 0.5, 20, model=model) for model in ("m1", "m3")]
    return [
        write_run(folder / "spring", chain(*spring), prompts="p0", scorer="mdk12@3", examples={"seed": 0}),
        write_run(folder / "autumn", chain(*autumn), prompts="p1", scorer="mdk12@3", sets=later, examples={"seed": 1}),
        write_run(folder / "other", chain(*other), prompts="p1", scorer="exam@3", sets=later),
    ]


def draws_and_epochs(folder: Path) -> list[RunFolder]:
    """Three epochs of standard questions, three draws of one chain and two, of which some are missing, of another; some
    of the answers are unsure; a second model whose replies never differ."""
    one = {"": (0.7, 1, 3), "pad": (0.65, 3, 1), "color": (0.45, 2, 2)}
    records = [
        asked("draws", chained(form), share, 16, draw=draw, epoch=epoch)
        for form, (share, draws, epochs) in one.items()
        for draw in range(draws)
        for epoch in range(epochs)
    ]
    records = [
        [record for record in those if record.draw == 0 or luck("made", record.sample) > 0.2] for those in records
    ]
    steady = [
        [
            replace(record, epoch=epoch, key=f"{record.key}{epoch}")
            for record in asked("draws", Condition(), 0.6, 16, model="m2")
        ]
        for epoch in range(2)
    ]
    steady += [asked("draws", chained("pad"), 0.5, 16, model="m2", draw=draw) for draw in range(2)]
    unsure = [
        waiting(record, bound=True)
        if record.condition.chain == "color" and luck("unsure", record.key) < 0.1
        else record
        for record in chain(*records, *steady)
    ]
    return [write_run(folder / "draws", marred(unsure, 0.06), epochs=3, scorer="mdk12@3")]


def waiting(record: Record, *, bound: bool) -> Record:
    """The same, of which the rules are not sure; at least as good where it is a bound."""
    assert record.score is not None
    return replace(record, score=replace(record.score, needs_judge=True, lower_bound=bound, confidence=0.5))


def contexts(folder: Path) -> list[RunFolder]:
    """Eight contexts with what lay there, which leaks at times; variants with and without knowledge; withheld and
    captioned pictures; told otherwise in hints."""
    shares = {"none": 0.5, "kprag": 0.62, "kprag:retrieved": 0.52, "hint:background": 0.58, "hint:all": 0.75}
    shares |= {"no-picture": 0.3, "caption": 0.6, "caption+kprag": 0.72}

    def of(context: str) -> Callable[[int], dict[str, Any]]:
        def more(place: int) -> dict[str, Any]:
            pictures = "" if "picture" in context or "caption" in context else f"p{place}"
            return {
                "beside": beside(context, place),
                "pictures": pictures,
                "chance": 0.2,
                "fields": {"part": place % 2},
            }

        return more

    records = [asked("contexts", Condition(context=name), share, of=of(name)) for name, share in shares.items()]
    varied = {"none": 0.35, "kprag": 0.5}
    records += [asked("contexts", chained("pad", name), share, of=of(name)) for name, share in varied.items()]
    records += [asked("contexts", Condition(context=name), 0.8, model="m2", of=of(name)) for name in ("none", "kprag")]
    instructions = {"kprag direct": "", "kprag:retrieved direct": "", "hint:all direct": "Use the hints."}
    conditions = tuple(Condition(context=name) for name in shares)
    return [write_run(folder / "contexts", chain(*records), conditions=conditions, instructions=instructions)]


def beside(context: str, place: int) -> ContextInfo | None:
    """What lay beside a question."""
    leaks = luck("leak", context, place) < 0.25
    if context.startswith("hint"):
        return ContextInfo(("background", "definition")[: 1 + context.endswith("all")], leaks=leaks)
    if "kprag" not in context:
        return None
    own = 1 + place % 2
    hits = int((own + 1) * luck("hits", place)) if context.endswith("retrieved") else own
    return ContextInfo(tuple(f"k{n}" for n in range(own + (place % 3 == 0))), own, hits, leaks)


def styles_and_shots(folder: Path) -> list[RunFolder]:
    """Direct and chain of thought, without and with examples of several ways and forms, standard and varied; replies
    with tokens; weighed options."""
    styles = [Condition(style=style, shots=shots) for style in ("direct", "cot") for shots in ("0", "3")]
    styles += [
        Condition(shots="3:random"),
        Condition(shots="5:base"),
        chained("pad"),
        Condition("dynamic", "pad", style="cot"),
    ]
    records = [
        spoken(record, place)
        for condition in styles
        for place, record in enumerate(asked("styles", condition, 0.55 + 0.15 * (condition.style == "cot"), 20))
    ]
    samples = [true_false(f"t{n:02}", n % 3 != 0) for n in range(14)]
    samples += [choice(f"c{n:02}", "ABCD"[n % 4]) for n in range(14)]
    records += [weighed(sample, f"g{n // 2}") for n, sample in enumerate(samples)]
    return [write_run(folder / "styles", records, samples=samples, conditions=tuple(styles))]


def spoken(record: Record, place: int) -> Record:
    """The same with tokens, seconds and a cost."""
    written = int(20 + 200 * luck("tokens", record.key) + 300 * (record.condition.style == "cot"))
    usage = Usage(100 + place, written, written // 2)
    return replace(
        record, reply=Reply("The answer is A.", "stop", usage, seconds=written / 50, cost=written / 1e4, currency="USD")
    )


def weighed(sample: Sample, group: str) -> Record:
    """An answer whose options have probabilities, the right one more in the mean."""
    right = (
        [sample.answer is True, sample.answer is False]
        if isinstance(sample.answer, bool)
        else [label in sample.answer for label in sample.labels]
    )
    shares = [0.1 + luck("weighed", sample.id, place) + 0.35 * hit for place, hit in enumerate(right)]
    logs = tuple(round(math.log(share / sum(shares)), 6) for share in shares)
    value = float(right[shares.index(max(shares))])
    kinds = {"task_type": sample.task_type, "parent_type": sample.task_type, "sample": sample, "group": group}
    record = answer(sample.id, value, Condition(style="likelihood"), **kinds)
    return replace(record, reply=Reply("A", "likelihood", logprobs=logs, option_tokens=(1,) * len(logs)))


def other_forms(folder: Path) -> list[RunFolder]:
    """Variants of another form, of which guessing earns more, less or all; unread replies."""
    types = ("single_choice", "true_false", "fill_in_the_blank")
    chances = {"single_choice": 0.25, "true_false": 0.5, "fill_in_the_blank": 0.0}

    def of(form: str) -> Callable[[int], dict[str, Any]]:
        def more(place: int) -> dict[str, Any]:
            parent = types[place % 2]
            task = types[(place + 1) % 3] if form == "convert" else parent
            chance = 1.0 if form == "convert" and place == 5 else chances[task]
            return {"task_type": task, "parent_type": parent, "chance": chance}

        return more

    shares = {"": 0.7, "pad": 0.65, "convert": 0.5}
    records = [
        asked("forms", chained(form), share, model=model, of=of(form))
        for model in ("m1", "m2")
        for form, share in shares.items()
    ]
    return [write_run(folder / "forms", marred(chain(*records), 0.12))]


def judged(folder: Path) -> list[RunFolder]:
    """Two runs whose answers judges scored, in two modes: some verdicts are missing, some have several votes, some are of
    checklists."""
    runs = list[RunFolder]()
    for mode in ("wrong", "all"):
        records = [
            replace(record, score=replace(record.score, needs_judge=record.score.value == 0))
            for form, share in (("", 0.6), ("pad", 0.45))
            for record in asked(f"judged-{mode}", chained(form), share)
            if record.score
        ]
        cheap, strong, combined = Said(), Said(), dict[str, float]()
        for record in records:
            by_rules = record.score.value if record.score and record.score.value is not None else 0.0
            verdict = float(luck("verdict", mode, record.sample) < 0.3 + 0.5 * by_rules)
            fate = luck("fate", record.sample)
            if mode == "all" or by_rules < 1:
                votes = (verdict, verdict, float(fate < 0.5))
                said = Judgement(verdict, votes, items=(fate < 0.6, verdict > 0), agreement=0.75, requests=3)
                cheap[record.sample] = Judgement(None, error="no verdict", requests=2) if fate < 0.15 else said
                if fate > 0.4:
                    strong[record.sample] = verdict
            if fate >= 0.15 or by_rules == 1:
                combined[record.sample] = max(by_rules, verdict)
        runs.append(judged_run(folder / f"judged-{mode}", records, cheap, strong, combined, mode))
    return runs


def open_answers(folder: Path) -> list[RunFolder]:
    """Two models some of whose answers need a judge and had none: open ones, whose score is a bound, and unsure
    choices; on both sides of contrasts."""
    shares = {"": 0.65, "pad": 0.6, "color": 0.35}

    def of(place: int) -> dict[str, Any]:
        if place % 4 == 3:
            return {"task_type": "open_ended", "parent_type": "open_ended", "fields": {"kind": "open"}}
        return {"fields": {"kind": "choice"}, "chance": 0.25}

    def unsure(record: Record) -> Record:
        bound = record.task_type == "open_ended"
        wrong = record.score is not None and record.score.value == 0
        return (
            waiting(record, bound=bound) if wrong and luck("unsure", record.key) < (0.6 if bound else 0.1) else record
        )

    records = [
        unsure(record)
        for model in ("m1", "m2")
        for form, share in shares.items()
        for record in asked("open", chained(form), share + 0.1 * (model == "m2"), 28, model=model, of=of)
    ]
    return [write_run(folder / "open", records)]


def factorial(folder: Path) -> list[RunFolder]:
    """All subsets of three operators, which are measured, for two models; some answers failed."""
    factors, takes = ("pad", "noise", "blur"), {"pad": 0.05, "noise": 0.12, "blur": 0.2}
    forms = [form for size in range(4) for form in combinations(factors, size)]
    records = [
        asked("factorial", chained("+".join(form)), share - sum(takes[name] for name in form), 18, model=model)
        for model, share in (("m1", 0.8), ("m2", 0.7))
        for form in forms
    ]
    made = replace(
        SETS[1],
        factors=factors,
        design="full",
        strength={"pad": ChainStrength(18, 0.0, 0.97), "blur": ChainStrength(18, 0.0, 0.5, 0.6)},
    )
    failing = (
        replace(one, score=Score("failed", None), reply=Reply(error="lost")) if luck("lost", one.key) < 0.01 else one
        for one in chain(*records)
    )
    return [write_run(folder / "factorial", failing, sets=(SETS[0], made))]


def doses(folder: Path) -> list[RunFolder]:
    """Five doses of an operator for two models, with strengths of which the first is weak; groups of two questions."""
    shares = {"": 0.75, "blur@1": 0.74, "blur@2": 0.65, "blur@3": 0.6, "blur@4": 0.45, "blur@5": 0.25}
    far = {
        "blur@1": (0.99, 0.95),
        "blur@2": (0.9, 0.8),
        "blur@3": (0.8, 0.6),
        "blur@4": (0.7, 0.35),
        "blur@5": (0.5, 0.1),
    }

    def of(place: int) -> dict[str, Any]:
        return {"group": f"g{place // 2}", "chance": 0.25}

    records = [
        asked("doses", chained(form), share - 0.1 * (model == "m2"), 22, model=model, of=of)
        for model in ("m1", "m2")
        for form, share in shares.items()
    ]
    sets = with_strength({name: ChainStrength(22, 0.0, ssim, legible) for name, (ssim, legible) in far.items()})
    return [write_run(folder / "doses", chain(*records), sets=sets)]


def corrected(folder: Path) -> list[RunFolder]:
    """Scores that are corrected by two calibrations of their scorer and by people's marks; labels of wrong answers; a
    dynamic set that a measured judge judged. Calibrations are kept in the folder MMDYN_CACHE."""
    dynamic = folder / "exam-dynamic"
    identity: Any = {"model": "m", "votes": 1}
    made = {"command": "perturb", "judge": identity}
    with SetWriter(dynamic, "exam-dynamic", parent=Origin("exam", "d0"), made=made) as out:
        for place in range(12):
            said = Verdict("kept" if place < 9 else "rejected", "someone", "", 0.9)
            sample = choice(f"s{place:02}~pad~0", variant=Variant(f"s{place:02}", "pad", 0, 1, (), said))
            if place < 9:
                out.add(sample)
            else:
                out.drop(Dropped(sample.id, f"s{place:02}", "pad", 0, 1, "rejected", "no", "", 0, (), sample))
    precision, recall = Share(0.75, 0.5, 0.875, 20, 20), Share(0.6, 0.4, 0.8, 30, 30)
    of_shares = precision, recall, recall, None
    save(Calibration("someone", identity, 60, 2, 60, *of_shares, labels="ab" * 32, file="pairs.jsonl"))
    for labels, (caught, missed, wronged, spared) in {"ab": (18, 2, 6, 14), "cd": (40, 1, 2, 37)}.items():
        pairs = [(1.0, 1.0)] * caught + [(1.0, 0.0)] * missed + [(0.0, 1.0)] * wronged + [(0.0, 0.0)] * spared
        save_grading(replace(measure("mdk12@3", "mdk12@3", pairs), labels=labels * 32, file=f"{labels}.jsonl"))

    def of(form: str) -> Callable[[int], dict[str, Any]]:
        def more(place: int) -> dict[str, Any]:
            lost = {"value": 0.0} if form and place % 2 == 0 and luck("lost", form, place) < 0.7 else {}
            return {"fields": {"part": ("optics", "sound")[place % 2]}} | lost

        return more

    shares_of = {"": 0.65, "pad": 0.6, "color": 0.55}
    records = [
        one for form, share in shares_of.items() for one in asked("corrected", chained(form), share, 40, of=of(form))
    ]
    entry = SetEntry("exam-dynamic", "exam", str(dynamic), SampleSet(dynamic).manifest.digest)
    run = write_run(folder / "corrected", marred(records, 0.08), scorer="mdk12@3", sets=(SETS[0], entry))
    _label(run)
    lines = list[dict[str, object]]()
    for record in run.records():
        if record.score and not record.reply.error and luck("marked", record.key) < 0.4:
            right = luck("human", record.key) < (0.85 if record.score.value else 0.15)
            lines.append({"key": record.key, "human": float(right)})
    (folder / MARKS).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return [run]


def _label(run: RunFolder) -> None:
    """Say of some wrong answers of each stratum what kind of error they are."""
    design = Design("judge", "0123abcd", {"votes": 1}, per=8, seed=0)
    kinds: Any = ("question", "reasoning", "reasoning", "visual", "other")
    with Store(run.records_folder) as store:
        keep_design(store, design, 1)
        for one in draw(survey(run), design.per, design.seed):
            store.put(label_kind(design.id), one.key, canonical(ErrorLabel((kinds[int(5 * luck("kind", one.key))],))))


STANDARD: Where = {"variant": ("standard",)}

RUNS: dict[str, Kept] = {
    "models_and_groups": Kept(
        models_and_groups,
        (
            Pivot(by=("model", "chain"), title="pivot by model, chain"),
            Pivot(by=("model", "discipline"), where=STANDARD, title="pivot by model, discipline"),
            Pivot(by=("model",), macro=("discipline",), where=STANDARD, title="macro over discipline"),
            Pivot(by=("model", "chain"), measure="corrected", title="pivot of corrected"),
            Paired(factor="variant", a="standard", b="dynamic", title="paired"),
            Gap(factor="discipline", a="math", b="physics", where=STANDARD, title="gap"),
            Trend(factor="grade", where=STANDARD, title="trend"),
            Spread(factor="discipline", where=STANDARD, title="spread"),
            Leaderboard(columns="discipline", where=STANDARD, title="leaderboard of disciplines"),
            Leaderboard(columns="chain", groups={"pads": ("pad", "pad+color")}, title="leaderboard of chains"),
            Ranking(over="chain", title="ranking"),
        ),
        by=("discipline",),
    ),
    "two_sets": Kept(
        two_sets,
        (
            Pivot(by=("model", "set", "chain"), title="pivot by model, set, chain"),
            Pivot(by=("set", "chain"), measure="unparsed", title="pivot of unparsed"),
            Pivot(by=("model",), macro=("set",), where=STANDARD, title="macro over set"),
            Pivot(by=("model", "language"), where=STANDARD, title="pivot by language"),
            Paired(factor="chain", a="pad", b="shuffle", by=("model", "set"), title="paired"),
            Gap(factor="difficulty", a="first", b="last", where=STANDARD, title="gap"),
            Trend(factor="difficulty", where=STANDARD, title="trend"),
            Spread(factor="set", where=STANDARD, title="spread"),
            Ranking(over="set", where=STANDARD, title="ranking"),
            Leaderboard(where=STANDARD, title="leaderboard"),
        ),
        by=("difficulty",),
    ),
    "several_runs": Kept(
        several_runs,
        (
            Pivot(by=("run", "model", "chain"), where={"shots": ("0",)}, title="pivot by run, model, chain"),
            Pivot(by=("run", "shots"), where=STANDARD, title="pivot by run, shots"),
            Paired(factor="run", a="spring", b="autumn", where={"model": ("m1",)}, title="paired"),
        ),
    ),
    "draws_and_epochs": Kept(
        draws_and_epochs,
        (
            Noise(title="noise"),
            Pivot(by=("model", "draw"), where={"chain": ("pad",)}, title="pivot by draw"),
            Ranking(over="draw", where={"chain": ("pad",)}, title="ranking"),
        ),
        repeats=(),
    ),
    "contexts": Kept(
        contexts,
        (
            Ladder(where=STANDARD, title="ladder"),
            Pivot(by=("model", "context"), title="pivot by context"),
            Pivot(by=("mode",), where={"model": ("m1",)}, title="pivot by mode"),
            Paired(factor="context", a="none", b="kprag", by=("model", "variant"), title="paired"),
        ),
        by=("retrieval", "knowledge_count"),
    ),
    "styles_and_shots": Kept(
        styles_and_shots,
        (
            Pivot(by=("style", "shots"), where=STANDARD, title="pivot by style, shots"),
            Pivot(by=("style",), measure="response_tokens", where=STANDARD, title="tokens"),
            Pivot(by=("response_tokens",), where=STANDARD, title="pivot by tokens"),
            Paired(factor="style", a="direct", b="cot", by=("variant", "shots"), title="paired"),
            Paired(factor="style", a="direct", b="cot", measure="seconds", where=STANDARD, title="paired seconds"),
        ),
        auc=True,
    ),
    "other_forms": Kept(
        other_forms,
        (
            Pivot(by=("model", "chain"), measure="corrected", title="pivot of corrected"),
            Pivot(by=("model", "changed"), title="pivot by what is changed"),
            Paired(factor="variant", a="standard", b="dynamic", title="paired"),
            Paired(factor="variant", a="standard", b="dynamic", measure="corrected", title="paired corrected"),
        ),
        by=("task_type",),
    ),
    "judged": Kept(
        judged,
        (
            Pivot(by=("run", "variant"), title="pivot by run"),
            Pivot(by=("run",), measure="checklist", title="checklist"),
        ),
    ),
    "open_answers": Kept(
        open_answers,
        (
            Pivot(by=("model", "chain"), title="pivot"),
            Paired(factor="variant", a="standard", b="dynamic", title="paired"),
        ),
        by=("kind",),
        flips=True,
    ),
    "factorial": Kept(
        factorial, (Attribution(gee=True, title="attribution"), Leaderboard(columns="chain", title="leaderboard"))
    ),
    "doses": Kept(doses, (Curves(title="curves"), Pivot(by=("model", "chain"), title="pivot"))),
    "corrected": Kept(
        corrected,
        (ErrorKinds(by=("variant",), title="kinds of error"), Pivot(by=("model", "chain"), title="pivot")),
        by=("part",),
        corrections=("rogan-gladen", "ppi++"),
    ),
}
"""By name."""
