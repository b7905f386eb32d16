"""How many questions, and what access, each kind of evidence on what a model knew before takes to show it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import asdict, replace

from mmdyn.data import Given
from mmdyn.errors import UserError
from mmdyn.models import read_settings
from mmdyn.run.sets import open_sets, several
from mmdyn.stats import MemoryPriors, least_number, memory_power
from mmdyn.work import RunFolder

SHARES = (0.05, 0.1, 0.3, 0.6, 1.0)
POINTS, NATS = (0.05, 0.1, 0.2, 0.5, 1.0), (0.01, 0.03, 0.1, 0.3, 1.0)
"""The gains of a grid: points (of 1), and nats a token."""

LEAST, MOST = 20, 1_000_000
"""The least and the largest number of questions that is named: of fewer the power is not known well (see
docs/appendix/memory.md)."""

UNKNOWN = (
    "Which cell applies is not known: nobody can tell beforehand which share of the questions a model has seen, or what"
    " a seen question gains it."
)
REMEMBERED = "Of 100 seen questions as many as the gain says get {}; the others are answered as if unseen."
WRONG = (
    "unseen questions are answered with score={score:g}, wrong answers fall on all others of options={options} alike"
)


class EvidencePlan(Struct, frozen=True):
    """The questions that a kind of evidence takes.

    access: what it has to be told. unit: that of the gains of a seen question. assumes: what the numbers rest on, with
    the names of MemoryPriors. needed: by leaked share and gain; None beyond MOST. shown: for each set, and leaked
    share, the smallest gain that its questions show; None where they show none.
    """

    title: str
    access: str
    unit: str
    gains: tuple[float, ...]
    assumes: str
    needed: list[list[int | None]] = []
    shown: dict[str, list[float | None]] = {}


class MemoryPlan(Struct, frozen=True):
    """What each kind takes to show memory with a power at a level.

    least, most: the smallest and the largest number that is named. shares: the leaked shares, a row of each grid.
    questions: those of each set. unknown: what the numbers do not say.
    """

    power: float
    level: float
    least: int
    most: int
    shares: tuple[float, ...]
    questions: dict[str, int]
    unknown: str
    kinds: dict[str, EvidencePlan]


def _of_answers(title: str, assumes: str, access: str = "answers alone") -> EvidencePlan:
    return EvidencePlan(title, access, "points", POINTS, assumes)


KINDS = {
    "publishedanswers": _of_answers(
        "Published answers to changed questions",
        f"versions={{versions}} of a question; {WRONG}. {REMEMBERED.format('their published answer in all versions')}",
    ),
    "publishedletters": _of_answers(
        "Published letters of options that were moved",
        f"one new order of the options; {WRONG}. {REMEMBERED.format('their published letter')}",
    ),
    "cutoffs": _of_answers(
        "Scores up to a cut-off, and after it",
        "in differ={differ:g} of the questions one of two models alone is right. Years are spread evenly,"
        " between={between:g} of the questions lie between the two cut-offs, in the middle, and of these the later"
        " model has seen the leaked share. With score={score:g} a seen question cannot gain more than what is wrong.",
        "answers of two models with known cut-offs, and the years of the questions",
    ),
    "completions": _of_answers(
        "Second halves of questions, with the set named and not",
        "overlap={overlap:g} is the standard deviation between unseen questions of how much more of the true rest is"
        " told with the set named than without. The gain is in points of overlap.",
    ),
    "paraphrasedcompletions": _of_answers(
        "Second halves of questions, in the published words and in others",
        "overlap={overlap:g} is the same between the published words and those that a model wrote.",
        "answers alone, and paraphrases by a model",
    ),
    "maskedoptions": _of_answers(
        "Wrong options that were masked",
        "named={named:g} of masked options are named without memory, and as many of a control. Of 100 seen questions as"
        " many as the gain says have theirs named beyond the control.",
    ),
    "questionorder": EvidencePlan(
        "Order of the questions",
        "log-probabilities of texts (hf:, vllm:, completions:)",
        "nats a token",
        NATS,
        "all blocks of ten are weighed (`--shards`) in orders={orders}, and the leaked share of the blocks was seen"
        " whole and in this order. There a question of tokens={tokens:g} gains so much where it follows the one that it"
        " followed, beyond what it gains anywhere. Else orders of a block differ by swing={swing:g}, a standard"
        " deviation in nats.",
    ),
    "membership": EvidencePlan(
        "Membership scores",
        "log-probabilities of texts for Min-K%; the whole vocabulary's, so weights (hf:), for Min-K%++",
        "nats a token",
        NATS,
        "numbers are published questions; as many more, drawn at random from the same set, were never published. Scores"
        " are normal with nats={nats:g} a token, a standard deviation, which the gain is divided by.",
    ),
}


def plan_memory(
    sets: Given | Sequence[Given] = (),
    *,
    power: float = 0.8,
    contrasts: int = 1,
    pilot: str | Path = "",
    prior: str | MemoryPriors = "",
) -> MemoryPlan:
    """Say how many questions each kind of evidence takes so that `report --memory` shows it. Asks nothing.

    Args:
        sets: Sets whose numbers of questions are looked at; variants are passed over.
        power: How often it is to show.
        contrasts: The number of tests on the page: each is at 5 % over that (Holm's first step).
        pilot: A run, whose standard questions are looked at too.
        prior: The assumptions.

    Raises UserError for numbers that do not fit, and as the sets do.
    """
    if not 0.05 < power < 1:
        raise UserError("give --power above 0.05 and below 1")
    priors, questions = read_settings(prior, MemoryPriors, "--prior"), dict[str, int]()
    if priors.versions >= priors.options:
        most = f"of {priors.options} options {priors.options - 1} are another answer"
        raise UserError(f"--prior versions={priors.versions}: {most}, so give fewer")
    with TemporaryDirectory(prefix="mmdyn-") as scratch:
        for found in open_sets(several(sets), Path(scratch)):
            if not found.manifest.parent:
                questions[found.name] = sum(sample.variant is None for sample in found)
    if pilot:
        records = (record for record in RunFolder(pilot).records() if record.condition.variant == "standard")
        asked = sorted({(record.set, record.parent) for record in records})
        questions |= {name: sum(of == name for of, _ in asked) for name, _ in asked}
    if (sets or pilot) and not questions:
        raise UserError("only variants are given: name the set that they were made of")
    level, kinds = 0.05 / contrasts, dict[str, EvidencePlan]()
    for kind, one in KINDS.items():
        needed = [[questions_for(kind, share, gain, priors, power, level) for gain in one.gains] for share in SHARES]
        shown = {
            name: [
                next((gain for gain, n in zip(one.gains, row, strict=True) if n and n <= count), None) for row in needed
            ]
            for name, count in questions.items()
        }
        kinds[kind] = replace(one, assumes=one.assumes.format_map(asdict(priors)), needed=needed, shown=shown)
    return MemoryPlan(power, level, LEAST, MOST, SHARES, questions, UNKNOWN, kinds)


def questions_for(kind: str, share: float, gain: float, priors: MemoryPriors, power: float, level: float) -> int | None:
    """The number of questions, LEAST or more, from which on a kind shows a leaked share and a gain, rounded up to two
    digits; None beyond MOST.

    >>> questions_for("membership", 1.0, 0.1, MemoryPriors(), 0.8, 0.05)
    330
    """
    found = least_number(memory_power(kind, share, gain, priors, level), power, MOST) if share * gain else None
    if found is None:
        return None
    unit = int(10 ** max(len(str(found)) - 2, 0))
    return max(-(-found // unit) * unit, LEAST)
