"""Several launched processes and one piece of work."""

from __future__ import annotations

from pathlib import Path

import pytest
from clock import Clock

from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.work import Ranks, Store, is_held, ranks as ranks_module
from mmdyn.work.ranks import GONE_SECONDS, LOOK_SECONDS, LOST_SECONDS


@pytest.mark.parametrize(("rank", "world", "found"), [
    (None, None, Ranks(0, 1)), ("0", "1", Ranks(0, 1)), ("1", "2", Ranks(1, 2)), ("7", "8", Ranks(7, 8)),
])  # fmt: skip
def test_the_launcher_says_who_is_who(
    monkeypatch: pytest.MonkeyPatch, rank: str | None, world: str | None, found: Ranks
) -> None:
    for name, value in (("RANK", rank), ("WORLD_SIZE", world)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    assert Ranks.of_environment() == found


@pytest.mark.parametrize(("rank", "world"), [("2", "2"), ("-1", "2"), ("one", "2"), ("0", ""), ("1", None)])
def test_an_environment_that_makes_no_sense(monkeypatch: pytest.MonkeyPatch, rank: str, world: str | None) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.delenv("WORLD_SIZE", raising=False) if world is None else monkeypatch.setenv("WORLD_SIZE", world)
    with pytest.raises(UserError, match=r"RANK is '.*' and WORLD_SIZE '.*': let the launcher set both, or unset both"):
        Ranks.of_environment()


def test_every_job_has_one_owner_and_shares_are_even() -> None:
    keys = [sha256(str(number).encode()) for number in range(4000)]
    for size in (1, 2, 8):
        owners = [Ranks(0, size).owner(key) for key in keys]
        assert owners == [Ranks(size - 1, size).owner(key) for key in keys]
        shares = [owners.count(rank) for rank in range(size)]
        assert sum(shares) == 4000 and max(shares) - min(shares) < 4000 / size * 0.3


def test_results_of_another_rank_are_seen_as_they_come(tmp_path: Path) -> None:
    with Store(tmp_path) as first:
        with Store(tmp_path, "rank-1") as second:
            second.put("kind", "00000001", b"done")
        Ranks(0, 2).wait_for_result(first, "kind", "00000001")
        assert first.get("kind", "00000001") == b"done"


def test_a_lost_rank_is_waited_for_a_while_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ranks_module, "time", clock := Clock())
    with Store(tmp_path) as store:
        with pytest.raises(UserError, match="rank 1 ended before its work was done: run the same command again"):
            Ranks(0, 2).wait_for_result(store, "kind", "00000001")
        assert LOST_SECONDS < clock.now < LOST_SECONDS + 2 * LOOK_SECONDS
    said = capsys.readouterr().err
    assert said == "waiting for rank 1 of 2; where no launcher started this process, unset RANK and WORLD_SIZE\n"


def test_one_that_turns_out_to_have_begun_and_is_gone_is_not_waited_for_as_one_that_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks_module, "time", clock := Clock())
    with pytest.raises(UserError, match="rank 1 ended before its work was done"):
        Ranks(0, 2).wait_for(1, tmp_path, lambda: False, begun=lambda: clock.now > 1)
    assert GONE_SECONDS < clock.now < GONE_SECONDS + 2 * LOOK_SECONDS


def test_who_holds_a_file(tmp_path: Path) -> None:
    assert not is_held(tmp_path, "main")
    with Store(tmp_path):
        assert is_held(tmp_path, "main") and not is_held(tmp_path, "rank-1")
    assert not is_held(tmp_path, "main")
