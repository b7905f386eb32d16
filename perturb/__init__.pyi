from .audit.judge_calibration import (
    Sources as Sources,
    in_order as in_order,
    judge_lines as judge_lines,
    labelled_cases as labelled_cases,
    measure as measure,
    verdict_of as verdict_of,
)
from .audit.pairs import (
    ChainOutcomes as ChainOutcomes,
    VariantPair as VariantPair,
    pairs as pairs,
    replay as replay,
    scaffolding_share as scaffolding_share,
    services_for as services_for,
    summarize as summarize,
)
from .audit.side_by_side import (
    Beside as Beside,
    beside as beside,
    folder_name as folder_name,
    print_beside as print_beside,
    write_pictures as write_pictures,
)
from .chains import expand as expand, load_operator as load_operator, parse_chains as parse_chains, presets as presets
from .item import NO_PICTURE as NO_PICTURE, Item as Item, NotApplicable as NotApplicable, Picture as Picture
from .judge._judge import Case as Case, VariantJudge as VariantJudge, case_of as case_of
from .pipeline import perturb as perturb
from .services import Operator as Operator, Services as Services, open_judge as open_judge
