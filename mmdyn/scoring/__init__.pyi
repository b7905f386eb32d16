from .calibrate import calibrate as calibrate, graders as graders
from .cascade import Cascade as Cascade, check_mode as check_mode
from .error_judge import ErrorJudge as ErrorJudge
from .grade_lines import grade as grade, output as output
from .judge import AUTO as AUTO, AUTOMATIC as AUTOMATIC, Judge as Judge, open_judge as open_judge
from .lines import Answered as Answered, answered_lines as answered_lines, read_out as read_out
from .pairwise import PairJudge as PairJudge
from .poll import total as total
from .question_pairs import QuestionJudge as QuestionJudge
from .rubrics._rubric import Rubric as Rubric
from .scorer import Scorer as Scorer
