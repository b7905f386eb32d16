from .auc_table import print_auc as print_auc
from .breakdown import Breakdown as Breakdown
from .calibration import (
    Calibration as Calibration,
    Share as Share,
    judge_id as judge_id,
    load_calibrations as load_calibrations,
    save as save,
    share as share,
)
from .cascades import Cascades as Cascades
from .cascades_table import print_cascades as print_cascades
from .correction_table import print_corrections as print_corrections
from .error_counts import count_errors as count_errors
from .error_kinds import (
    Design as Design,
    ErrorLabel as ErrorLabel,
    ErrorRow as ErrorRow,
    Kind as Kind,
    Wrong as Wrong,
    draw as draw,
    find_errors as find_errors,
    keep_design as keep_design,
    label_kind as label_kind,
    survey as survey,
)
from .error_kinds_table import print_counts as print_counts, print_errors as print_errors
from .grading import (
    Grading as Grading,
    kappa_interval as kappa_interval,
    load_gradings as load_gradings,
    measure as measure,
    save_grading as save_grading,
    weighted_kappa as weighted_kappa,
)
from .grading_table import METHOD as METHOD, spell as spell, spell_kappa as spell_kappa
from .labels import mark_of as mark_of
from .measurement_cache import named as named
from .repeats_table import print_repeats as print_repeats
from .spending import Spending as Spending
from .statistics import Estimate as Estimate, mean_score as mean_score
from .summary import Summary as Summary, report as report, summarise as summarise
from .table import (
    clean as clean,
    open_console as open_console,
    percent as percent,
    print_flips as print_flips,
    print_grid as print_grid,
    print_summary as print_summary,
)
from .tabular import safe_cell as safe_cell, write_csv as write_csv
from .waiting import Waiting as Waiting, find_waiting as find_waiting
from .win_rates import (
    Compared as Compared,
    Preference as Preference,
    Winner as Winner,
    WinRate as WinRate,
    win_rate as win_rate,
    win_rates as win_rates,
)
from .win_rates_table import print_win_rates as print_win_rates
