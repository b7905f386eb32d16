"""Progress where standard error is no terminal: a plain line at the end, with counts, rate and what is worth noting."""

from __future__ import annotations

import re

import pytest

from mmdyn.work.progress import ProgressBar


def test_a_plain_line_says_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 4) as progress:
        for number in range(3):
            progress.advance(failed=number, from_the_cache=0)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"asking: 3/4 \([\d.e+]+/s, 2 failed, \d+ s left\)\n", printed.err)


def test_quiet_is_quiet_and_an_unknown_total_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 4, quiet=True) as progress:
        progress.advance(4)
    with ProgressBar("reading") as progress:
        progress.advance(2)
    assert re.fullmatch(r"reading: 2 \([\d.e+]+/s\)\n", capsys.readouterr().err)
