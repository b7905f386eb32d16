"""Whether replies follow instructions, by our rules and by lm-eval's, kind by kind, strictly and loosely.

    pip install --no-deps lm_eval==0.4.13 && pip install immutabledict langdetect nltk packaging
    python -m nltk.downloader punkt_tab
    python bench/instructions.py                 # a table: replies, verdicts, and verdicts that differ
    python bench/instructions.py --show          # and each reply on which they differ

Replies are constructed near each border (as many words as are asked for, one more, one less), or are real ones and
statements from ../shared/data; each is also judged in capitals, in small letters, in a frame of two lines, in bold, in
a fence, in quotation marks and as bullets.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import types
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mmdyn.text import followed, spell_instruction

DATA = Path(__file__).parents[2] / "shared" / "data"
LEAST, MOST = 6, 400

MADE = (
    "The war ended in 1918. Peace came at last, and the warriors went home.",
    "War. WAR! warlike; post-war, unwarranted - the word war stands here five or six times.",
    "Peace, not a c++ program. U.S. forces left Mr. Smith's house at 5 p.m. The end.",
    "Dr. Jones et al. (2019) found 3.5 errors per page... Why? Nobody knows!",
    'He said "Stop!" She left. "Why?" he asked.',
    "1. First point\n2. Second point\n3. Third point",
    "* one\n* two\n* three",
    "- one\n- two\n* three\n** four **\n*five*",
    "  * indented\n\t- with a tab\n*no space\n---\n*",
    "*alpha* and **beta** and ***gamma*** and * delta * and ** **",
    "**Bold title**\n\nSome *highlighted section* here.\n\n*another\nbroken* one",
    "First paragraph.\n***\nSecond paragraph.\n***\nThird paragraph.",
    "***\nFirst paragraph.\n***\nSecond paragraph.\n***",
    "First.\n***\n***\nSecond.",
    "First ****** Second",
    "First answer\n******\nSecond answer",
    "Same answer\n******\nSame answer",
    "******\nFirst answer\n******\nSecond answer\n******",
    "One\n******\nTwo\n******\nThree",
    "Weekend plans are fun.\n\nWe go out.\n\nThen we sleep.\n\nThe end.",
    '"Weekend," she said.\n\nIt rained.',
    "One.\n\n\n\nWeekend it is.",
    "'Weekend' is a word\n\nweekend!\n\nweekend-long",
    "Dear [name],\n\nyour [order number] will come to [address].\n[signature]",
    "[a][b] [ ] [] [nested [inner] outer] [broken\nline]",
    "Text.\n\nP.S. I love you.",
    "Text.\n\nP.P.S I love you.\np. s. small",
    "Text. p.p.s. more\nPS: none",
    "P. S. spaced\nP. P. S. spaced",
    '{"answer": [1, 2, {"b": null}]}',
    '```json\n{"answer": 42}\n```',
    "```JSON\n[1, 2, 3]\n```\n",
    '```\n"just a text"\n```',
    'Sure! Here is the JSON:\n```json\n{"answer": 42}\n```',
    "{'answer': 42}",
    "42",
    "NaN",
    "<<Poem of Joy>>\nRoses are red.",
    "<<>>\n<< >>\n<<\nno>>",
    "<<<triple>>> and <<a>> <<b>>",
    "<single>",
    "Section 1\nalpha\nSection 2\nbeta\nSection3\ngamma",
    "SECTION 1: alpha\nsection 2: beta\nSECTION X: gamma",
    "My answer is yes.",
    "I would say: My answer is maybe. Perhaps.",
    "my answer is no.",
    "My answer is no",
    "NASA and the U.S. sent COVID-19 tests; I'M SURE, it's OK. A B-52 (USAF)... DON'T!",
    "AT&T paid $5 to IBM/HP: GO! X:Y 3:A CANNOT **BOLD** _UP_ 'QUOTED' \"HI\"",
    '"Everything is quoted."',
    '"Only the beginning is quoted',
    '"',
    '""',
    "“Curly quotes are others.”",
    "Is there anything else I can help with?",
    'Yes it is. Is there anything else I can help with?"',
    "Is there anything else I can help with? No.",
    "Write a poem about war. Here it comes: Roses are red.",
    "write a poem about WAR.\n\nHere it comes.",
    "Sure.\nWrite a poem about war.\nHere it comes.",
    "今天天气很好，我们去公园吧。那里有很多花。",
    "中文，没有英文逗号",
    "Hola, me llamo Ana y vivo en Madrid con mi familia desde hace muchos años.",
    "Bonjour, je m'appelle Anne et j'habite à Paris avec toute ma famille depuis dix ans.",
    "Guten Tag, ich heiße Anna und wohne mit meiner Familie seit zehn Jahren in Berlin.",
    "नमस्ते, मेरा नाम आना है और मैं अपने परिवार के साथ दिल्ली में रहती हूँ।",
    "ನಮಸ್ಕಾರ, ನನ್ನ ಹೆಸರು ಅನಾ, ನಾನು ನನ್ನ ಕುಟುಂಬದೊಂದಿಗೆ ಬೆಂಗಳೂರಿನಲ್ಲಿ ವಾಸಿಸುತ್ತೇನೆ.",
    "Здравствуйте, меня зовут Анна, и я уже десять лет живу в Москве со своей семьёй.",
    "안녕하세요, 제 이름은 안나이고 가족과 함께 서울에 살고 있습니다.",
    "Habari, jina langu ni Anna na ninaishi Nairobi na familia yangu kwa miaka mingi.",
    "",
    " \n\n ",
    "...",
    "One line only",
    "Heading\n=======\n\n# Title\n\nSome text, with a comma.",
    "a,b",
    "１，２，３ full-width，commas",
    "No commas here\nNone there",
    "intro, with a comma\nclean body\noutro, with a comma",
    "<think>hm, let me see</think>No commas",
    "Line one.\r\nLine two.\r\n\r\nLine three.",
    "Emoji 😀 and café naïve façade — dash… ellipsis",
)

GIVEN: dict[str, list[dict[str, Any]]] = {
    "keywords:existence": [{"keywords": ["war"]}, {"keywords": ["Peace", "end"]}, {"keywords": ["answer"]}],
    "keywords:forbidden_words": [{"forbidden_words": ["war"]}, {"forbidden_words": ["the", "answer"]}],
    "language:response_language": [{"language": code} for code in ("en", "es", "hi")],
    "detectable_content:postscript": [{"postscript_marker": mark} for mark in ("P.S.", "P.P.S", "PS:")],
    "detectable_format:multiple_sections": [
        {"section_spliter": mark, "num_sections": n} for mark in ("Section", "SECTION") for n in (1, 2, 3)
    ],
    "length_constraints:nth_paragraph_first_word": [
        {"num_paragraphs": n, "nth_paragraph": nth, "first_word": word}
        for n in (1, 2, 3, 4)
        for nth in (1, 2, 4)
        for word in ("weekend", "the", "I")
        if nth <= n
    ],
    "combination:repeat_prompt": [{"prompt_to_repeat": text} for text in ("Write a poem about war.", "The", "“")],
    "startend:end_checker": [
        {"end_phrase": text} for text in ("Is there anything else I can help with?", ".", "The end.", "fi")
    ],
    "detectable_format:constrained_response": [{}],
    "detectable_format:json_format": [{}],
    "detectable_format:title": [{}],
    "combination:two_responses": [{}],
    "startend:quotation": [{}],
    "change_case:english_capital": [{}],
    "change_case:english_lowercase": [{}],
    "punctuation:no_comma": [{}],
}
COUNTED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "keywords:frequency": ("frequency", "relation", {"keyword": "the"}),
    "keywords:letter_frequency": ("let_frequency", "let_relation", {"letter": "e"}),
    "length_constraints:number_sentences": ("num_sentences", "relation", {}),
    "length_constraints:number_words": ("num_words", "relation", {}),
    "change_case:capital_word_frequency": ("capital_frequency", "capital_relation", {}),
    "length_constraints:number_paragraphs": ("num_paragraphs", "", {}),
    "detectable_content:number_placeholders": ("num_placeholders", "", {}),
    "detectable_format:number_bullet_lists": ("num_bullets", "", {}),
    "detectable_format:number_highlighted_sections": ("num_highlights", "", {}),
}
"""What a kind counts, its relation, and what else it gives. The number is put around what a reply has."""

EXACT = {"length_constraints:number_paragraphs", "detectable_format:number_bullet_lists"}
"""The kinds that want a number exactly; the others at least as many."""


def checker() -> Any:
    """lm-eval's checker, without what the other tasks of its package need."""
    found = importlib.util.find_spec("lm_eval")
    if found is None or found.origin is None:
        raise SystemExit("lm_eval is needed for this: see the first lines of bench/instructions.py")
    for name in ("lm_eval", "lm_eval.tasks"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(Path(found.origin).parent.joinpath(*name.split(".")[1:]))]
    from langdetect import DetectorFactory
    from lm_eval.tasks.ifeval import utils

    DetectorFactory.seed = 0
    return utils


def texts() -> list[str]:
    """The replies that are framed."""
    real = list[str]()
    for name, key in (("wild-replies/dev/replies", "response"), ("statements/dev/creak", "sentence")):
        rows = (DATA / f"{name}.jsonl").read_text("utf-8").splitlines() if DATA.is_dir() else []
        real += [str(json.loads(row)[key]) for row in rows]
    for name in ("partial-credit-human/dev", "acadreason/dev", "scienceqa-prefix/dev"):
        for file in sorted((DATA / name).glob("*.jsonl")):
            for row in file.read_text("utf-8").splitlines():
                real += [text for text in json.loads(row).values() if isinstance(text, str)]
    real = [text for text in dict.fromkeys(real) if LEAST <= len(text.split()) <= MOST]
    random.Random(1).shuffle(real)
    return [*MADE, *real[:60]]


def framed(text: str) -> Iterator[str]:
    """A reply as it is, and in other forms."""
    yield text
    yield from (text.upper(), text.lower(), f'"{text}"', f"```json\n{json.dumps({'answer': text})}\n```")
    yield f"Sure, here it is:\n{text}\nI hope, that helps!"
    yield f"**{text}**"
    yield "\n".join(f"* {line}" for line in text.splitlines())


def asked(kind: str, text: str) -> Iterator[dict[str, Any]]:
    """What instructions of a kind give, for a reply."""
    if kind in GIVEN:
        yield from GIVEN[kind]
        return
    number, relation, more = COUNTED[kind]
    way = {relation: "at least"} if relation else {}

    def meets(n: int) -> bool:
        return n > 0 and followed([spell_instruction(kind, {number: n, **way, **more})], text)[0] == 1

    if kind in EXACT:
        border = next((n for n in range(1, 40) if meets(n)), 1)
    else:
        border = bisect(range(1, 9999), False, key=lambda n: not meets(n))
    for n in {border - 1, border, border + 1} - {0, -1}:
        for told in ("at least", "less than") if relation else ("",):
            yield {number: n, **({relation: told} if relation else {}), **more}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print each reply on which verdicts differ")
    parser.add_argument("kinds", nargs="*", default=sorted((*GIVEN, *COUNTED)), help="the kinds; all by default")
    args, theirs, every = parser.parse_args(), checker(), texts()
    print("| kind | replies | verdicts | followed | strict differ | loose differ |\n|---|---|---|---|---|---|")
    for kind in args.kinds:
        counts, replies = Counter[str](), list(dict.fromkeys(reply for text in every for reply in framed(text)))
        for reply in replies:
            for given in asked(kind, reply):
                row = theirs.InputExample(0, [kind], "", [given])
                strict = theirs.test_instruction_following_strict(row, reply).follow_all_instructions
                loose = theirs.test_instruction_following_loose(row, reply).follow_all_instructions
                (ours,) = followed([spell_instruction(kind, given)], reply)
                counts.update(verdicts=1, followed=ours == 1, strict=(ours == 1) != strict, loose=(ours > 0) != loose)
                if args.show and (ours == 1, ours > 0) != (strict, loose):
                    print(f"{kind} {given} ours {ours} theirs {strict} {loose}: {reply[:300]!r}", file=sys.stderr)
        numbers = (counts[name] for name in ("verdicts", "followed", "strict", "loose"))
        print(f"| `{kind}` | {len(replies):,} | " + " | ".join(f"{number:,}" for number in numbers) + " |", flush=True)


if __name__ == "__main__":
    main()
