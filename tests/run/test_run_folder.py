"""A run's records, as several processes left them."""

from __future__ import annotations

from pathlib import Path

import msgspec
from tables.making_runs import answers, write_run

from mmdyn.keys import canonical
from mmdyn.record import Reply
from mmdyn.run.runs import summarise_run
from mmdyn.work import FAILURE, Store


def test_failures_that_several_processes_saw_count_once_and_the_last_is_shown(tmp_path: Path) -> None:
    run = write_run(tmp_path, answers("xx1"))
    again = answers("xx")
    with Store(run.records_folder, "rank-1") as store, Store(run.records_folder, "rank-2") as tail:
        for record in again:
            store.put(FAILURE, f"{record.key}:2", canonical(record))
        store.flush()
        for record in again:
            last = msgspec.structs.replace(record, reply=Reply(error="the last time"))
            tail.put(FAILURE, f"{record.key}:3", canonical(last))
        failed = [(record.sample, record.reply.error) for record in run.records() if record.reply.error]
        assert sorted(failed) == [("s00", "the last time"), ("s01", "the last time")]
        assert summarise_run(run.folder).failed == 2
