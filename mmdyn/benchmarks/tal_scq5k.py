"""TAL-SCQ5K: school mathematics in English and Chinese, text only, with routes to knowledge points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.data import KnowledgePoint
from mmdyn.sample import Language, Sample
from mmdyn.text import read_letters, read_options

_DIFFICULTY = {0: "easy", 1: "easy", 2: "medium", 3: "hard", 4: "hard"}
_NAME = re.compile(r"(prime|mid|high)_.*_(en|ch)_")
_GRADES = {"prime": "primary", "mid": "middle", "high": "high"}
_LANGUAGES: dict[str, Language] = {"en": "en", "ch": "zh"}


class _Choice(Struct, rename={"label": "aoVal", "text": "content"}):
    label: str
    text: str


class _Question(Struct, rename={"id": "queId", "set": "dataset_name", "options": "answer_option_list"}):
    id: str
    set: str
    difficulty: str
    problem: str
    options: list[list[_Choice]]
    answer_value: str
    knowledge_point_routes: list[str] = []
    answer_analysis: list[str] = []


class TalScq5k(Benchmark[_Question]):
    r"""TAL-SCQ5K (TAL Education 2023; github.com/math-eval/TAL-SCQ5K; MIT).

    Reads `en.jsonl` and `ch.jsonl`, or the release: the parts `train_3K` and `test_2K` in a folder a language. The end
    of each route `a->b->c` is a knowledge point, what leads to it its route. Difficulty 0 and 1 are easy, 2 medium, 3
    and 4 hard; `level` keeps the number. `grade` is primary, middle or high.

    The words went through a converter, whose traces are taken out: control words for characters (`\textless{}`,
    `\textquotesingle`, `\textbackslash`, …) become the characters; `\uline{~~~~}` becomes `____`; `~` a space; two
    spaces between words a new line; bold, emphasis and zero spaces go; escapes outside formulas (`\%`) and TeX quotes
    are written plainly. Formulas keep their `$` and `$$`.
    """

    name = "tal_scq5k"
    contrasts = ("context", "style")
    row = _Question
    files = ("en.jsonl", "ch.jsonl")
    published = (tuple(f"{code}_single_choice_constructed_5K/{code}_single_choice_*.jsonl" for code in ("en", "ch")),)

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """Each route once, in the order of the questions; the points have no texts. Bad rows bring none."""
        known: set[tuple[str, ...]] = set()
        for row in self.rows(source):
            with suppress(ValueError):
                for route in map(_route, row.knowledge_point_routes):
                    if route not in known:
                        known.add(route)
                        yield KnowledgePoint(route[-1], route=route[:-1])

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        name = _NAME.match(row.set)
        if not name:
            raise ValueError(
                f"dataset_name {row.set[:60]!r} does not tell grade and language (prime_…_en_…): correct it"
            )
        if not row.difficulty.isdigit() or int(row.difficulty) not in _DIFFICULTY:
            raise ValueError(f"the difficulty {row.difficulty[:20]!r} is not one of 0 to 4: correct it")
        if any(len(choice) != 1 for choice in row.options):
            raise ValueError("answer_option_list holds a list that is not of one option: write [[{…}], [{…}]]")
        choices = [choice[0] for choice in row.options]
        options, mended = read_options([_clean(one.text) for one in choices], [one.label for one in choices])
        answer = read_letters(row.answer_value, options)
        return Sample(
            id=sample_id("tal_scq5k", name[2], row.id),
            question=_clean(row.problem),
            task_type=choice_type(options, answer),
            answer=answer,
            language=_LANGUAGES[name[2]],
            options=options,
            fields={
                "discipline": "math",
                "grade": _GRADES[name[1]],
                "level": int(row.difficulty),
                "difficulty": _DIFFICULTY[int(row.difficulty)],
                "modality": "text",
            },
            knowledge_points=tuple(dict.fromkeys(_route(route)[-1] for route in row.knowledge_point_routes)),
            explanation="\n\n".join(_clean(re.sub(r"</?p>", " ", text)) for text in row.answer_analysis).strip(),
            meta=noted(mended, row.answer_value, answer),
        )


def _route(text: str) -> tuple[str, ...]:
    route = tuple(part.strip() for part in text.split("->"))
    if not all(route):
        raise ValueError(f"the route {text[:60]!r} has an empty level: write a->b->c")
    return route


_FORMULA = re.compile(r"(\$\$(?:\\.|[^$\\])*\$\$|\$(?:\\.|[^$\\])*\$)", re.DOTALL)
_EVERYWHERE = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(\${1,2})\s*(?:\\textasciitilde\s*)+\1", " "),
        (r"\\textbackslash(?=\\[%#])", ""),
        (r"\\textbackslash\\textbackslash(?:\{\})?", r"\\\\"),
        (r"\\textbackslash(?:\{\})?", r"\\"),
        (r"\\textquotesingle(?:\{\}| )?", "'"),
        (r"\\textless(?:\{\}| )?", "<"),
        (r"\\textgreater(?:\{\}| )?", ">"),
        (r"\\textbar(?:\{\}| )?", "|"),
        (r"\\textasciitilde(?:\{\})?", "~"),
        (r"\\uline\{[~\s]*\}", "____"),
        (r"\\hspace\{0pt\}", ""),
        (r"\\text(?:super|sub)script\{([A-Za-z~]*)\}", r"\1"),
        (r"\\textsuperscript\{(\d+)\}", r"$^{\1}$"),
        (r"\\(?:textbf|emph|uline)\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", r"\1"),
    )
)
_IN_WORDS = (("``", "“"), ("''", "”"), ("\\/", ""), ("\\%", "%"), ("\\#", "#"), ("\\&", "&"), ("\\_", "_"))


def _clean(text: str) -> str:
    """The set's words without their converter's traces; see `TalScq5k`."""
    for pattern, new in _EVERYWHERE:
        text = pattern.sub(new, text)
    parts = _FORMULA.split(text)
    parts[::2] = [_plain(words) for words in parts[::2]]
    parts[1::2] = [re.sub(r"(?:\\\s+){2,}", r"\\quad ", formula.replace("~", " ")) for formula in parts[1::2]]
    return "\n".join(line.strip() for line in "".join(parts).splitlines()).strip()


def _plain(words: str) -> str:
    """What stands between formulas."""
    for old, new in _IN_WORDS:
        words = words.replace(old, new)
    words = re.sub(r"\\ldots(?:\{\})?", "…", words)
    words = re.sub(r"(?<![（( ]) {2,}+(?![）)])", "\n", words)
    return re.sub(r"[ \t~]+", " ", words)
