"""Progress where standard error is no terminal: a plain line at the end, with counts, rate and what is worth noting."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from mmdyn.work import ProgressBar

RATE = r"[\d.e+]+/s"


def test_a_plain_line_says_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 4) as progress:
        for number in range(3):
            progress.advance(failed=number, from_the_cache=0)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(rf"asking: 3/4 \({RATE}, 2 failed, \d+ s left\)\n", printed.err)


def test_quiet_is_quiet_and_an_unknown_total_promises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 4, quiet=True) as progress:
        progress.advance(4)
        progress.say("nothing")
    with ProgressBar("reading") as progress:
        progress.advance(2)
    assert re.fullmatch(rf"reading: 2 \({RATE}\)\n", capsys.readouterr().err)


def test_notes_are_numbers_or_words_and_lines_come_between(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 2) as progress:
        progress.note(in_flight=3, cost="1.2 USD", asked_again=0)
        progress.say("one moment")
        progress.advance()
        progress.note(in_flight=0)
        progress.advance()
    first, last = capsys.readouterr().err.splitlines()
    assert first == "one moment" and re.fullmatch(rf"asking: 2/2 \({RATE}, cost 1.2 USD, 0 s left\)", last)


def test_what_was_there_before_takes_no_part_in_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("asking", 1000) as progress:
        progress.advance(900, there=True)
        progress._started -= 100
        progress.advance(10)
    assert re.fullmatch(r"asking: 910/1000 \(0\.\d+/s, 15:\d\d left\)\n", capsys.readouterr().err)


def test_what_takes_long_says_so_before_the_first_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("caption", 4, seconds=0.05) as progress:
        progress._started -= 700
        shown = ""
        while "caption: 0/4 (11:40 so far)\n" not in shown:
            shown += capsys.readouterr().err
        progress.advance()
        while "caption: 1/4" not in shown:
            shown += capsys.readouterr().err
    assert re.search(r"^caption: 1/4 \(0\.00143/s, 35:0\d left\)$", shown + capsys.readouterr().err, re.MULTILINE)


def test_a_terminal_gets_a_bar_with_the_same_notes() -> None:
    ours, theirs = pty.openpty()
    code = "from mmdyn.work.progress import ProgressBar\nwith ProgressBar('asking', 4) as bar:\n    "
    code += "bar.advance(2, in_flight=3, cost='1 USD')\n    bar.say('one [moment]')\n"
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True, env=environment, timeout=240)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "2/4" in shown and "3 in flight, cost 1 USD" in shown and "one [moment]" in shown and " left" in shown
