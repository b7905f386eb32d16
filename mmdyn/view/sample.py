"""A question and one of its variants side by side, with the answers to both and how they were read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from mmdyn.data import ImageFolder, describe_trail, is_set
from mmdyn.errors import MmdynError
from mmdyn.keys import Json, canonical
from mmdyn.models import ImagePart, Part, TextPart, identity
from mmdyn.record import Judgement, Record
from mmdyn.run import Recorded, pictures_of, sent_prompt
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer
from mmdyn.view._page import ANSWERS, ORDER, Filter, Piece, compared, pieces, render
from mmdyn.view.index import Catalog
from mmdyn.view.samples import grid_of_answers, marked, worst
from mmdyn.work import EXPANSION, FAILURE, RunFolder, SetEntry, judged_kind, unjudged_kind


def page(catalog: Catalog, name: str, token: str, key: str, asked: Filter) -> str:
    """A question of a run; `key` says which answer, else the first that fits the filter. Raises KeyError, UserError."""
    index = catalog.index(name)
    with index.reading() as db:
        parent = db.execute("SELECT * FROM parents WHERE token = ?", (token,)).fetchone()
        if parent is None:
            raise KeyError(token)
        every = db.execute(f"{ANSWERS} WHERE a.parent = ? {ORDER}", (parent["id"],)).fetchall()
        fitting = asked.answers(db, [parent["id"]]).get(parent["id"]) or every
        chosen = next((row for row in every if row["key"] == key), None) or worst(fitting)
        flipped = structs.replace(asked, which=tuple(dict.fromkeys([*asked.which, "lost"])))
        around = _around(asked.parents(db), token, {row["token"] for row in flipped.parents(db)})
    left, right = pair_of(every, chosen)
    run, gone = catalog.located(index.run)
    images = pictures_of(run).get(parent["set_name"])
    with Recorded(index.run) as recorded:
        sides = [Side(catalog, run, recorded, row, images) for row in (left, right) if row]
        if len(sides) == 2:
            sides[0].compare(sides[1])
        shown = {row["key"] for row in (left, right) if row}
        return render(
            "sample.html", title=parent["name"], run=index.run.name, id=name, parent=parent, sides=sides, asked=asked,
            every=grid_of_answers([row | {"shown": row["key"] in shown} for row in marked(every)]), around=around,
            live="", gone=_where(index.run, [entry for entry in gone if entry.root == parent["set_name"]]),
        )  # fmt: skip


class Side:
    """One of the two: a sample, an answer to it, and how that was read."""

    def __init__(
        self,
        catalog: Catalog,
        run: RunFolder,
        recorded: Recorded,
        row: sqlite3.Row | dict[str, Any],
        images: ImageFolder | None,
    ) -> None:
        self.row, self.record = marked([row])[0], recorded.answer(row["key"])
        self._run, self._reader = run, recorded.reader
        self.sample: Sample = recorded.sample(self.record)
        self.stem = pieces(self.sample.question)
        self.options = [pieces(option.text) for option in self.sample.options]
        refs = self.sample.all_images if images else ()
        self.pictures = [(ref, catalog.picture(images, ref)) for ref in refs] if images else []
        self.missing = len(self.sample.all_images) - sum(bool(address) for _, address in self.pictures)
        self.option_pictures = {
            option.label: dict(self.pictures).get(option.image or "", "") for option in self.sample.options
        }
        self.gold = self.sample.answer if isinstance(self.sample.answer, tuple) else (str(self.sample.answer),)
        read = self.record.score.extracted if self.record.score else None
        self.befores = dict[str, str]()
        self.picked = {label for label in self.option_pictures if isinstance(read, list) and label in read}
        self.was: dict[str, str] = {}
        self.stays = ""
        self.trail = describe_trail(self.sample)
        self.reading, self.reply = _read(run, self.sample, self.record)
        self.judges = [
            told for entry in run.config.all_judges for told in _judgements(recorded, entry, self.record.key)
        ]
        self.prompt = sent_prompt(run, recorded.reader, self.record, self.sample, images or ImageFolder(run.folder))
        self.messages = [
            (message.role, [_prompted(catalog, images, part) for part in message.parts])
            for message in self.prompt.messages
        ]

    def compare(self, other: Side) -> None:
        """Mark what differs in the question and in the options that stand at one place; tell of the other one's options
        that stood elsewhere, of a pick that stayed at its place while the right option moved, and which picture each of
        the other one's was."""
        self.options, other.options = [*self.options], [*other.options]
        self.stem, other.stem = compared(self.sample.question, other.sample.question)
        for place in range(min(len(self.options), len(other.options))):
            a, b = self.sample.options[place].text, other.sample.options[place].text
            self.options[place], other.options[place] = compared(a, b)
        shown = zip(self.pictures, other.pictures, strict=False)
        other.befores = {after: before for (_, before), (_, after) in shown if before and after and before != after}
        before = {option.text: option.label for option in self.sample.options if option.text}
        moved = ((option.label, before.get(option.text, option.label)) for option in other.sample.options)
        other.was = {label: was for label, was in moved if was != label}
        if other.was and self.picked == set(self.gold) and other.picked == self.picked != set(other.gold):
            other.stays = ", ".join(sorted(other.picked))

    def raw(self) -> list[tuple[str, str]]:
        """What was asked and what came back, as JSON with titles: what the request's key is the digest of, the reply,
        that of a turn before the question, and the first try that failed."""
        models = (entry.identity for entry in self._run.config.models if entry.label == self.record.model)
        sent = cast("list[list[Json]]", identity(self.prompt.messages))
        asked: dict[str, Json] = {"request": self.record.request, "model": next(models, self.record.model)}
        asked["messages"] = [{"role": role, "content": content} for role, content in sent]
        turn = self._reader.get(EXPANSION, self.record.expansion) if self.record.expansion else None
        failed = self._reader.find(FAILURE, f"{self.record.key}:") if not self.record.reply.error else None
        found = [
            ("Request", canonical(asked | {"epoch": self.record.epoch})),
            ("Reply", canonical(self.record.reply)),
            ("Reply of the turn before", turn),
            ("A try that failed", failed[1] if failed else None),
        ]
        return [(title, msgspec.json.format(text).decode()) for title, text in found if text]


def _prompted(catalog: Catalog, images: ImageFolder | None, part: Part) -> tuple[str, str]:
    """The text of a part of a prompt, or where its picture is shown."""
    if isinstance(part, TextPart):
        return part.text, ""
    if images is None or not isinstance(part, ImagePart):
        return "", ""
    refs = (f"images/{part.path.parent.name}/{part.path.name}", part.path.name)
    return "", next((catalog.picture(images, ref) for ref in refs if images.path(ref).is_file()), "")


def pair_of(every: list[sqlite3.Row], chosen: sqlite3.Row) -> tuple[sqlite3.Row | None, sqlite3.Row | None]:
    """What stands left and right: the chosen answer, and what it is compared with. That is the standard one of the same
    model; beside a standard one, that without a context, or the first variant."""

    def alike(row: sqlite3.Row, *names: str) -> bool:
        return all(row[name] == chosen[name] for name in ("model", *names)) and row["key"] != chosen["key"]

    if chosen["variant"] == "dynamic":
        base = [row for row in every if row["variant"] == "standard" and alike(row, "context", "style", "shots")]
        return (base[0] if base else None), chosen
    if chosen["context"] != "none":
        base = [
            row
            for row in every
            if row["variant"] == "standard" and row["context"] == "none" and alike(row, "style", "shots")
        ]
        return (base[0] if base else None), chosen
    others = [row for row in every if row["variant"] == "dynamic" and alike(row, "context", "style", "shots")]
    return chosen, (worst(others) if others else None)


def _where(run: RunFolder, gone: Sequence[SetEntry]) -> str:
    """Why pictures of some sets are not shown, and how to mend it; empty where no set is gone."""
    what = {True: "was changed since it was asked", False: "is no longer where run.json says"}
    each = (f"the set {one.name} (digest {one.digest[:12]}…) {what[is_set(run.set_folder(one))]}" for one in gone)
    mend = "; put what was asked beside the run or under the folder that is shown, where it is found by its digest"
    return f"Pictures are not shown: {', '.join(each)}{mend}." if gone else ""


def _around(found: list[sqlite3.Row], token: str, flipped: set[str]) -> dict[str, Any]:
    """The place of a question among those of a filter, and the names of its neighbours and of the next that flipped."""
    tokens = [row["token"] for row in found]
    place = tokens.index(token) if token in tokens else -1
    after = tokens[place + 1 :]
    flip = next((one for one in after if one in flipped), "")
    previous = tokens[place - 1] if place > 0 else ""
    return {"at": place, "count": len(tokens), "previous": previous, "next": after[0] if after else "", "flip": flip}


def _read(run: RunFolder, sample: Sample, record: Record) -> tuple[Any, list[Piece]]:
    """How rules read a reply, and the reply with the answer marked where it stands; without a mark where the rules of
    this version are others than the run's."""
    text = record.reply.text
    whole = [Piece("words", text)]
    scores = run.config.evaluator(record.set).active_scores
    try:
        scorer = Scorer(scores.policy)
        if record.reply.error or scorer.name != scores.rules:
            return None, whole
        found = scorer.extract(sample, record.reply)
    except MmdynError:
        return None, whole
    if not found.span:
        return found, whole
    start, end = found.span
    parts = [Piece("words", text[:start]), Piece("words", text[start:end], True), Piece("words", text[end:])]
    return found, [part for part in parts if part.text]


def _judgements(recorded: Recorded, entry: Any, key: str) -> list[tuple[str, Judgement]]:
    given = recorded.reader.get(judged_kind(entry.id), key)
    failed = recorded.reader.find(unjudged_kind(entry.id), f"{key}:")
    values = [value for value in (given, failed[1] if failed else None) if value]
    return [(entry.name, msgspec.json.decode(value, type=Judgement)) for value in values]
