"""Score the records of a run by one more metric, whose scores stand beside those in force."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.run.recorded import check_asked, sample_of
from mmdyn.scoring import Scorer
from mmdyn.work import ProgressBar, Reader, RunFolder, Store, record_under, run_log, score_kind, scored_records


class Beside(Struct, frozen=True):
    """What a metric scored: how many answers it has scored now, how many of these by this call, and the answers that
    are `no_text`, which a metric cannot score."""

    scorer: str
    scored: int
    new: int
    no_text: int


def score_beside(run: RunFolder | str | Path, metric: str, *, quiet: bool = True) -> Beside:
    """Score every answer that is a text by a metric, and show these scores beside those in force, which stay.

    Args:
        run: a run folder.
        metric: a metric by its full or short name, such as bleu (`mmdyn list scorers`).
        quiet: show no progress.

    Raises:
        Busy: while the run is going on.
        UserError: for a policy in place of a metric, one that is in force, and a run without an answer that is a text.
    """
    run, scorer = run if isinstance(run, RunFolder) else RunFolder(run), Scorer(metric)
    if not scorer.compares:
        raise UserError(
            f"{scorer.policy} is a policy, and metrics alone stand beside it: `mmdyn score` puts it in force"
        )
    counts = dict.fromkeys(("scored", "new", "no_text"), 0)
    kind = score_kind(scorer.name)
    with Store(run.records_folder) as store:
        run = RunFolder(run.folder)
        check_asked(run)
        with (
            run_log(run.folder),
            Reader(run.records_folder) as reader,
            ProgressBar("scoring", run.config.planned, quiet=quiet) as progress,
        ):
            for key, value in scored_records(reader, run.config.sets):
                record, there = record_under(key, value, reader), reader.get(kind, key) is not None
                sample = sample_of(reader, run.folder, record)
                fits = scorer.fits(sample)
                if fits and not there:
                    store.put(kind, key, canonical(scorer.score(sample, record.reply)))
                counts["new"] += fits and not there
                counts["scored" if fits else "no_text"] += 1
                progress.advance(there=there)
        if not counts["scored"]:
            raise UserError(f"{scorer.policy} compares texts, and no answer of {run.folder} is one: choose a policy")
        store.flush()
        others = [name for name in run.config.beside or () if name.partition("@")[0] != scorer.policy]
        run.write_config(replace(run.config, beside=(*others, scorer.name)))
    return Beside(scorer.name, **counts)
