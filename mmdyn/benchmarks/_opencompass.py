"""Tables as OpenCompass prints them (Shanghai AI Laboratory; github.com/open-compass/opencompass), of runs over many
sets: `opencompass.table1`, `opencompass.leaderboard`.

The accuracies of its cascade (rules, a judge, both together) are printed by `mmdyn report RUN` wherever judges scored.
"""

from __future__ import annotations

from mmdyn.table import Leaderboard, NamedTable, Pivot

GROUPS = {"knowledge": ("gpqa_diamond", "mmlu_pro"), "reasoning": ("hle", "bbh", "hellaswag")}
GROUPS |= {"computation": ("aime_2025", "math"), "code": ("livecodebench_v6",), "instructions": ("ifeval",)}
"""Sets by the sections of the paper's "Benchmarks" that they stand in."""

OPENCOMPASS = (
    NamedTable.of(
        "table1",
        "Models by sets",
        Leaderboard(groups=GROUPS, partial=True, title="plain means (mean) and weighted (all)"),
    ),
    NamedTable.of(
        "leaderboard",
        "Leaderboard",
        Leaderboard(title="by set"),
        Pivot(by=("model", "set"), measure="unparsed", title="answers not read"),
    ),
)
"""Other groups of sets: `mmdyn report RUN... --leaderboard set --group reasoning=SET,SET`."""
