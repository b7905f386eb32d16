"""Several options in one reply: their texts as a list, all judged in turn, all but one, numbers; and what only looks so."""

from __future__ import annotations

import pytest

from mmdyn.sample import TaskType
from mmdyn.scoring.extract import extract

CITIES = ("Paris", "London", "Rome", "Madrid")
CHINESE = ("北京", "上海", "广州", "深圳")
FOOD = ("bread, butter and jam", "bread", "jam", "tea and milk")
NESTED = ("A and B", "B only", "C, D and E", "salt")
PRIMES = ("2", "4", "3", "9")
THOUSANDS = ("1,000", "2,000", "3,500", "10")
FORMULAS = ("$x^2+1$", "$\\frac{1}{2}$", "$(1, 2)$", "$\\sqrt{3}$")
ABOVE = ("Paris", "London", "Rome", "All of the above")
NONE = ("Paris", "London", "Rome", "None of the above")
NOTHING = ("", "", "", "")
SENTENCES = ("It is hot.", "It is cold, and wet.", "It rains", "St. Paul is near")
PLANTS = ("和平鸽", "猫和狗", "猫", "狗")

LISTS = [
    ("Answer: Paris, Rome and Madrid", CITIES, "ACD"),
    ("The answers are Paris, Rome and Madrid.", CITIES, "ACD"),
    ("The correct answers are Rome and Paris.", CITIES, "AC"),
    ("\\boxed{\\text{Paris, Rome, Madrid}}", CITIES, "ACD"),
    ("$\\boxed{\\text{Paris}, \\text{Rome}}$", CITIES, "AC"),
    ("Answer: Paris\nRome\nMadrid", CITIES, "ACD"),
    ("Answer:\nParis\nRome\nMadrid", CITIES, "ACD"),
    ("Paris\nRome\nMadrid", CITIES, "ACD"),
    ("Paris, Rome and Madrid.", CITIES, "ACD"),
    ("Paris; Rome", CITIES, "AC"),
    ("The correct options are:\n- Paris\n- Rome\n- Madrid", CITIES, "ACD"),
    ("The correct options are:\n\n1. Paris\n2. Rome\n3. Madrid", CITIES, "ACD"),
    ("- Paris\n- Rome", CITIES, "AC"),
    ("**Answer:** **Paris**, **Rome**", CITIES, "AC"),
    ('{"answer":["Paris","Rome","Madrid"]}', CITIES, "ACD"),
    ('{"answer": ["Paris", "Rome"], "reason": "London is not asked for"}', CITIES, "AC"),
    ('{"answer": "Paris, Madrid"}', CITIES, "AD"),
    ("<answer>Paris, Rome</answer>", CITIES, "AC"),
    ("答案：北京、广州、深圳", CHINESE, "ACD"),
    ("答案：北京，广州和深圳。", CHINESE, "ACD"),
    ("正确的有北京、广州。", CHINESE, "AC"),
    ("故选：北京、深圳", CHINESE, "AD"),
    ("答案：猫和狗、狗", PLANTS, "BD"),
    ("答案：和平鸽和猫", PLANTS, "AC"),
    ("Answer: bread, butter and jam, and jam", FOOD, "AC"),
    ("Answer: bread, butter and jam", FOOD, "A"),
    ("Answer: bread and jam", FOOD, "BC"),
    ("Answer: bread, tea and milk", FOOD, "BD"),
    ("Answer: A and B, salt", NESTED, "AD"),
    ("Answer: C, D and E", NESTED, "C"),
    ("Answer: salt and B only", NESTED, "BD"),
    ("Answer: 2 and 3", PRIMES, "AC"),
    ("Answer: 1,000 and 3,500", THOUSANDS, "AC"),
    ("Answer: $x^2+1$, $\\sqrt{3}$", FORMULAS, "AD"),
    ("Answer: $(1, 2)$ and $\\frac{1}{2}$", FORMULAS, "BC"),
    ("Answer: It is hot. St. Paul is near.", SENTENCES, "AD"),
    ("Answer: Paris and Rome, because both are capitals.", CITIES, "AC"),
    ("Answer: Paris, Rome. London is a decoy.", CITIES, "AC"),
    ("Answer: Paris, not Rome", CITIES, "A"),
    ("Answer: Paris, because it is in France", CITIES, "A"),
    ("Answer: A, Rome and Madrid", CITIES, "ACD"),
    ("Answer: 2 and 3 because they are prime", PRIMES, "AC"),
    ("Answer: A, C - Paris and Rome", CITIES, "AC"),
    ("Answer: A and C, i.e. Paris and Rome", CITIES, "AC"),
    ('{"answer": ["A. Paris", "C. Rome"]}', CITIES, "AC"),
    ("Answer: A, C\n\nA. Paris is right.\nB. London is wrong.\nC. Rome is right.", CITIES, "AC"),
    ("Answer: A, C\n\nExplanation: Also, B is wrong and D is false.", CITIES, "AC"),
    ("The answer is Paris. Rome and Madrid are wrong.", CITIES, "A"),
    ("Answer: B. C, D are wrong.", CITIES, "B"),
    ("Answer: A\nA. Paris\nB. London\nC. Rome\nD. Madrid", CITIES, "A"),
    ("Answer: Paris, London, Rome, Madrid", CITIES, "ABCD"),
    ("It is said that some are capitals.\n\nParis, Rome", CITIES, "AC"),
    ("The answers: A (Paris), C (Rome), D (Madrid)", CITIES, "ACD"),
    ("Answer: A (it is large), C (it is old, too)", CITIES, "AC"),
    ("Answer: A. Paris\nC. Rome\nD. Madrid", CITIES, "ACD"),
    ("Answer: A: Paris, C: Rome", CITIES, "AC"),
    ("Answer: A\nC\nD", CITIES, "ACD"),
    ("The answer is A, along with C and D", CITIES, "ACD"),
    ("The answer is A along with C", CITIES, "AC"),
    ("The answers are A as well as C.", CITIES, "AC"),
    ("Both A, C, and also D are correct.", CITIES, "ACD"),
    ("A, C, as well as D are correct", CITIES, "ACD"),
    ("A together with C is correct.", CITIES, "AC"),
    ("Not only A but also C are correct.", CITIES, "AC"),
    ("\\boxed{A}, \\boxed{C}, \\boxed{D}", CITIES, "ACD"),
    ("So we have $\\boxed{A}$ and $\\boxed{C}$.", CITIES, "AC"),
    ("\\boxed{\\text{Paris}}, \\boxed{\\text{Rome}}", CITIES, "AC"),
    ("\\boxed{A} \\boxed{A}", CITIES, "A"),
]

JUDGED = [
    ("All but B are correct.", CITIES, "ACD"),
    ("Everything but B is correct.", CITIES, "ACD"),
    ("Every option other than B is correct.", CITIES, "ACD"),
    ("All of the options except B are true.", CITIES, "ACD"),
    ("All options except for (B) are correct.", CITIES, "ACD"),
    ("Answer: all except B", CITIES, "ACD"),
    ("The answer is everything but D.", CITIES, "ABC"),
    ("除B外都正确", CITIES, "ACD"),
    ("除了B以外其余都对", CITIES, "ACD"),
    ("除选项B之外，其余选项均正确。", CITIES, "ACD"),
    ("All but B are wrong.", CITIES, "B"),
    ("除B外都错误", CITIES, "B"),
    ("A is correct. B is incorrect. C is correct. D is correct.", CITIES, "ACD"),
    ("A is true, B is false, C is true and D is false.", CITIES, "AC"),
    ("Option A is correct. Option B is wrong. Options C and D are correct.", CITIES, "ACD"),
    ("A正确，B错误，C正确，D正确", CITIES, "ACD"),
    ("A项正确；B项错误；C项错误；D项正确。", CITIES, "AD"),
    ("A对，B错，C对，D错。", CITIES, "AC"),
    ("A: true\nB: false\nC: true\nD: true", CITIES, "ACD"),
    ("A: correct\nB: incorrect\nC: correct\nD: correct", CITIES, "ACD"),
    ("- A. Paris: correct\n- B. London: incorrect\n- C. Rome: correct\n- D. Madrid: incorrect", CITIES, "AC"),
    ("(A) Paris — True\n(B) London — False\n(C) Rome — True\n(D) Madrid — True", CITIES, "ACD"),
    ("A. ✓ B. ✗ C. ✓ D. ✓", CITIES, "ACD"),
    ("A ✓\nB ✗\nC ✓\nD ✗", CITIES, "AC"),
    ("A. Paris ✅\nB. London ❌\nC. Rome ✅\nD. Madrid ❌", CITIES, "AC"),
    ("A) True B) False C) True D) False", CITIES, "AC"),
    ("A (✓), B (✗), C (✓), D (✗)", CITIES, "AC"),
    ("A. 正确\nB. 错误\nC. 正确\nD. 错误", NOTHING, "AC"),
    ("A: true\nB: false\nC: true\nD: true\n\nAnswer: A, C, D", CITIES, "ACD"),
    ("A. 正确\nB. 错误\nC. 正确\nD. 错误\n故选BD", NOTHING, "BD"),
    ("A：√\nB：×\nC：√\nD：√", CITIES, "ACD"),
    ("A：正确\nB：错误\nC：正确\nD：错误", CITIES, "AC"),
    ("A: True, because it lies on the Seine.\nB: False.\nC: True.\nD: False, it lies inland.", CITIES, "AC"),
    ("All of the above", CITIES, "ABCD"),
    ("Answer: All of the above.", CITIES, "ABCD"),
    ("The answer is all of the above.", CITIES, "ABCD"),
    ("All of the options are correct.", CITIES, "ABCD"),
    ("答案：全选", CITIES, "ABCD"),
    ("全选", CITIES, "ABCD"),
    ("以上都对", CITIES, "ABCD"),
    ("以上选项均正确。", CITIES, "ABCD"),
    ("四个选项都正确。", CITIES, "ABCD"),
    ("Option two", CITIES, "B"),
    ("Answer: the 2nd option", CITIES, "B"),
    ("选项二", CITIES, "B"),
    ("答案：选项二", CITIES, "B"),
    ("options 1, 3 and 4", CITIES, "ACD"),
    ("Answer: options 1 and 3", CITIES, "AC"),
    ("The correct answers are options 1, 3, and 4.", CITIES, "ACD"),
    ("The answers are the first, third and fourth options.", CITIES, "ACD"),
    ("第1、3、4个选项", CITIES, "ACD"),
    ("答案：第一、三项", CITIES, "AC"),
    ("答案：选项1和3", CITIES, "AC"),
]

NOTHING_READ = [
    ("Answer: Paris, Rome and Berlin", CITIES),
    ("Answer: Paris, Berlin", CITIES),
    ("Answer: Paris or Rome", CITIES),
    ("Answer: Paris, Rome or Madrid", CITIES),
    ("Answer: Paris and maybe Rome", CITIES),
    ("Answer: Paris and/or Rome", CITIES),
    ("Answer: neither Paris nor Rome", CITIES),
    ("Answer: Paris, the capital of Italy and Madrid", CITIES),
    ("Answer: Paris (perhaps), Rome", CITIES),
    ("Answer: A, Berlin and Rome", CITIES),
    ("Answer: A (or C)", CITIES),
    ("Answer: A (London), C (Rome)", CITIES),
    ('{"answer":["Paris","Berlin"]}', CITIES),
    ("\\boxed{\\text{Paris, Berlin}}", CITIES),
    ("Paris, London, Rome, Madrid", CITIES),
    ("Paris\nLondon\nRome\nMadrid", CITIES),
    ("- Paris\n- London\n- Rome\n- Madrid", CITIES),
    ("The answer choices are Paris, London, Rome and Madrid.", CITIES),
    ("Paris and Rome are in the list.", CITIES),
    ("These are no capitals:\nParis\nRome", CITIES),
    ("The wrong ones:\n\nParis, Rome", CITIES),
    ("The answers are not Paris and Rome.", CITIES),
    ("答案：北京、天津", CHINESE),
    ("答案：北京或广州", CHINESE),
    ("答案不是北京、广州", CHINESE),
    ("Answer: bread, butter and honey", FOOD),
    ("Answer: A, B or C", CITIES),
    ("A, B or C", CITIES),
    ("Answer: A–D", CITIES),
    ("A–D are correct.", CITIES),
    ("A-D are correct.", CITIES),
    ("Answer: A~D", CITIES),
    ("A through D are correct", CITIES),
    ("A. ✓ B. ✗", CITIES),
    ("A is right. So is C. And D.", CITIES),
    ("A is correct, as is C.", CITIES),
    ("A is correct. C too.", CITIES),
    ("All but B.", CITIES),
    ("All but one are correct.", CITIES),
    ("Not all but B are correct.", CITIES),
    ("It is not true that all but B are correct.", CITIES),
    ("Some say all but B are correct.", CITIES),
    ("The answer is Paris and Rome?", CITIES),
    ("The answer would be Paris and Rome if it were so.", CITIES),
    ("Answer: Paris, Rome. Wait, also Madrid.", CITIES),
    ("Answer: Paris and Rome. No, actually only Paris.", CITIES),
    ("Answer: A, C. So is D.", CITIES),
    ("options 1 and 3 are wrong", CITIES),
    ("All options but B and C are correct.", CITIES),
    ("All of the given statements except A and D are true.", CITIES),
    ("The question asks which is incorrect. All but B are correct.", CITIES),
    ("A is correct, B is wrong, and C and D are correct. So the incorrect one is B.", CITIES),
    ("Answer: 2, 3 and 9 are wrong", PRIMES),
    ("正确的有两个，都很明显", PRIMES),
    ("If all but B are correct, we lose.", CITIES),
    ("Are all but B correct?", CITIES),
    ("Answer: A, C. Wait, also D.", CITIES),
    ("Answer: A,C. Wait, D too: A, C, D", CITIES),
    ("Answer: A, C. Also D.", CITIES),
    ("Answer: A. And C as well.", CITIES),
    ("答案：A、C。等等，还有D。", CITIES),
    ("The answer is A and C. Oh, I forgot D.", CITIES),
    ("\\boxed{A} or \\boxed{C}", CITIES),
    ("First \\boxed{A}. Checking the sign again gives another result. \\boxed{C}", CITIES),
    ("A is correct. B is incorrect. C is correct.", CITIES),
    ("A is correct. B is incorrect. C is correct. D might be correct.", CITIES),
    ("Which are incorrect? A is correct. B is incorrect. C is correct. D is correct.", CITIES),
    ("The question asks for the false statements. A: true\nB: false\nC: true\nD: true", CITIES),
    ("题目问错误的是。A正确，B错误，C正确，D正确", CITIES),
    ("A正确，B错误，C正确，D正确，所以不正确的是哪一个很清楚。", CITIES),
    ("A is wrong. B is wrong. C is wrong. D is wrong.", CITIES),
    ("A: true\nB: false\nC: true", CITIES),
    ("A: true\nB: true or false\nC: true\nD: false", CITIES),
    ("A: true\nB: false, though one may call it correct\nC: true\nD: false", CITIES),
    ("A: true or false?\nB: true or false?\nC: true or false?\nD: true or false?", CITIES),
    ("If A is correct and B is incorrect, C is correct and D is incorrect?", CITIES),
    ("None of the above", CITIES),
    ("Not all of the above", CITIES),
    ("Are all of the above correct?", CITIES),
    ("All of the above except B and C", CITIES),
    ("All of the above", NONE),
    ("All of the options are wrong.", CITIES),
    ("以上都不对", CITIES),
    ("不全选", CITIES),
    ("Option two", PRIMES),
    ("options 1, 3 and 4", PRIMES),
    ("options 1, 3 and 7", CITIES),
    ("options 1 or 3", CITIES),
    ("选项一定正确", CITIES),
    ("选项三角形", CITIES),
    ("option one must think about", CITIES),
    ("There are options 1, 2, 3 and 4 to think about", CITIES),
    ("第1、3、9个选项", CITIES),
]

ONE_ALONE = [
    ("Answer: Paris, Rome and Madrid", CITIES, ""),
    ("Answer: Paris and Rome", CITIES, ""),
    ("Paris\nRome", CITIES, ""),
    ("Answer: Paris\nRome", CITIES, ""),
    ("答案：北京、广州", CHINESE, ""),
    ("Answer: Paris, not Rome", CITIES, "A"),
    ("Answer: Paris, because Rome is old", CITIES, "A"),
    ("Answer: Paris, the capital of France", CITIES, "A"),
    ("Answer: bread, butter and jam", FOOD, "A"),
    ("All but B are correct.", CITIES, ""),
    ("Everything but B is correct.", CITIES, ""),
    ("Every option other than B is correct.", CITIES, ""),
    ("除B外都正确", CITIES, ""),
    ("All but B are wrong.", CITIES, "B"),
    ("All options but B and C are correct.", CITIES, ""),
    ("All others are wrong, but B is correct.", CITIES, "B"),
    ("Nothing but B is correct.", CITIES, "B"),
    ("All of the above", CITIES, ""),
    ("All of the above", ABOVE, "D"),
    ("全选", CHINESE, ""),
    ("\\boxed{A}, \\boxed{C}", CITIES, ""),
    ("A is correct. B is incorrect. C is correct. D is correct.", CITIES, ""),
    ("A: true\nB: false\nC: true\nD: true", CITIES, ""),
    ("Both A, C, and also D are correct.", CITIES, ""),
    ("Not only A but also C are correct.", CITIES, ""),
    ("The answer is A, along with C", CITIES, ""),
    ("Answer: A–D", CITIES, ""),
    ("Answer: B — London is the capital of the United Kingdom.", CITIES, "B"),
    ("Option two", CITIES, "B"),
    ("The answer is the 2nd option.", CITIES, "B"),
    ("选项二", CHINESE, "B"),
    ("选项一定正确", CHINESE, ""),
    ("options 1 and 3", CITIES, ""),
    ("So the first and second options are wrong, and the answer is C.", CITIES, "C"),
    ("选项一和选项二错误，选C", CITIES, "C"),
]


BARS = ("The bars rise.", "The bars fall.", "There are two bars.", "There are nine bars.")
BESIDE = [
    ("A and C are correct; B isn't.", "AC"),
    ("A and C are correct, but B is not.", "AC"),
    ("A, C and D are correct. B is not, because the bars rise.", "ACD"),
    ("A and C are correct. Option B describes the opposite.", "AC"),
    ("So A and C are correct. B would only be right if sales had fallen.", "AC"),
    ("A shows rising bars. B shows falling bars. A and C are correct.", "AC"),
    ("B contradicts the graph. A and C are correct.", "AC"),
    ("Therefore, A and C are correct.\n\nB: the bars rise rather than fall.\nD: only two bars are visible.", "AC"),
    ("B与图不符，故AC正确。", "AC"),
    ("AC正确，B应为上升。", "AC"),
    ("A and C are correct. D as well.", ""),
    ("A and C are correct. Also D.", ""),
    ("A and C are correct. D is also right.", ""),
    ("AC正确，D也是。", ""),
]


@pytest.mark.parametrize(("reply", "wanted"), BESIDE)
def test_options_that_are_named_beside_the_list_of_right_ones(reply: str, wanted: str) -> None:
    assert letters("multi_select", reply, BARS) == wanted


def letters(task_type: TaskType, reply: str, texts: tuple[str, ...]) -> str:
    found = extract(task_type, reply, labels=tuple("ABCD"), option_texts=texts).found
    return "".join(map(str, found)) if isinstance(found, tuple) else ""


@pytest.mark.parametrize(("reply", "texts", "wanted"), LISTS)
def test_a_list_is_read_in_full(reply: str, texts: tuple[str, ...], wanted: str) -> None:
    assert letters("multi_select", reply, texts) == wanted


@pytest.mark.parametrize(("reply", "texts", "wanted"), JUDGED)
def test_options_that_are_judged_counted_or_taken_together(reply: str, texts: tuple[str, ...], wanted: str) -> None:
    assert letters("multi_select", reply, texts) == wanted


@pytest.mark.parametrize(("reply", "texts"), NOTHING_READ)
def test_nothing_is_read_where_the_list_is_not_clear(reply: str, texts: tuple[str, ...]) -> None:
    assert letters("multi_select", reply, texts) == ""


@pytest.mark.parametrize("reply", ["All of the above", "Answer: all of the above"])
def test_an_option_that_says_all_of_the_above_is_that_option(reply: str) -> None:
    assert letters("multi_select", reply, ABOVE) == "D"


@pytest.mark.parametrize(("reply", "texts", "wanted"), ONE_ALONE)
def test_a_single_choice_takes_none_of_several(reply: str, texts: tuple[str, ...], wanted: str) -> None:
    assert letters("single_choice", reply, texts) == wanted


def test_options_that_are_pictures_are_listed_by_their_labels() -> None:
    assert letters("multi_select", "Answer: A (the left one), C", NOTHING) == "AC"
