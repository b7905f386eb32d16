from .auc import print_auc as print_auc
from .breakdown import Breakdown as Breakdown, field_of as field_of
from .brief import brief_lines as brief_lines, doubts as doubts
from .cascades import Cascades as Cascades, print_cascades as print_cascades
from .charts import Chart as Chart, Point as Point, summary_charts as summary_charts, table_charts as table_charts
from .collect import collect as collect
from .contrast_table import contrast_lines as contrast_lines
from .correction import print_corrections as print_corrections
from .factors import read_model_facts as read_model_facts
from .flip_list import print_flips as print_flips
from .flips import EVEN as EVEN
from .formats import FORMATS as FORMATS
from .grid import grid_of as grid_of
from .marks import mark_of as mark_of
from .meaning_judges import RULES_MEASURED as RULES_MEASURED, by_rules_alone as by_rules_alone
from .measurements import (
    METHOD as METHOD,
    Calibration as Calibration,
    Grading as Grading,
    judge_id as judge_id,
    load_calibrations as load_calibrations,
    load_gradings as load_gradings,
    measure as measure,
    named as named,
    save as save,
    save_grading as save_grading,
    spell as spell,
    spell_kappa as spell_kappa,
)
from .measures import MEASURES as MEASURES
from .pilot import Pilot as Pilot, Priors as Priors, read_pilot as read_pilot
from .plot import Plot as Plot, save_plots as save_plots
from .published import Published as Published
from .repeats import print_repeats as print_repeats
from .report_summary import (
    Summary as Summary,
    report as report,
    summarise as summarise,
    summarise_table as summarise_table,
)
from .results import POOLED as POOLED, Key as Key, Table as Table
from .rows import Row as Row, TablePart as TablePart
from .run_state import (
    BY_JUDGE as BY_JUDGE,
    Spending as Spending,
    Waiting as Waiting,
    find_waiting as find_waiting,
    has_failed as has_failed,
    is_cut_off as is_cut_off,
)
from .summary_csv import safe_cell as safe_cell, write_csv as write_csv
from .summary_rows import ConditionRow as ConditionRow
from .summary_table import print_summary as print_summary, state_lines as state_lines
from .table_names import named_table as named_table, named_tables as named_tables
from .tabulation import Tabulation as Tabulation, tabulate as tabulate
from .terminal import (
    clean as clean,
    names_of as names_of,
    open_console as open_console,
    p_value as p_value,
    percent as percent,
    print_grid as print_grid,
    say as say,
)
from .why_page import Why as Why, explain as explain, why as why
from .win_rates import (
    Compared as Compared,
    Preference as Preference,
    Winner as Winner,
    WinRate as WinRate,
    print_win_rates as print_win_rates,
    win_rate as win_rate,
    win_rates as win_rates,
)
from .wrong_answers import (
    Design as Design,
    ErrorLabel as ErrorLabel,
    ErrorRow as ErrorRow,
    Kind as Kind,
    Wrong as Wrong,
    count_errors as count_errors,
    draw as draw,
    find_errors as find_errors,
    keep_design as keep_design,
    label_kind as label_kind,
    print_counts as print_counts,
    print_errors as print_errors,
    survey as survey,
)
