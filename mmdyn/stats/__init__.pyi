from .agreement import (
    Agreement as Agreement,
    cohen_kappa as cohen_kappa,
    fleiss_kappa as fleiss_kappa,
    kappa_interval as kappa_interval,
    prediction_powered as prediction_powered,
    rank_correlations as rank_correlations,
    roc_auc as roc_auc,
    rogan_gladen as rogan_gladen,
    tuned_power as tuned_power,
    weighted_kappa as weighted_kappa,
)
from .cluster_robust import (
    coefficient as coefficient,
    equality as equality,
    gap as gap,
    mean_of as mean_of,
    mean_of_means as mean_of_means,
    slope as slope,
    uniformity as uniformity,
)
from .designs import (
    GENERATORS as GENERATORS,
    Curve as Curve,
    Forms as Forms,
    HalfDose as HalfDose,
    design_error as design_error,
    design_forms as design_forms,
    half_dose as half_dose,
    interaction_weights as interaction_weights,
    monotone_curve as monotone_curve,
    shapley_weights as shapley_weights,
)
from .intervals import (
    Estimate as Estimate,
    Floats as Floats,
    Ints as Ints,
    LogOdds as LogOdds,
    Share as Share,
    Strata as Strata,
    correct_for_chance as correct_for_chance,
    group_means as group_means,
    independent_clusters as independent_clusters,
    least_corrected as least_corrected,
    log_odds as log_odds,
    mean_score as mean_score,
    stratified_share as stratified_share,
    tango as tango,
    wilson as wilson,
    within as within,
)
from .membership import (
    Blind as Blind,
    blind_auc as blind_auc,
    detectable_auc as detectable_auc,
    greater_p as greater_p,
    min_k as min_k,
    near_groups as near_groups,
    standardized as standardized,
)
from .memory_power import MemoryPriors as MemoryPriors, memory_power as memory_power
from .order_ranks import detectable_share as detectable_share, rank_sum_tail as rank_sum_tail
from .pair_strengths import BradleyTerry as BradleyTerry, bradley_terry as bradley_terry, reaches as reaches
from .paired_difference import (
    TOO_FEW as TOO_FEW,
    TOO_FEW_NOTE as TOO_FEW_NOTE,
    Difference as Difference,
    EmpiricalLikelihood as EmpiricalLikelihood,
    Hits as Hits,
    RatioTest as RatioTest,
    for_every_verdict as for_every_verdict,
    holm as holm,
    matched_shares as matched_shares,
    mcnemar as mcnemar,
    paired_difference as paired_difference,
    paired_difference_between as paired_difference_between,
    ratio_of_means as ratio_of_means,
)
from .power import (
    PairedDesign as PairedDesign,
    detectable as detectable,
    least_number as least_number,
    needed as needed,
    power_of as power_of,
)
from .repeated_tries import (
    Tries as Tries,
    majority_at_k as majority_at_k,
    pass_at_k as pass_at_k,
    tries_agree as tries_agree,
    worst_at_k as worst_at_k,
)
