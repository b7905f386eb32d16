"""SceMQA: college-entrance-level science questions with pictures, in English."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.data import IMAGE_SUFFIXES, RawRow
from mmdyn.sample import Answer, Option, Sample
from mmdyn.text import leading_labels, options_are_letters, split_options

_SHORT = 40
"""A free answer of more characters is open_ended rather than a blank."""

_DISCIPLINES = {"Biology": "biology", "Chemistry": "chemistry", "Math": "math", "Physics": "physics"}
_ANSWER = re.compile(r"\s*\\(?:answer|boxed)\s*\{")
_BARE = re.compile(
    r"\s*(?i:(?:the\s+)?(?:final\s+)?answer(?:\s+is)?\s*[:：]?\s*)?(?:\*\*([^*\n]+)\*\*"
    r"|(\$[^$\n]+\$|[-+−]?\d[\d.,]*(?:e[-+]?\d+)?)(?=\s*$|\s*\n|\.?\s+(?:[A-Z][a-z']{2,}\W|\$\$))"
    r"|([A-Z]|Yes|No)(?=\s*$|\.\s*[A-Z][a-z']+\W|(?<=[so])\s+[A-Z]))[.,:]?\s*"
)
"""An answer that is not marked as one and can be nothing else: it is bold, all there is, or before a sentence."""

_SECOND = re.compile(r"\*\*|(?i:answer\b)")
_MISREAD = re.compile(r"[\xc2-\xf4][\x80-\xbf]+")


class _Question(Struct):
    id: str
    type: str
    subject: str
    question: str = field(name="Question")
    answer: str = field(name="Answer (final answer highlighted)")
    image: str
    category: str = ""


class Scemqa(Benchmark[_Question]):
    """SceMQA (Liang et al. 2024, arXiv:2402.05138; github.com/SceMQA/SceMQA; Apache-2.0).

    Reads `questions.jsonl` beside `images/`, or the release: `Multiple_Choice/multiple_choice.json` and
    `Free_Response/free_response.json`, each with a list a subject beside its pictures. Multiple_Choice: options are
    taken off the stem's end, and the answer is the letter that the answer text begins with. Free_Response: the
    `\\answer{…}` that begins it is one blank (several of them are accepted alternatives), or open_ended where it is
    long. The rest of the answer text is the explanation. Letters that were read in a wrong encoding (`50 Î©`) are
    mended. Questions with the same picture share a `group`.
    """

    name = "scemqa"
    contrasts = ("variant", "style")
    pictures = ("images", "")
    row = _Question
    published = (("Multiple_Choice/multiple_choice.json", "Free_Response/free_response.json"),)

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """A row of the release is called by its file, subject and place; its picture's name lacks the ending."""
        if not raw.section or "ImagePath" not in raw.values:
            return raw.values
        kind, path = raw.file.stem.title(), raw.values["ImagePath"]
        names = [f"{path}.{suffix}" for suffix in IMAGE_SUFFIXES.values()]
        image = next((name for name in names if (raw.file.parent / name).is_file()), f"{path}.jpg")
        id = f"{kind}-{raw.section}-{raw.place}"
        return {**raw.values, "id": id, "type": kind, "subject": raw.section, "image": image}

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        discipline = _DISCIPLINES.get(row.subject.split("_")[0])
        if discipline is None:
            raise ValueError(f"the subject {row.subject[:40]!r} is none of the set's: correct it")
        text = re.sub(r"^\s*Question: \d+\s*\n", "", _mend(row.question))
        options: tuple[Option, ...] = ()
        mended: tuple[str, ...] = ()
        said, led = _mend(row.answer), ""
        if row.type == "Multiple_Choice":
            text, options, mended = split_options(text)
            kind, answer, explanation = _choice(options, said)
            led = said.rstrip().removesuffix(explanation)
        elif row.type == "Free_Response":
            kind, answer, explanation = _free(said)
            mended = () if _ANSWER.match(said) else ("The answer stood without \\answer{…}.",)
        else:
            raise ValueError(f"the type {row.type[:40]!r} is neither Multiple_Choice nor Free_Response: correct it")
        in_image = options_are_letters(options)
        picture = put(row.image)
        fields: dict[str, str | int | float] = {"discipline": discipline, "modality": "multimodal"}
        return Sample(
            id=sample_id("scemqa", row.id),
            question=text.strip(),
            task_type=kind,
            answer=answer,
            options=tuple(Option(option.label) for option in options) if in_image else options,
            options_in_image=in_image,
            images=(picture,),
            group=f"scemqa-{Path(picture).stem[:16]}",
            fields=fields | ({"category": row.category} if row.category.strip() else {}),
            explanation=explanation,
            meta=noted(mended, led, [str(part) for part in answer] if options and isinstance(answer, tuple) else ()),
        )


def _choice(options: tuple[Option, ...], text: str) -> tuple[str, Answer, str]:
    if not options:
        raise ValueError("a Multiple_Choice without options in its text: write A. …, B. …, each on a line of its own")
    found = leading_labels(text)
    if not found:
        raise ValueError(
            f"the answer {text.strip()[:40]!r} does not begin with an option's letter: begin it with `C: `"
        )
    labels, explanation = found
    return choice_type(options, labels), labels, explanation


def _free(text: str) -> tuple[str, Answer, str]:
    accepted: list[str] = []
    while found := _ANSWER.match(text):
        end = _closing(text, found.end())
        accepted.append(text[found.end() : end].strip())
        text = text[end + 1 :]
    bare = None if accepted else _BARE.match(text)
    if bare and not _SECOND.match(text, bare.end()):
        accepted, text = [next(filter(None, bare.groups())).strip()], text[bare.end() :]
    if not accepted or not all(accepted):
        raise ValueError("a Free_Response whose answer does not begin with \\answer{…}: begin it so")
    explanation = text.lstrip(" .,:").strip()
    if max(map(len, accepted)) > _SHORT:
        return "open_ended", " / ".join(accepted), explanation
    return "fill_in_the_blank", (tuple(dict.fromkeys(accepted)),), explanation


def _closing(text: str, start: int) -> int:
    """Where the brace that was opened before `start` is closed. Raises ValueError."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return at
    raise ValueError("the brace of \\answer{… is never closed: close it")


def _mend(text: str) -> str:
    """Characters whose UTF-8 bytes were read as Latin-1, put right."""

    def decode(found: re.Match[str]) -> str:
        try:
            return found[0].encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return found[0]

    return _MISREAD.sub(decode, text.replace("\r\n", "\n"))
