from .agreement import (
    kappa_interval as kappa_interval,
    rank_correlations as rank_correlations,
    weighted_kappa as weighted_kappa,
)
from .chance_correction import correct_for_chance as correct_for_chance, least_corrected as least_corrected
from .cluster_robust import (
    equality as equality,
    gap as gap,
    mean_of as mean_of,
    mean_of_means as mean_of_means,
    slope as slope,
    uniformity as uniformity,
)
from .corrected_means import (
    prediction_powered as prediction_powered,
    rogan_gladen as rogan_gladen,
    tuned_power as tuned_power,
)
from .intervals import (
    Estimate as Estimate,
    Floats as Floats,
    Ints as Ints,
    group_means as group_means,
    mean_score as mean_score,
    tango as tango,
    wilson as wilson,
    within as within,
)
from .monotone import Curve as Curve, HalfDose as HalfDose, half_dose as half_dose, monotone_curve as monotone_curve
from .paired_difference import (
    TOO_FEW as TOO_FEW,
    TOO_FEW_NOTE as TOO_FEW_NOTE,
    Difference as Difference,
    EmpiricalLikelihood as EmpiricalLikelihood,
    for_every_verdict as for_every_verdict,
    paired_difference as paired_difference,
    paired_difference_between as paired_difference_between,
)
from .power import PairedDesign as PairedDesign, detectable as detectable, needed as needed, power_of as power_of
from .ratio import RatioTest as RatioTest, ratio_of_means as ratio_of_means
from .repeated_tries import (
    Tries as Tries,
    majority_at_k as majority_at_k,
    pass_at_k as pass_at_k,
    tries_agree as tries_agree,
    worst_at_k as worst_at_k,
)
from .reviewers import Agreement as Agreement, cohen_kappa as cohen_kappa, fleiss_kappa as fleiss_kappa
from .roc import roc_auc as roc_auc
from .second_opinion import LogOdds as LogOdds, log_odds as log_odds
from .shapley_designs import (
    GENERATORS as GENERATORS,
    Forms as Forms,
    design_error as design_error,
    design_forms as design_forms,
    interaction_weights as interaction_weights,
    shapley_weights as shapley_weights,
)
from .shares import Share as Share
from .significance import holm as holm, mcnemar as mcnemar
from .stratified import (
    Strata as Strata,
    independent_clusters as independent_clusters,
    stratified_share as stratified_share,
)
