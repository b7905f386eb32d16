"""A set that replaces another: at any moment the folder holds the old one, the new one or none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from making_sets import tree

from making import blank, write_set
from mmdyn.data import Dropped, SampleSet, SetWriter
from mmdyn.errors import InputError

QUESTIONS = [blank(f"q{number}", question=f"What is the sum of {number} and 3? ____") for number in range(6)]


def test_a_set_that_is_replaced_stays_whole_until_the_new_one_is(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", QUESTIONS, "sums").folder
    before = tree(folder)
    with pytest.raises(KeyError), SetWriter(folder, "sums", replace=True) as writer:
        writer.add(QUESTIONS[0])
        raise KeyError
    assert {name: data for name, data in tree(folder).items() if not name.endswith(".part")} == before
    with SetWriter(folder, "sums", replace=True) as writer:
        writer.add(QUESTIONS[0])
    assert len(SampleSet(folder)) == len(list(SampleSet(folder))) == 1
    assert set(tree(folder)) == {"samples.jsonl", "set.json"}


STOPPED = """
import os, sys
from pathlib import Path
from mmdyn.data.set_folder import SampleSet, SetWriter
steps, folder = int(sys.argv[2]), Path(sys.argv[1])
sample = next(iter(SampleSet(folder)))

def stop(event, arguments):
    global steps
    if event in ("os.rename", "os.remove", "open") and str(folder) in str(arguments[0]):
        steps -= 1
        if steps < 0:
            os._exit(9)

sys.addaudithook(stop)
with SetWriter(folder, "sums", replace=True) as writer:
    writer.add(sample)
"""


@pytest.mark.slow
def test_stopped_at_any_step_a_set_is_the_old_one_the_new_one_or_none(tmp_path: Path) -> None:
    seen = set[str]()
    for steps in range(40):
        folder = write_set(tmp_path / str(steps), QUESTIONS, "sums").folder
        with SetWriter(folder, "sums", replace=True) as writer:
            for sample in QUESTIONS:
                writer.add(sample)
            writer.drop(Dropped("a~pad~0", "a", "pad", 0, 1, "failed", "why"))
        status = subprocess.run([sys.executable, "-c", STOPPED, str(folder), str(steps)]).returncode
        try:
            found = SampleSet(folder)
            dropped = len(list(found.dropped()))
            assert (len(found), len(list(found)), dropped) in ((6, 6, 1), (1, 1, 0))
            seen.add("old" if dropped else "new")
        except InputError as error:
            assert "the set in it is unfinished: run the command that makes it again" in str(error)
            seen.add("none")
            with SetWriter(folder, "sums", replace=True) as writer:
                writer.add(QUESTIONS[0])
            assert len(list(SampleSet(folder))) == 1
        if status == 0:
            break
    assert status == 0 and seen == {"old", "none", "new"}
