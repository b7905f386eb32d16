from .blocks import TOTAL as TOTAL, Block as Block, Row as Row, TablePart as TablePart, rows_of as rows_of
from .columns import (
    Columns as Columns,
    Watcher as Watcher,
    check_breakdown as check_breakdown,
    read_columns as read_columns,
)
from .completion import RULES as RULES, shared_words as shared_words
from .contrasts import TO_WRONG as TO_WRONG
from .factors import (
    NOT_GIVEN as NOT_GIVEN,
    POOLED as POOLED,
    ZERO as ZERO,
    Breakdown as Breakdown,
    Key as Key,
    condition_name as condition_name,
    contrast_name as contrast_name,
    field_of as field_of,
    front_of as front_of,
    read_model_facts as read_model_facts,
    reading_order as reading_order,
)
from .formats import (
    FORMATS as FORMATS,
    print_grid as print_grid,
    print_parts as print_parts,
    print_report as print_report,
    safe_cell as safe_cell,
)
from .grid import grid_of as grid_of, p_value as p_value, percent as percent
from .judged import RULES_MEASURED as RULES_MEASURED, without_model as without_model
from .measurements import (
    METHOD as METHOD,
    Calibration as Calibration,
    Grading as Grading,
    judge_id as judge_id,
    load_calibrations as load_calibrations,
    load_gradings as load_gradings,
    mark_of as mark_of,
    measure as measure,
    named as named,
    save as save,
    save_grading as save_grading,
    spell as spell,
    spell_kappa as spell_kappa,
)
from .membership import (
    LEAST_OF_PART as LEAST_OF_PART,
    MEMBERSHIP_DESIGN as MEMBERSHIP_DESIGN,
    MEMBERSHIP_SCORES as MEMBERSHIP_SCORES,
    MembershipDesign as MembershipDesign,
    MembershipScore as MembershipScore,
)
from .memory_page import (
    EVIDENCE as EVIDENCE,
    Memory as Memory,
    evidence_parts as evidence_parts,
    explain_memory as explain_memory,
    memory_parts as memory_parts,
)
from .pairing import EVEN as EVEN
from .pilot import Pilot as Pilot, Priors as Priors, read_pilot as read_pilot
from .plot import Chart as Chart, Plot as Plot, Point as Point, save_plots as save_plots, table_charts as table_charts
from .probe_designs import keep_probe_design as keep_probe_design
from .published import (
    Published as Published,
    models_of as models_of,
    named_table as named_table,
    named_tables as named_tables,
)
from .question_order import (
    ORDER_DESIGN as ORDER_DESIGN,
    OrderDesign as OrderDesign,
    OrderWeight as OrderWeight,
    order_kind as order_kind,
)
from .ranks import (
    Compared as Compared,
    Preference as Preference,
    Winner as Winner,
    board as board,
    pair_rates as pair_rates,
    win_rates as win_rates,
)
from .recall import (
    RecallDesign as RecallDesign,
    Recalled as Recalled,
    RecallItem as RecallItem,
    recall_kind as recall_kind,
)
from .results import (
    Change as Change,
    Report as Report,
    Scored as Scored,
    brief_lines as brief_lines,
    brief_text as brief_text,
    chains_of as chains_of,
    changes_of as changes_of,
    doubts as doubts,
    full_text as full_text,
    main_changes as main_changes,
    remarks as remarks,
    score_text as score_text,
    scores_of as scores_of,
    short_text as short_text,
    unread_of as unread_of,
)
from .run_state import (
    BY_JUDGE as BY_JUDGE,
    MEASURES as MEASURES,
    Spending as Spending,
    Waiting as Waiting,
    find_waiting as find_waiting,
    has_failed as has_failed,
    is_cut_off as is_cut_off,
    state_lines as state_lines,
)
from .scores import conditions_of as conditions_of
from .tabulation import (
    read_for as read_for,
    report as report,
    summary_parts as summary_parts,
    tabulate as tabulate,
    tabulate_columns as tabulate_columns,
)
from .terminal import clean as clean, open_console as open_console, say as say, wrapped as wrapped
from .trackers import track as track
from .why_page import (
    SURE as SURE,
    Why as Why,
    chains_that_show as chains_that_show,
    explain as explain,
    verdict_of as verdict_of,
    why as why,
    why_lines as why_lines,
    why_parts as why_parts,
)
from .wrong_answers import (
    Design as Design,
    ErrorLabel as ErrorLabel,
    Kind as Kind,
    Wrong as Wrong,
    draw as draw,
    keep_design as keep_design,
    label_kind as label_kind,
    survey as survey,
)
