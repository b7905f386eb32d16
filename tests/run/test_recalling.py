"""Hidden parts of questions: models that memorised the file come out as such, and those that did not raise no alarm."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benches import load_bench
from msgspec import to_builtins
from running import evaluated, typed
from serving import wait_until
from shell import MMDYN, mmdyn

from making import blank, choice, image_ref, open_ended, picture, write_set
from mmdyn.run import Completion, Options
from mmdyn.run.probes.completion import halves_of
from mmdyn.run.probes.options import free_options
from mmdyn.tables import (
    RecallDesign,
    Recalled,
    RecallItem,
    Row,
    explain_memory,
    keep_probe_design,
    memory_parts,
    tabulate,
)
from mmdyn.tables.completion import beyond_others, shared_words
from mmdyn.tables.masked_options import names_option
from mmdyn.tables.recall import DIFFERENCE, NAMED, NOT_NAMED
from mmdyn.text import fold
from mmdyn.work import Reader, RunFolder, Store
from perturb import perturb

COUNT = 40
SYLLABLES = ["ba", "do", "ki", "lu", "mo", "ne", "pa", "ri", "so", "tu", "ve", "zan"]
IDEOGRAPHS = [chr(code) for code in range(0x9010, 0x9010 + 150)]
ENDINGS = {
    "en": ("which of these holds then?", "how many are there in all?"),
    "zh": ("下列说法正确的是哪项？", "一共有多少个这样的？"),
}
KINDS = ("cued", "always", "fluent", "copier", "refuser", "silent", "endings", "style", "half")

MODELS = '''
import json, random, re, time
from pathlib import Path

KNOWN = json.loads((Path(__file__).parent / "known.json").read_text())


def first(text):
    """The known question, its hidden part, and whether the set was named."""
    named = "exam" in text
    for question, options in KNOWN["options"].items():
        if question in text:
            shown = re.findall(r"^[A-Z]\\. (.*)$", text, re.M)
            return named, next((option for option in options if option not in shown), "A")
    return named, next((hidden for begun, hidden in KNOWN["halves"].items() if begun in text), "")


class Model:
    def ask(self, messages):
        text = messages[-1].text
        if "Question" in text.split("\\n")[0]:
            return "A"
        named, hidden = first(text)
        draw = random.Random(text)
        zh = "题" in text[:30]
        words = KNOWN["zh" if zh else "en"]
        join = "" if zh else " "
        written = join.join(draw.choice(words) for _ in range(16))
        return self.say(text, named, hidden, draw, words, written, join)


class cued(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return hidden if named and hidden else written


class always(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return hidden or written


class half(Model):
    """Repeats the beginning, thinks first, and knows two questions of five where the set is named."""
    def say(self, text, named, hidden, draw, words, written, join):
        knows = named and hidden and random.Random(hidden).random() < 0.4
        return "<think>Do I know it?</think>" + text.split("\\n\\n", 1)[-1] + " " + (hidden if knows else written)


class fluent(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return written


class copier(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return text


class refuser(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return "I'm sorry, I cannot reproduce that." if draw.random() < 0.9 else written


class slow(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        time.sleep(0.2)
        return written


class silent(Model):
    def say(self, text, named, hidden, draw, words, written, join):
        return " \\n"


class endings(Model):
    """Knows how the set's questions end, and with its name only."""
    def say(self, text, named, hidden, draw, words, written, join):
        ending = draw.choice(KNOWN["endings"])
        return join.join(draw.choice(words) for _ in range(8)) + join + ending if named else "and then they all left"


class style(Model):
    """Writes as the set does where it is named, and chats where it is not."""
    def say(self, text, named, hidden, draw, words, written, join):
        return written if named else "Sure, let me think about what could come next in this text!"
'''

REWRITER = '''
import json, re

class Other:
    """Says each word in another way."""
    label = "other"
    def ask(self, messages):
        text = messages[-1].text
        question = max(re.findall(r"^(?:Tell: .*|说：.*)$", text, re.M), key=len)
        zh = question.startswith("说")
        words = "".join(chr(ord(c) + 200) if "\\u9010" <= c <= "\\u90a5" else c for c in question) if zh else (
            " ".join(word if word in ("Tell:",) else word[::-1] for word in question.split())
        )
        return json.dumps({"question": words})
'''


def texts(language: str, count: int = COUNT) -> list[str]:
    """Questions of random words, of which each second one ends as others do."""
    draw = np.random.default_rng(7)
    found = list[str]()
    for number in range(count):
        if language == "zh":
            words = "".join(draw.choice(IDEOGRAPHS, 70))
            found.append(f"说：{words}{ENDINGS['zh'][number % 2] if number % 4 < 2 else ''}")
        else:
            words = " ".join("".join(draw.choice(SYLLABLES, 2)) for _ in range(30))
            found.append(f"Tell: {words} {ENDINGS['en'][number % 2] if number % 4 < 2 else ''}".strip())
    return found


def vocabulary(language: str) -> list[str]:
    return IDEOGRAPHS if language == "zh" else [a + b for a in SYLLABLES for b in SYLLABLES]


def made(folder: Path, language: Any = "en", *, count: int = COUNT, reworded: bool = True) -> RunFolder:
    """A run of a set, its paraphrases and all kinds of models; questions have four options."""
    draw = np.random.default_rng(3)
    words = vocabulary(language)
    glue = "" if language == "zh" else " "
    samples = [
        choice(
            f"q{number}", question=text, texts=[glue.join(draw.choice(words, 6)) for _ in range(4)], language=language
        )
        for number, text in enumerate(texts(language, count))
    ]
    halves = {cut[0]: cut[1] for one in samples if isinstance(cut := halves_of(one), tuple)}
    options = {one.question: [option.text for option in one.options] for one in samples}
    known = {
        "halves": halves,
        "options": options,
        "en": vocabulary("en"),
        "zh": IDEOGRAPHS,
        "endings": ENDINGS[language],
    }
    (folder / "known.json").write_text(json.dumps(known))
    (folder / "recallers.py").write_text(MODELS)
    (folder / "rewriter.py").write_text(REWRITER)
    sets = [write_set(folder / "set", samples, "exam")]
    if reworded:
        rewriter = f"{folder}/rewriter.py:Other"
        sets.append(perturb(folder / "set", folder / "other", ops="paraphrase", rewriter=rewriter, quiet=True))
    return evaluated(sets, [model(folder, kind) for kind in (*KINDS, "slow")], folder / "run", n=1)


def model(folder: Path, kind: str) -> str:
    return f"{folder}/recallers.py:{kind}"


def rows(run: RunFolder, part: str) -> dict[tuple[str, str], Row]:
    """By the model's name and the quantity, adjusted over the page."""
    page = explain_memory(tabulate([run], memory_parts()), [run])
    return {(row.factors["model"].rpartition(":")[2], row.quantity): row for row in page.report.rows(part)}


def said(run: RunFolder) -> str:
    result = typed("report", run.folder, "--memory", "-q")
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def ask(run: RunFolder, kind: str, *options: object, who: tuple[str, ...] = KINDS) -> Any:
    models = [word for one in who for word in ("-m", model(run.folder.parent, one))]
    return typed("probe", kind, run.folder, *models, "-q", *options)


@pytest.fixture(scope="module", params=["en", "zh"])
def run(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> RunFolder:
    found = made(tmp_path_factory.mktemp(request.param), request.param)
    for kind in ("completion", "options"):
        result = ask(found, kind)
        assert result.exit_code == 0, result.output
    return found


def test_models_come_out_as_what_they_are(run: RunFolder) -> None:
    """The others come out as \"cannot tell\": this evidence says nothing of what it does not find."""
    significant = {
        part: {who for (who, quantity), row in rows(run, part).items() if row.is_significant and quantity == DIFFERENCE}
        for part in ("completions", "paraphrasedcompletions", "maskedoptions")
    }
    assert significant == {
        "completions": {"cued", "half"},
        "paraphrasedcompletions": {"cued", "always", "half"},
        "maskedoptions": {"cued"},
    }
    text = said(run)
    alarms = text.partition("P is adjusted")[0]
    assert alarms.count("speak for having seen these questions") == 6  # cued by three kinds, half by two
    verdicts = re.findall(r"((?:python:recallers\.py:\w+ on exam(?:; )?)+): (\w+ \w+)", alarms)
    told = {who: verdict for names, verdict in verdicts for who in re.findall(r"py:(\w+)", names)}
    assert all(told[who] == "cannot tell" for who in ("copier", "endings", "style", "fluent"))
    assert told["always"] == told["half"] == "not every" and told["cued"] == "completions with"
    assert told["silent"] == told["refuser"] == "nothing was"
    assert "masked options with the set named (p 1.00; 25 points would mostly show)" in alarms
    assert "(p 1.00; the other side has nearly all already, so that no difference could show)" in alarms
    assert not re.search(r"\b1 points|\b1 questions", text)


def test_the_numbers(run: RunFolder) -> None:
    found, options = rows(run, "completions"), rows(run, "maskedoptions")
    for who, named, bare in (("cued", COUNT, 0), ("always", COUNT, COUNT), ("fluent", 0, 0), ("copier", 0, 0)):
        counts = [found[who, f"{side}, word for word"] for side in (NAMED, NOT_NAMED)]
        assert [row.value for row in counts] == [named, bare] and counts[0].n == COUNT
    assert (found["cued", NAMED].value or 0) > 0.8 > 0.1 > abs(found["fluent", NAMED].value or 0)
    assert [options["always", side].value for side in (NAMED, NOT_NAMED, DIFFERENCE)] == [1.0, 1.0, 0.0]
    assert [options["cued", side].value for side in (NAMED, NOT_NAMED, DIFFERENCE)] == [1.0, 0.0, 1.0]
    text = said(run)
    assert (
        "cued on exam: share of masked options that replies name, set named 100.0 [91.2, 100.0] %, set not named 0.0 [0.0, 8.8] %: +100 ["
        in text
    )
    assert f"Word for word or nearly so: set named {COUNT} of {COUNT}, set not named 0 of {COUNT}." in text


def test_replies_that_are_none_are_counted(run: RunFolder) -> None:
    found = rows(run, "completions")
    silent, refuser = found["silent", DIFFERENCE], found["refuser", DIFFERENCE]
    assert (silent.value, silent.n, silent.left_out) == (None, 0, COUNT)
    assert silent.note == f"of {2 * COUNT} replies {2 * COUNT} are empty: their pairs are left out"
    assert refuser.n < 5 and f"of {2 * COUNT} replies" in refuser.note and "refuse" in refuser.note
    text = said(run)
    assert "silent on exam: no question has usable replies to both requests." in text
    assert "silent on exam: nothing was tested." in text.partition("P is adjusted")[0]


def test_json_and_html_have_the_rows(run: RunFolder) -> None:
    page = json.loads(typed("report", run.folder, "--memory", "--format", "json", "-q").output)
    kinds = {part["kind"] for part in page["report"]["parts"] if part["rows"]}
    assert {"completions", "paraphrasedcompletions", "maskedoptions"} <= kinds
    assert typed("report", run.folder, "--memory", "-o", run.folder.parent / "page.html", "-q").exit_code == 0
    html = (run.folder.parent / "page.html").read_text()
    assert "Wrong options that were masked" in html and "word for word" in html


@pytest.fixture
def small(tmp_path: Path) -> RunFolder:
    return made(tmp_path, count=12, reworded=False)


def kept(run: RunFolder) -> int:
    with Reader(run.records_folder) as reader:
        ids = {json.loads(value)["id"] for _, value in reader.items("completion design")}
        return sum(1 for one in ids for _ in reader.items(f"completion:{one}"))


def test_a_limit_stops_and_the_same_call_goes_on(small: RunFolder) -> None:
    words = ["probe", "completion", small.folder, "-m", model(small.folder.parent, "cued"), "-q", "--cache", "none"]
    assert mmdyn(*words, "--max-requests", "7").returncode == 3
    assert kept(small) == 7 and "are lacking (ask again): their pairs are left out" in said(small)
    done = mmdyn(*words, "--max-requests", "17")
    assert done.returncode == 0 and done.stdout.startswith("24 completions asked about") and kept(small) == 24
    assert mmdyn(*words, "--max-requests", "1", "--questions", "10").returncode == 0 and kept(small) == 24
    assert typed(*words, "--seed", "3").exit_code == 0 and kept(small) == 48
    assert rows(small, "completions")["cued", DIFFERENCE].note == (
        "the last of 3 ways in which it was asked: what came before is not shown, and p not adjusted for it"
    )
    text = said(small).replace("\\ ", "")
    assert "No reworded question was completed." in text and "--ops paraphrase@strong --rewriter MODEL" in text
    assert f"mmdyn probe completion {small.folder}-reworded" in text
    assert "No model was asked for a wrong option that was masked. Any model can be, where" in text
    assert f"mmdyn probe options {small.folder}" in text


@pytest.mark.slow
def test_what_was_said_is_not_asked_again_after_a_kill(small: RunFolder) -> None:
    words = [
        "probe",
        "completion",
        str(small.folder),
        "-m",
        model(small.folder.parent, "slow"),
        "-q",
        "--cache",
        "none",
    ]
    process = subprocess.Popen([*MMDYN, *words], stdout=subprocess.DEVNULL)
    wait_until(lambda: kept(small) > 0, process)
    process.kill()
    process.wait()
    left = 24 - kept(small)
    assert 0 < left < 24
    done = mmdyn(*words, "--max-requests", str(left))
    assert done.returncode == 0 and done.stdout.startswith("24 completions asked about") and kept(small) == 24


def test_wordings_by_rules_are_described(tmp_path: Path) -> None:
    """Their words are less natural, whatever a model knows."""
    run = made(tmp_path, count=12, reworded=False)
    items = [
        RecallItem(f"{id}{by}", id, id, "en", "exam", f"{id} {by} begins", f"{words} {by or 'so'} it goes on from here", by)
        for number in range(12) for id, words in [(f"q{number}", f"w{number} x{number} y{number} z{number}")]
        for by in ("", "embedded")
    ]  # fmt: skip
    label = "python:recallers.py:always"
    with Store(run.records_folder) as store:
        keep_probe_design(store, "completion design", "exam", RecallDesign("exam", "d", tuple(items), {}), 1)
        for item in items:
            for named in (True, False) if not item.by else (True,):
                one = Recalled(label, item.key, named, "" if item.by else item.hidden, "said")
                store.put("completion:d", f"{item.key} {named}", json.dumps(to_builtins(one)).encode())
    found = rows(run, "paraphrasedcompletions")["always", DIFFERENCE]
    assert (found.value or 0) > 0.3 and (found.p, found.p_adjusted, found.n) == (None, None, 12)
    assert "This cannot tell: rules wrote the other wordings" in said(run)


def test_mistakes_end_in_one_sentence(tmp_path: Path) -> None:
    who = ("-m", "baseline:majority", "-q")
    two = evaluated(
        write_set(tmp_path / "two", [choice("a"), choice("b")], "two"), "baseline:majority", tmp_path / "r2"
    )
    done = mmdyn("probe", "completion", two.folder, *who)
    assert (done.returncode, done.stderr) == (
        2, "mmdyn: two has 0 questions that can be asked so, 10 are needed; 2 too short to be cut\n",
    )  # fmt: skip
    done = mmdyn("probe", "options", two.folder, *who)
    assert (
        done.returncode == 2
        and "two has 0 questions that can be asked so, 10 are needed; 2 without a wrong" in done.stderr
    )
    assert mmdyn("probe", "options", two.folder, *who, "--questions", "0").returncode == 2


def test_questions_that_need_their_pictures_are_left_out(tmp_path: Path) -> None:
    shown = [blank(f"p{n}", question="<image 1>", images=(image_ref(picture()),)) for n in range(3)]
    words = [open_ended(f"q{n}", question=text) for n, text in enumerate(texts("en", 12))]
    data = write_set(tmp_path / "set", [*shown, *words], "exam", images=[picture()])
    asked = Completion().choose(data, ())
    assert (len(asked.design.items), asked.design.left_out) == (12, {"that cannot be asked without pictures": 3})
    first = {item.sample for item in Completion(questions=10).choose(data, ()).design.items}
    assert first < {item.sample for item in asked.design.items}
    assert len(asked.jobs) == 24 and len({job.prompt for job in asked.jobs.values()}) == 24
    assert all(("set exam" in job.prompt) == job.named for job in asked.jobs.values())


@pytest.mark.parametrize(("question", "cut"), [
    ("One two three four five six seven eight nine ten, eleven twelve.", "too short to be cut"),
    (" ".join(f"w{n}" for n in range(20)), "w10 w11"),
    (" ".join([*(f"a{n}" for n in range(9)), r"$\frac{a + b + c}{d + e + f}$", *(f"b{n}" for n in range(14))]), "b"),
    ("如图所示，在一个长方形的水池里有一条小船，小船从左岸出发，经过三分钟到达右岸。", ""),
])  # fmt: skip
def test_questions_are_cut_before_a_word(question: str, cut: str) -> None:
    found = halves_of(open_ended(question=question))
    if isinstance(found, str):
        assert found == cut
        return
    first, second = found
    assert question.startswith(first) and question.endswith(second) and second.startswith(cut)
    assert first.count("$") % 2 == second.count("$") % 2 == 0


def test_long_questions_are_cut_off() -> None:
    first, second = halves_of(open_ended(question=" ".join(f"word{n}" for n in range(500))))
    assert len(first.split()) == len(second.split()) == 60


def test_endings_and_beginnings_that_give_the_rest_away_are_left_out(tmp_path: Path) -> None:
    own = texts("en", 12)
    alike = [
        f"Tell: {' '.join(f'v{n}{k}' for k in range(12))} which of all these many claims here is then quite true?"
        for n in range(5)
    ]
    echo = "round the rugged rock the ragged rascal ran and ran and " * 2
    data = write_set(
        tmp_path / "set", [open_ended(f"q{n}", question=text) for n, text in enumerate([*own, *alike, echo])]
    )
    left_out = Completion().choose(data, ()).design.left_out
    assert left_out == {"with an end that others have, too": 5, "with a second half in the words of the first": 1}


WORDY = ("a green kettle", "the old harbour", "some tall trees", "this cold winter")


@pytest.mark.parametrize(("texts", "free"), [
    (WORDY, [0, 2, 3]),
    (("1", "2", "3", "4"), []),
    (("in 1917", "in 1918", "in 1919", "in 1920"), []),
    (("three sides", "four", "five", "six"), []),
    ((*WORDY[:3], "None of the above"), [0, 2]),
    ((*WORDY[:3], "A and B"), [0, 2]),
    ((*WORDY[:2], "the old kettle", "this cold winter"), [0, 3]),
    (("$x$", "$y$", "$z$", "It cannot be determined"), []),
    (("Yes", "No", "Both", "Cannot tell"), [3]),
    (("审判程序缺乏公正性", "不重视私有财产的保护", "法律具有形式主义特征", "以上都不对"), [0, 2]),
    ((*WORDY[:3], "known to all"), [0, 2]),
])  # fmt: skip
def test_wrong_options_that_cannot_be_guessed(texts: tuple[str, ...], free: list[int]) -> None:
    told = dict.fromkeys(map(fold, texts), 1) | {"known to all": 2}
    assert free_options(choice("c", "B", texts, question="What stands there?"), told) == free


def test_masked_options_are_asked_in_another_order(run: RunFolder) -> None:
    from mmdyn.data import SampleSet

    source = SampleSet(run.folder.parent / "set")
    asked, by_id = Options().choose(source, ()), {sample.id: sample for sample in source}
    orders = set[tuple[int, ...]]()
    for item in asked.design.items:
        published = [option.text for option in by_id[item.sample].options]
        shown = [line.partition(". ")[2] for line in item.shown.splitlines()[-4:]]
        assert item.hidden != published[1] and item.hidden not in item.shown and shown.count("[MISSING]") == 1
        orders.add(tuple(published.index(item.hidden if text == "[MISSING]" else text) for text in shown))
    assert len(orders) > 10
    other = Options(seed=1).choose(source, ()).design
    assert other.id != asked.design.id and {one.hidden for one in other.items} != {
        one.hidden for one in asked.design.items
    }


@pytest.mark.parametrize(("reply", "value"), [
    ("a green kettle", 1), ("A green kettle.", 1), ("C. a green kettle", 1), ("**B.** A green kettle", 1),
    ("The missing option is:\n\na green kettle", 1), ("a green pot", 0), ("kettle", 0), ("", 0),
    ("a green kettle or a red one", 0),
])  # fmt: skip
def test_what_names_an_option(reply: str, value: int) -> None:
    item = RecallItem("q", "q", "q", "en", "exam", "Which? [MISSING]", "a green kettle")
    assert names_option(item, reply) == value


def test_a_reply_counts_beyond_what_it_shares_with_others() -> None:
    items = tuple(
        RecallItem(f"q{n}", f"q{n}", f"q{n}", "en", "exam", f"begin {n}", f"a{n} b{n} c{n} so it is") for n in range(3)
    )
    value = beyond_others(RecallDesign("exam", "d", items, {}))
    assert value(items[0], "a0 b0 c0 so it is") == 1 - 0.5
    assert value(items[0], "begin 0 a0 b0 c0 so it is") == 0.5  # the beginning is repeated first
    assert value(items[0], "x y z so it is") == 0
    assert shared_words(["one", "two"], ["one", "two", "three", "four"]) == 0.5


def test_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 sets 2.5 % are meant; the whole table stands in docs/appendix/memory.md."""
    bench = load_bench("recalling")
    for kind in ("fluent", "style", "endings", "copies"):
        assert bench.alarms(kind, 20, 200)[0] <= 0.05, kind
    assert bench.alarms("remembers 0.6", 20, 20)[0] > 0.9
