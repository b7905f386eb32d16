"""The run folder: run.json (what was asked for, never a key or token) and the store of records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from mmdyn.context import NONE
from mmdyn.data import ChainStrength, Role, check_finished, read_json_file
from mmdyn.errors import InputError, no_such_path
from mmdyn.html import html_table
from mmdyn.keys import Json, canonical
from mmdyn.record import Condition, Record, Reply, Score
from mmdyn.sample import from_json
from mmdyn.work.store import Reader

FEW = 5
"""Replies of which nothing is said yet."""
MOST = 200
"""Requests with and without pictures that are set against each other."""
DIFFERENT = 3
"""Prompts of different lengths that are counted alike where they were cut, at least."""
SHORTEST_CUT = 500
"""Tokens that no server cuts prompts to; counts of shorter ones are equal by chance."""
LONGER, DIFFERING = 1.3, 1.05
"""How many times as long as it was counted the longest of some prompts should be, and as long as the shortest of them,
where they were cut."""
LEAST_PICTURE = 8
"""Tokens that a picture takes at least."""
SHORT_TEXT = 150
"""Tokens of a text up to which an estimate of them is out by fewer than a picture takes."""


class CacheUse(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How many of some `replies` came from the cache, and on which days (UTC) the `first` and the `last` of those were
    made."""

    replies: int = 0
    cached: int = 0
    first: str = ""
    last: str = ""

    def add(self, reply: Reply) -> None:
        """Count a reply; an error is none."""
        self.replies += not reply.error
        if reply.cached:
            day = datetime.fromtimestamp(reply.made, UTC).date().isoformat()
            self.cached += 1
            self.first, self.last = min(self.first or day, day), max(self.last, day)

    def __str__(self) -> str:
        """Such as `12 of 40 replies from the cache, made on 2026-11-02`; empty where none is."""
        if not self.cached:
            return ""
        days = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.cached} of {self.replies} replies from the cache, made on {days}"


class ReplyTally:
    """The replies of one model, counted as they come. models, fingerprints (attributes): what the server said that they
    are of."""

    def __init__(self) -> None:
        self.models, self.fingerprints = Counter[str](), Counter[str]()
        self._answered = self._kept = 0
        self._estimates = defaultdict[int, set[int]](set)
        """Of the tokens of prompts' texts, by the tokens that the server counted."""
        self._text, self._seen = list[tuple[int, int]](), list[tuple[int, int, int]]()
        """Estimates and counts of requests without pictures; and with some, how many they are first."""

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        if reply.answered_by:
            self.models[reply.answered_by] += 1
        if reply.fingerprint:
            self.fingerprints[reply.fingerprint] += 1
        if reply.finish_reason not in ("length", "likelihood"):
            self._answered += bool(reply.text.strip())
            self._kept += bool(reply.reasoning and not reply.text.strip())
        if (counted := reply.usage.prompt_tokens) and (estimate := reply.estimate):
            self._estimates[counted].add(estimate)
            if reply.image_count and len(self._seen) < MOST:
                self._seen.append((reply.image_count, estimate, counted))
            elif not reply.image_count and len(self._text) < MOST:
                self._text.append((estimate, counted))

    def doubts(self) -> Iterator[str]:
        """What the server seems to have done with the requests, in a sentence each."""
        most = max(self._estimates, default=0)
        if (should := self._should_be(most)) >= LONGER * most > 0:
            yield (
                f"prompts seem cut to {most:,} tokens: {len(self._estimates[most])} of different lengths are so long,"
                f" of which one should have about {should:,.0f}; give the server a longer context"
            )
        elif self._is_unread():
            yield (
                "pictures seem not to have been read: the server counted as many tokens with as without; see that the"
                " model behind it sees"
            )
        if self._kept >= FEW and not self._answered:
            yield (
                f"the server's reasoning parser kept the answer: all {self._kept} replies are empty beside their"
                " reasoning; start the server without the parser, or with the model's own"
            )

    def _should_be(self, most: int) -> float:
        """How many tokens the longest prompt should have, by what shorter ones have, where different ones are counted
        as `most`; else 0."""
        estimates = self._estimates.get(most, set())
        if most < SHORTEST_CUT or len(estimates) < DIFFERENT or max(estimates) < DIFFERING * min(estimates):
            return 0.0
        shorter = [(estimate, counted) for estimate, counted in self._text if counted < most]
        return max(estimates) * (sum(p for _, p in shorter) / sum(e for e, _ in shorter) if shorter else 1.0)

    def _is_unread(self) -> bool:
        """Whether requests with pictures are counted as their texts alone would be: by those of the same model that
        have none, where there are some of about that length, else by the estimate, where the texts are short."""
        if len(self._seen) < FEW:
            return False
        pictures, length, counted = (fmean(column) for column in zip(*self._seen, strict=True))
        lengths, counts = zip(*self._text, strict=True) if self._text else ((), ())
        if len(lengths) >= FEW and fmean(lengths) / 2 <= length <= fmean(lengths) * 2:
            alike = max(lengths) < 1.2 * min(lengths)
            slope, start = (fmean(counts) / fmean(lengths), 0.0) if alike else linear_regression(lengths, counts)
            expected = start + slope * length
        elif length <= SHORT_TEXT:
            expected = length
        else:
            return False
        return counted - expected < LEAST_PICTURE * pictures


RUN, COMPARISON = "run.json", "compare.json"
"""What a folder holds that a run, or a comparison, was made in."""
SCHEMA = 1
RECORD, FAILURE, SAMPLE, EXPANSION, FOUND = "record", "failure", "sample", "expansion", "found"
"""The store's kinds. `found`: the ids of the points that were looked up for a sample, the best first."""
ANSWERED_NOW = "@"
"""What parts a record's key from the digest of the sample that it is scored by, where that one has another golden
answer than was asked with."""


class RecordSource(Protocol):
    """An opened store, for reading alone or for writing too."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        ...


class Expansion(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model (by its label) wrote on knowledge points before it was shown the question; by its request's key and
    its text's digest beside the records."""

    model: str
    reply: Reply


class SetEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A set of a run: `root` is the standard set's name, `folder` an absolute path or one relative to the run.

    digest: as it was asked. answers: of the golden answers that the scores are against, where these are others than
        were asked with. strength: of its variants, by chain, with the chain's role. factors, design: of a set made
        with --factorial, the chains whose subsets are in it, and which (`mmdyn.stats.design_forms` with the set's
        `seed`).
    """

    name: str
    root: str
    folder: str
    digest: str
    answers: str = ""
    strength: dict[str, ChainStrength] = {}
    factors: tuple[str, ...] = ()
    design: str = ""
    seed: int = 0


Served: TypeAlias = dict[str, tuple[dict[str, Json], ...]]
"""What servers listed of models, by the models' names, each entry once in a row."""


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A model of a run: how reports name it, and what of it went into the requests' keys."""

    label: str
    identity: dict[str, Json]


class JudgeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge of a run: how reports name it, its id, and all of it that decides its verdicts."""

    label: str
    id: str
    identity: Json

    @property
    def rubrics(self) -> tuple[str, ...]:
        """The names of the rubrics that it goes by, one for a sample."""
        rubrics = self.identity.get("rubrics") if isinstance(self.identity, dict) else None
        return tuple(rubrics) if isinstance(rubrics, dict) else ()

    @property
    def name(self) -> str:
        """The label with what else tells judges apart, such as `openai:x, match, 3 votes (6438ebdf)`."""
        parts = [self.label, *(["auto"] if len(self.rubrics) > 1 else self.rubrics)]
        if isinstance(self.identity, dict):
            votes = self.identity.get("votes")
            parts += [f"{votes} votes"] if isinstance(votes, int) and votes > 1 else []
            parts += ["pictures"] if self.identity.get("pictures") else []
        return f"{', '.join(parts)} ({self.id})"


class Scoring(Struct, frozen=True, forbid_unknown_fields=True):
    """Scores by their scorer's name, and the judges whose verdicts they are made of; `judge_mode` is a Cascade's."""

    scorer: str
    judges: tuple[JudgeEntry, ...] = ()
    judge_mode: str = ""

    @property
    def rules(self) -> str:
        """The name of the scores by rules alone that these are made of."""
        return self.scorer.partition("+")[0]

    @property
    def policy(self) -> str:
        """The policy or metric of these rules."""
        return self.rules.partition("@")[0]

    def __str__(self) -> str:
        return f"{self.rules} {' '.join(f'+ judge {entry.name}' for entry in self.judges)}".rstrip()


class Evaluator(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How questions are asked, and how the replies are scored. `scorer` names the scores in force, which verdicts of
    the `judges` are a part of where there are any (asked in the mode `judge_mode`). `under_way`: those that come into
    force when no verdict is missing. `prompt` is the user's own template, `prompts` a digest of all templates.
    """

    conditions: tuple[Condition, ...]
    limit: int | None
    prompts: str
    prompt: str = ""
    scorer: str = "mdk12"
    judges: tuple[JudgeEntry, ...] = ()
    judge_mode: str = ""
    under_way: Scoring | None = None

    @property
    def active_scores(self) -> Scoring:
        """The scores in force."""
        return Scoring(self.scorer, self.judges, self.judge_mode)

    @property
    def scorings(self) -> tuple[Scoring, ...]:
        """The scores in force, then those under way."""
        return tuple(filter(None, (self.active_scores, self.under_way)))

    @property
    def judged(self) -> tuple[Scoring, ...]:
        """Those of these that judges have a part in."""
        return tuple(scoring for scoring in self.scorings if scoring.judges)


E = TypeVar("E", bound=Evaluator)


class RunConfig(Evaluator, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """run.json: a run, and the evaluator of all its sets. `evaluators`: that of each standard set with its variants, by
    its name, where sets have different ones; the run's own `conditions` are those of all of them then. `planned` is the
    number of records asked for. `beside`: metrics by which the same replies are scored, too, without being in force.

    `instructions`: by context and style, how a model is told to reply there, in all languages, empty where the words
        are those that it is told without the context.
    `skipped` counts, by mode, the samples that could not be asked in it, such as those without knowledge points in
    kprag.
    `knowledge`: how knowledge was laid beside the questions, empty where there was none; `library`: where it came from,
        in words. `examples`: where those came from that stood before the questions, empty where there were none.
    `cache`: how many replies came from the cache, as of the end of the last call. `served`: what servers of one's own
        listed of a model (by its label) or a judge (by `judge LABEL`), each entry while the run was asked and judged.
    `merged_from`: the folders of the runs that it was merged from, as they were typed.
    """

    sets: tuple[SetEntry, ...]
    models: tuple[ModelEntry, ...]
    epochs: int
    ops: str
    versions: dict[str, str]
    planned: int = 0
    skipped: dict[str, int] = {}
    instructions: dict[str, str] = {}
    evaluators: dict[str, Evaluator] | UnsetType = UNSET
    beside: tuple[str, ...] | UnsetType = UNSET
    knowledge: dict[str, Json] = {}
    library: dict[str, str] = {}
    examples: dict[str, Json] = {}
    cache: CacheUse = field(default_factory=CacheUse)
    served: Served = {}
    merged_from: tuple[str, ...] | UnsetType = UNSET
    schema: int = SCHEMA

    def role(self, root: str, chain: str) -> Role:
        """What a chain is in the dynamic sets of a standard set for (`root` is its name).

        It is treatment where one of them says so, and where none tells of it: sets that were made by hand do not.
        """
        entries = [entry.strength for entry in self.sets if entry.root == root]
        roles: list[Role] = [strength[chain].role for strength in entries if chain in strength]
        return "treatment" if "treatment" in roles or not roles else roles[0]

    @property
    def by_root(self) -> dict[str, Evaluator]:
        """The evaluator of each standard set; under the name "" that of all, where they have one."""
        return self.evaluators or {"": self}

    def evaluator(self, root: str) -> Evaluator:
        """The evaluator of a standard set and its variants."""
        return self.by_root.get(root, self)

    def with_evaluators(self, change: Callable[[str, Evaluator], Evaluator]) -> RunConfig:
        """The same with what `change` makes of each evaluator, by its name in `by_root`."""
        changed = {root: change(root, evaluator) for root, evaluator in self.by_root.items()}
        if self.evaluators:
            return replace(self, evaluators=changed)
        return replace(self, **{name: getattr(changed[""], name) for name in Evaluator.__struct_fields__})

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of the scores in force."""
        return tuple(dict.fromkeys(evaluator.scorer for evaluator in self.by_root.values()))

    def scores_by(self, metric: str, root: str) -> str | None:
        """The scores of a standard set by a metric, in force or beside those; None where there are none."""
        known = (self.evaluator(root).scorer, *(self.beside or ()))
        return next((scorer for scorer in known if scorer.partition("@")[0] == metric), None)

    def instruction(self, context: str, style: str) -> str | None:
        """What `instructions` say; None where that is not known, of predictions that another program made."""
        return "" if context == NONE else self.instructions.get(f"{context} {style}")

    @property
    def all_judges(self) -> tuple[JudgeEntry, ...]:
        """The judges of all scores in force and under way, each once."""
        judged = (scoring for evaluator in self.by_root.values() for scoring in evaluator.judged)
        return tuple({entry.id: entry for scoring in judged for entry in scoring.judges}.values())


class RunFolder:
    """An opened run folder. Raises InputError where there is none."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        file = self.folder / RUN
        if not self.folder.exists():
            raise no_such_path(folder)
        if not file.is_file():
            check_finished(self.folder)
            what = f"no {RUN} in it, so it is no run"
            if self.records_folder.is_dir():
                raise InputError(folder, None, "the run in it is unfinished: run the command that makes it again")
            if (self.folder / COMPARISON).is_file():
                what = "it holds a comparison, which `mmdyn compare` shows when it is called again, and no run"
            raise InputError(folder, None, f"{what}: give the folder that `mmdyn eval -o` made")
        self.config = read_json_file(file, RunConfig)
        if self.config.schema != SCHEMA:
            raise InputError(file, None, f"the schema is {self.config.schema}, {SCHEMA} is read: upgrade mmdyn")
        if not any(self.records_folder.glob("*.sqlite")):
            gone = "the run was begun, and its records are gone: bring its folder records back, or ask into a new one"
            raise InputError(folder, None, gone)

    def __repr__(self) -> str:
        return f"<RunFolder {self.name!r}, {self.config.planned} answers planned, {self.folder}>"

    def _repr_html_(self) -> str:
        config = self.config
        asked = [", ".join(filter(None, (one.mode, one.chain, one.style))) for one in config.conditions]
        cells = ([one.name for one in config.sets], [one.label for one in config.models], asked, [*config.scorers])
        return html_table(("sets", "models", "conditions", "scores"), [["\n".join(cell) for cell in cells]], repr(self))

    @cached_property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def records_folder(self) -> Path:
        """Where the store lies."""
        return self.folder / "records"

    def set_folder(self, entry: SetEntry) -> Path:
        """Where a set of the run lies."""
        return self.folder / entry.folder

    def records(self, known: set[str] | None = None) -> Iterator[Record]:
        """Every record, with the score that is in force; each failure that was not mended since, once.

        Those of the keys `known` are left out, and taken out of `known`: what stays there is no longer in the store.
        """
        with self.reading() as reader:
            yield from _joined(reader, self.config, known if known is not None else set())

    def expansions(self) -> Iterator[Expansion]:
        """What models wrote on knowledge points before they were shown questions, each once."""
        with self.reading() as reader:
            for _, value in reader.items(EXPANSION):
                yield from_json(value, Expansion)

    def note_cache(self) -> None:
        """Have run.json say how many replies came from the cache."""
        with self.reading() as reader:
            self.write_config(replace(self.config, cache=cache_use(reader)))

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The opened store. Raises InputError where what is read out of it is damaged."""
        with Reader(self.records_folder) as reader:
            try:
                yield reader
            except ValueError as error:
                why = f"holds a record that this version of mmdyn cannot read ({error})"
                raise InputError(self.folder, None, f"{why}: evaluate into a new folder") from None

    def write_config(self, config: RunConfig) -> None:
        """Replace run.json in one step."""
        self.config = config
        write_config(self.folder, config)


def spelt(served: Mapping[str, Json]) -> str:
    """What a server listed of a model, such as `root=/models/a, max_model_len=4096`."""
    return ", ".join(f"{key}={value}" for key, value in served.items())


def score_kind(scorer: str) -> str:
    """The store's kind for the scores of a scorer (its name with its version)."""
    return f"score:{scorer}"


def judged_kind(judge: str) -> str:
    """The store's kind for the verdicts of the judge of this id, by record."""
    return f"judged:{judge}"


def unjudged_kind(judge: str) -> str:
    """The store's kind for each time that the judge of this id was asked and gave no verdict, by record and time."""
    return f"unjudged:{judge}"


def answers_kind(answers: str) -> str:
    """The store's kind for the samples, by the digests that they were asked with, that have other golden answers
    now."""
    return f"answers:{answers}"


class _Answer(Struct):
    reply: Reply


def cache_use(reader: Reader) -> CacheUse:
    """How many of the replies in a store came from the cache."""
    use = CacheUse()
    for kind in (RECORD, EXPANSION):
        for _, value in reader.items(kind):
            use.add(msgspec.json.decode(value, type=_Answer).reply)
    return use


class _Asked(Struct):
    set: str
    digest: str


class _Worth(Struct):
    points: float = 1.0


def scored_records(reader: Reader, sets: Iterable[SetEntry], root: str = "") -> Iterator[tuple[str, bytes]]:
    """Every record of a run of these sets as it is stored, with the key that its scores, verdicts and labels lie under;
    of the standard set `root` and its variants alone, where one is named.

    The key is its own; where it is scored by a sample whose golden answer is another one now, that sample's digest
    follows.
    """
    kinds = dict[str, list[str]]()
    for entry in sets:
        if entry.answers:
            kinds.setdefault(entry.root, []).append(answers_kind(entry.answers))
    for key, value in reader.items(RECORD):
        if kinds or root:
            asked = msgspec.json.decode(value, type=_Asked)
            if root not in ("", asked.set):
                continue
            found = (reader.get(kind, asked.digest) for kind in kinds.get(asked.set, ()))
            key += next((ANSWERED_NOW + now.decode() for now in found if now), "")
        yield key, value


def record_under(key: str, value: bytes, kept: RecordSource) -> Record:
    """The record of such a key, with what is of the sample that it is scored by."""
    record, digest = from_json(value, Record), key.partition(ANSWERED_NOW)[2]
    if not digest:
        return record
    worth = msgspec.json.decode(kept.get(SAMPLE, digest) or b"{}", type=_Worth)
    return msgspec.structs.replace(record, key=key, digest=digest, points=worth.points)


def write_config(folder: Path, config: RunConfig) -> None:
    """Write run.json in one step."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{RUN}.part"
    part.write_bytes(msgspec.json.format(canonical(config), indent=2) + b"\n")
    part.replace(folder / RUN)


def _joined(reader: Reader, config: RunConfig, known: set[str]) -> Iterator[Record]:
    scores = {scorer: reader.along(score_kind(scorer)) for scorer in config.scorers}
    for key, value in scored_records(reader, config.sets):
        if key in known:
            known.remove(key)
            continue
        record = record_under(key, value, reader)
        yield _with_score(record, scores[config.evaluator(record.set).scorer](key))
    for record_key, failures in groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0]):
        *_, (_, last) = failures
        if reader.get(RECORD, record_key) is None:
            yield from_json(last, Record)


def _with_score(record: Record, score: bytes | None) -> Record:
    return msgspec.structs.replace(record, score=from_json(score, Score)) if score is not None else record
