"""How many questions a run needs to find a change of a given size, and what they cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import Given
from mmdyn.errors import UserError, command_line
from mmdyn.models import read_settings
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.dry_run import estimate
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.request import RunRequest
from mmdyn.run.sets import GivenModel, open_sets, several
from mmdyn.stats import detectable, needed
from mmdyn.tables import Pilot, Priors, read_pilot
from mmdyn.work import RunFolder

DRAWS, EPOCHS = (1, 2, 3, 5), (1, 2, 3)
"""The draws of a question, and the repetitions of each, that a plan compares."""
TELLING_SIZES = 4096
"""So many groups of a set, spread over it by their sizes, stand for all."""
PRICED = 200
"""So many questions are counted for the tokens of one."""


class Choice(Struct, frozen=True):
    """k draws and e repetitions: how many questions they need, and requests for standard and dynamic answers; None
    where no number of questions is enough. The cost and the seconds are None where they are not known."""

    draws: int
    epochs: int
    questions: int | None
    requests: int | None
    cost: float | None
    seconds: float | None
    cheapest: bool = False


class Plan(Struct, frozen=True):
    """What shows a true drop (in [0, 1]) with a power at a two-sided level, for one model on one set of so many
    questions in so many groups.

    told: what that rests on. seen: the smallest drop that the set shows with the draws and repetitions that were named;
    at_best: with any number of them; None where it shows none.
    """

    model: str
    set: str
    questions: int
    groups: int
    drop: float
    power: float
    level: float
    told: Pilot
    choices: list[Choice] = []
    seen: float | None = None
    at_best: float | None = None
    commands: list[str] = []


def plan_run(
    sets: Given | Sequence[Given],
    models: GivenModel | Sequence[GivenModel],
    *,
    detect: float = 3.0,
    power: float = 0.8,
    contrasts: int = 1,
    pilot: str | Path = "",
    pilot_model: str = "",
    prior: str | Priors = "",
    spec: ConditionSpec = ConditionSpec(),
    limits: Limits = Limits(),
) -> list[Plan]:
    """Say what shows a drop of `detect` points with this power, by the report's own test of one contrast at 5 % over
    `contrasts` (Holm's first step). Asks nothing.

    Args:
        sets, models: as for `evaluate`; variants among the sets are passed over.
        pilot: a run with standard and dynamic answers; `pilot_model`: the label of that one of its models which stands
            for all, where these were not asked themselves.
        prior: what is believed beforehand (Priors), where there is no pilot, or it cannot tell.
        spec: the chains that the commands name, and the draws and epochs that the set is looked at with as it is.
        limits: prices, and how many requests are in flight.

    Raises UserError as `estimate` does, and for numbers that do not fit.
    """
    if not (0 < detect < 100 and 0.05 < power < 1):
        raise UserError("give --detect points above 0 and below 100, and --power above 0.05 and below 1")
    priors, plans = read_settings(prior, Priors, "--prior"), list[Plan]()
    run = RunFolder(pilot) if pilot else None
    with TemporaryDirectory(prefix="mmdyn-") as scratch:
        opened = {one.name: one for one in open_sets(several(sets), Path(scratch)) if not one.manifest.parent}
        if not opened:
            raise UserError("only variants are given: name the set that they were made of")
        request = RunRequest(
            (*opened.values(),),
            several(models),
            Path(scratch) / "run",
            limits=Limits(n=PRICED, prices=limits.prices),
            execution=Execution(cache="none"),
        )
        rows = estimate(request).rows
        given = dict(zip(dict.fromkeys(row.model for row in rows), request.models, strict=True))
        for row in rows:
            # A question without a group is one by itself.
            named = ((one.id,) if one.group is None else one.group for one in opened[row.set])
            groups = list(Counter(named).values())
            sizes = tuple(sorted(groups)[:: 1 + len(groups) // TELLING_SIZES])
            if run:
                told = read_pilot(run, pilot_model or row.model, sizes, priors)
            else:
                told = Pilot(priors.design(detect / 100, sizes), (str(priors),), "what is believed beforehand")
            if told.cost is None and row.cost is not None:
                told = replace(told, cost=row.cost / max(row.to_ask, 1), currency=row.currency)
            plan = Plan(row.model, row.set, sum(groups), len(groups), detect / 100, power, 0.05 / contrasts, told)
            typed = own if isinstance(own := given[row.model], str) else row.model
            plans.append(_chosen(plan, opened[row.set].folder, typed, spec, limits.concurrency))
    return plans


def _chosen(plan: Plan, folder: Path, model: str, spec: ConditionSpec, in_flight: int) -> Plan:
    told, choices, n = plan.told, list[Choice](), plan.questions
    for k, e in product(DRAWS, EPOCHS):
        questions = needed(told.design, plan.drop, k, e, power=plan.power, alpha=plan.level)
        requests = questions and questions * (1 + k) * e
        cost, seconds = (each and requests and each * requests for each in (told.cost, told.seconds))
        choices.append(Choice(k, e, questions, requests, cost, seconds and seconds / in_flight))
    fits = [one for one in choices if one.questions and one.questions <= n]
    best = min(fits or choices, key=lambda one: one.requests or math.inf)
    return replace(
        plan,
        choices=[replace(one, cheapest=one is best) for one in choices],
        seen=detectable(told.design, n, spec.draws, spec.epochs, power=plan.power, alpha=plan.level),
        at_best=detectable(told.design, n, math.inf, math.inf, power=plan.power, alpha=plan.level),
        commands=_commands(plan, folder, model, best, str(spec.ops)) if fits else [],
    )


def _commands(plan: Plan, folder: Path, model: str, best: Choice, ops: str) -> list[str]:
    """How the cheapest choice is run; of a larger set the first questions are enough."""
    variants = f"{plan.set}-dynamic"
    first, draws, epochs = (
        [option, str(number)] * (number not in (1, plan.questions))
        for option, number in (("-n", best.questions), ("--draws", best.draws), ("--epochs", best.epochs))
    )
    return [
        command_line("mmdyn", "perturb", folder, "-o", variants, "--ops", ops or "OPS", *draws, *first),
        command_line("mmdyn", "eval", folder, variants, "-m", model, "-o", "RUN", *epochs, *first),
    ]
