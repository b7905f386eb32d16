"""Tables as OpenCompass prints them (Shanghai AI Laboratory; github.com/open-compass/opencompass), of runs over many
sets: `opencompass.table1`, `opencompass.leaderboard`.

The accuracies of its cascade (rules, a judge, both together) are printed by `mmdyn report RUN` wherever judges scored.
"""

from __future__ import annotations

from mmdyn.table import Leaderboard, NamedTable, Pivot

OPENCOMPASS = (
    NamedTable(
        name="table1",
        title="Models by sets",
        parts=(Leaderboard(title="mean over sets (mean), and over questions (all)"),),
    ),
    NamedTable(
        name="leaderboard",
        title="Leaderboard",
        parts=(Leaderboard(title="by set"), Pivot(by=("model", "set"), measure="unparsed", title="answers not read")),
    ),
)
"""Groups of sets are the user's: `mmdyn report RUN... --leaderboard --group reasoning=SET,SET`."""
