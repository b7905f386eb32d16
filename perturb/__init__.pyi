from .audit.beside import folder_name as folder_name, print_beside as print_beside, write_pictures as write_pictures
from .audit.calibrate import measure as measure
from .audit.labels import Sources as Sources, labelled_cases as labelled_cases
from .audit.lines import in_order as in_order, judge_lines as judge_lines, verdict_of as verdict_of
from .audit.pairs import Pair as Pair, find_parent as find_parent, pairs as pairs, workbench_for as workbench_for
from .audit.replay import replay as replay
from .audit.sheet import write_sheet as write_sheet
from .chains import ALIASES as ALIASES, load_operator as load_operator, parse_chains as parse_chains
from .judge._judge import Judge as Judge
from .judge.open import open_judge as open_judge
from .pipeline import perturb as perturb
from .plan import is_unsettled as is_unsettled
from .presets import expand as expand, presets as presets
from .services import Services as Services
from .summary import summarize as summarize
