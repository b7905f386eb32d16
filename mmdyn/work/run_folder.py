"""A run folder: run.json (what the run asks, never a key or token) and the store of its records."""

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
"""Fewer replies than this give rise to no doubt about a server."""
MOST = 200
"""The most requests with pictures, and without, that are kept to compare their token counts."""
DIFFERENT = 3
"""Prompts seem cut where at least so many different lengths have the same token count."""
SHORTEST_CUT = 500
"""Servers cut prompts to no fewer tokens than this; equal counts of shorter prompts are chance."""
LONGER, DIFFERING = 1.3, 1.05
"""How many times as long as it was counted the longest of some prompts should be, and as long as the shortest of them,
where they were cut."""
LEAST_PICTURE = 8
"""The fewest tokens that a picture takes."""
SHORT_TEXT = 150
"""Up to this length (in tokens) the estimate of a text's length errs by less than a picture takes."""

PICTURES_UNREAD = (
    "pictures seem not to have been read: the server counted as many tokens with as without; `mmdyn eval SET -m MODEL"
    " --mode standard --context none,no-picture` shows whether the model sees"
)


class CacheUse(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Counts of replies, and of those out of the cache.

    Args:
        replies: All replies without an error.
        cached: Those that came from the cache.
        first, last: The days (UTC, ISO 8601) on which the oldest and the newest cached reply was made.
    """

    replies: int = 0
    cached: int = 0
    first: str = ""
    last: str = ""

    def add(self, reply: Reply) -> None:
        """Count a reply; a reply that is an error does not count."""
        self.replies += not reply.error
        if reply.cached:
            day = datetime.fromtimestamp(reply.made, UTC).date().isoformat()
            self.cached += 1
            self.first, self.last = min(self.first or day, day), max(self.last, day)

    def __str__(self) -> str:
        """A sentence for a report; empty where no reply was cached.

        >>> str(CacheUse(40, 12, "2026-11-02", "2026-11-02"))
        '12 of 40 replies from the cache, made on 2026-11-02'
        """
        if not self.cached:
            return ""
        days = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.cached} of {self.replies} replies from the cache, made on {days}"


class ReplyTally:
    """Counts the replies of one model as they come, to find signs that its server is misconfigured.

    The attributes `models` and `fingerprints` count what the server says of itself in each reply.
    """

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
        """Yield a sentence for each sign: prompts cut to the context's length, pictures not read, or answers that the
        server's reasoning parser took away."""
        most = max(self._estimates, default=0)
        if (should := self._should_be(most)) >= LONGER * most > 0:
            yield (
                f"prompts seem cut to {most:,} tokens: {len(self._estimates[most])} of different lengths are so long,"
                f" of which one should have about {should:,.0f}; give the server a longer context"
            )
        elif self._is_unread():
            yield PICTURES_UNREAD
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
"""Separates, in a score's key, the record's key from the digest of the sample that it is scored by, where that sample's
golden answer was corrected after the run."""


class RecordSource(Protocol):
    """An opened store that records are read from."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        ...


class Expansion(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model (by its label) wrote about knowledge points in a turn before the question."""

    model: str
    reply: Reply


class SetEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A set of a run.

    Args:
        root: The name of the standard set that it is, or that its variants were made of.
        folder: An absolute path, or one relative to the run's folder.
        digest: The set's digest when it was asked.
        answers: The digest of the corrected golden answers that the scores use; empty where no answer was corrected.
        strength: The strength of the variants of each chain, and the chain's role.
        factors, design: For a set made with --factorial, the chains that are combined, and the name of the design
            (`mmdyn.stats.design_forms`).
        seed: The seed of that design.
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
"""What servers list of models, by the models' names; an entry is kept each time that it differs from the one before."""


class ModelEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A model of a run: its label in reports, and its identity, which is a part of every request's key."""

    label: str
    identity: dict[str, Json]


class JudgeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge of a run: its label in reports, its id, and its identity, which holds all that decides its verdicts."""

    label: str
    id: str
    identity: Json

    @property
    def rubrics(self) -> tuple[str, ...]:
        """The names of the judge's rubrics; a sample is judged by one of them."""
        rubrics = self.identity.get("rubrics") if isinstance(self.identity, dict) else None
        return tuple(rubrics) if isinstance(rubrics, dict) else ()

    @property
    def name(self) -> str:
        """The label with all that tells judges apart.

        >>> JudgeEntry("openai:x", "6438ebdf", {"rubrics": {"match": 1}, "votes": 3}).name
        'openai:x, match, 3 votes (6438ebdf)'
        """
        parts = [self.label, *(["auto"] if len(self.rubrics) > 1 else self.rubrics)]
        if isinstance(self.identity, dict):
            votes = self.identity.get("votes")
            parts += [f"{votes} votes"] if isinstance(votes, int) and votes > 1 else []
            parts += ["pictures"] if self.identity.get("pictures") else []
        return f"{', '.join(parts)} ({self.id})"


class Scoring(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a run's scores, the judges whose verdicts they use, and when those are asked (`judge_mode`).

    >>> Scoring("mdk12@2+wrong(6438ebdf)").rules
    'mdk12@2'
    """

    scorer: str
    judges: tuple[JudgeEntry, ...] = ()
    judge_mode: str = ""

    @property
    def rules(self) -> str:
        """The name of the scores that the rules alone give: policy and version."""
        return self.scorer.partition("+")[0]

    @property
    def policy(self) -> str:
        """The policy, or the metric, of these rules."""
        return self.rules.partition("@")[0]

    def __str__(self) -> str:
        return f"{self.rules} {' '.join(f'+ judge {entry.name}' for entry in self.judges)}".rstrip()


class Evaluator(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the questions of a set are asked, and how the replies are scored.

    Args:
        limit: Only the first so many samples are asked.
        prompts: A digest of all prompt templates.
        prompt: The user's own template; empty where there is none.
        scorer: The name of the scores in force, which include the verdicts of the `judges`.
        judge_mode: When the judges are asked.
        under_way: The scores that replace those in force once no verdict is missing.
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
        """The scores in force, then those under way, if any."""
        return tuple(filter(None, (self.active_scores, self.under_way)))

    @property
    def judged(self) -> tuple[Scoring, ...]:
        """Those of `scorings` that have judges."""
        return tuple(scoring for scoring in self.scorings if scoring.judges)


E = TypeVar("E", bound=Evaluator)


class RunConfig(Evaluator, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """run.json: a run, and the evaluator that its sets share.

    Args:
        evaluators: The evaluator of each standard set (by name) with its variants, where they differ; `conditions` then
            holds all of theirs.
        beside: Further metrics that score the same replies; they are not in force.
        planned: The number of records that the run consists of.
        skipped: By mode, the number of samples that cannot be asked in it, such as those without knowledge points.
        instructions: By `CONTEXT STYLE`, the instruction on how to reply; empty where it is the one used without a
            context.
        knowledge, library: How knowledge was shown beside the questions; where it came from, in words.
        examples: Where the examples before the questions came from.
        cache: The replies that came from the cache, as of the end of the last call.
        served: What servers listed of each model (by label) and judge (by `judge LABEL`) during the run.
        merged_from: The folders that this run was merged from, as typed.
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
        """The role of a chain in the dynamic sets of a standard set named `root`.

        It is `treatment` where any of the sets says so, and where none says anything, as sets made by hand do not.
        """
        entries = [entry.strength for entry in self.sets if entry.root == root]
        roles: list[Role] = [strength[chain].role for strength in entries if chain in strength]
        return "treatment" if "treatment" in roles or not roles else roles[0]

    @property
    def by_root(self) -> dict[str, Evaluator]:
        """The evaluator of each standard set, by name; the one key "" where all share an evaluator."""
        return self.evaluators or {"": self}

    def evaluator(self, root: str) -> Evaluator:
        """The evaluator of the standard set named `root` and its variants."""
        return self.by_root.get(root, self)

    def with_evaluators(self, change: Callable[[str, Evaluator], Evaluator]) -> RunConfig:
        """Return a copy in which `change(root, evaluator)` replaces each evaluator of `by_root`."""
        changed = {root: change(root, evaluator) for root, evaluator in self.by_root.items()}
        if self.evaluators:
            return replace(self, evaluators=changed)
        return replace(self, **{name: getattr(changed[""], name) for name in Evaluator.__struct_fields__})

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of the scores in force, each once."""
        return tuple(dict.fromkeys(evaluator.scorer for evaluator in self.by_root.values()))

    def scores_by(self, metric: str, root: str) -> str | None:
        """The name of a set's scores by a metric, whether in force or among `beside`; None where there are none."""
        known = (self.evaluator(root).scorer, *(self.beside or ()))
        return next((scorer for scorer in known if scorer.partition("@")[0] == metric), None)

    def instruction(self, context: str, style: str) -> str | None:
        """The instruction of a context and style; empty for the usual one, None where it is not known (imported
        predictions)."""
        return "" if context == NONE else self.instructions.get(f"{context} {style}")

    @property
    def all_judges(self) -> tuple[JudgeEntry, ...]:
        """The judges of all scores, in force and under way, each once."""
        judged = (scoring for evaluator in self.by_root.values() for scoring in evaluator.judged)
        return tuple({entry.id: entry for scoring in judged for entry in scoring.judges}.values())


class RunFolder:
    """Opens a run's folder.

    Raises:
        InputError: There is no folder, no finished run in it, a run of another schema, or a run without records.
    """

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
        """The folder of the store."""
        return self.folder / "records"

    def set_folder(self, entry: SetEntry) -> Path:
        """The folder of one of the run's sets."""
        return self.folder / entry.folder

    def records(self, known: set[str] | None = None) -> Iterator[Record]:
        """Yield every record with its score in force, then for each request that only failed its last failure.

        Args:
            known: Keys of records to skip. Each one that is met is removed from it, so that what remains is no longer
                in the store.
        """
        with self.reading() as reader:
            yield from _joined(reader, self.config, known if known is not None else set())

    def expansions(self) -> Iterator[Expansion]:
        """Yield what models wrote about knowledge points before the questions, each once."""
        with self.reading() as reader:
            for _, value in reader.items(EXPANSION):
                yield from_json(value, Expansion)

    def note_cache(self) -> None:
        """Write into run.json how many replies came from the cache."""
        with self.reading() as reader:
            self.write_config(replace(self.config, cache=cache_use(reader)))

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Open the store for reading.

        Raises:
            InputError: A value read within the block is damaged, or of another version.
        """
        with Reader(self.records_folder) as reader:
            try:
                yield reader
            except ValueError as error:
                why = f"holds a record that this version of mmdyn cannot read ({error})"
                raise InputError(self.folder, None, f"{why}: evaluate into a new folder") from None

    def write_config(self, config: RunConfig) -> None:
        """Replace run.json atomically."""
        self.config = config
        write_config(self.folder, config)


def spelt(served: Mapping[str, Json]) -> str:
    """Write what a server lists of a model on one line.

    >>> spelt({"root": "/models/a", "max_model_len": 4096})
    'root=/models/a, max_model_len=4096'
    """
    return ", ".join(f"{key}={value}" for key, value in served.items())


def score_kind(scorer: str) -> str:
    """The store's kind for the scores of a scorer, given by name and version.

    >>> score_kind("mdk12@2")
    'score:mdk12@2'
    """
    return f"score:{scorer}"


def judged_kind(judge: str) -> str:
    """The store's kind for the verdicts of a judge, given by its id; their keys are records' keys."""
    return f"judged:{judge}"


def unjudged_kind(judge: str) -> str:
    """The store's kind for the times that a judge, given by its id, gave no verdict, by record and attempt."""
    return f"unjudged:{judge}"


def answers_kind(answers: str) -> str:
    """The store's kind for samples with corrected golden answers, by the digests of the samples that were asked;
    `answers` is the digest of the corrections."""
    return f"answers:{answers}"


class _Answer(Struct):
    reply: Reply


def cache_use(reader: Reader) -> CacheUse:
    """Count the replies in a store, and those that came from the cache."""
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
    """Yield each stored record (JSON) of a run with the key of its scores, verdicts and labels.

    Args:
        sets: All sets of the run.
        root: Only records of this standard set and its variants; all where empty.

    Yields:
        The record's key, followed by ANSWERED_NOW and the digest of the corrected sample where its golden answer was
            corrected; and the record.
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
    """Decode a record of `scored_records`; where its golden answer was corrected, with the corrected sample's digest
    and points."""
    record, digest = from_json(value, Record), key.partition(ANSWERED_NOW)[2]
    if not digest:
        return record
    worth = msgspec.json.decode(kept.get(SAMPLE, digest) or b"{}", type=_Worth)
    return msgspec.structs.replace(record, key=key, digest=digest, points=worth.points)


def write_config(folder: Path, config: RunConfig) -> None:
    """Write run.json atomically; makes the folder if needed."""
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
