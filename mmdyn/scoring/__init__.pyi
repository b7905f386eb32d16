from .cascade import Cascade as Cascade, check_mode as check_mode
from .grade_lines import (
    Answered as Answered,
    answered_lines as answered_lines,
    calibrate as calibrate,
    grade as grade,
    graders as graders,
    output as output,
    read_out as read_out,
)
from .judge import AUTO as AUTO, ErrorJudge as ErrorJudge, Judge as Judge, open_judge as open_judge, total as total
from .pairwise import PairJudge as PairJudge, QuestionJudge as QuestionJudge
from .scorer import Scorer as Scorer
