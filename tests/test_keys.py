"""Digests and streams are the same everywhere, whatever the process, order or hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from numpy.random import Generator, Philox

from mmdyn.keys import canonical, digest, stream

SCRIPT = (
    "from mmdyn.keys import digest, stream; print(digest({'b': 1, 'a': [2, None]}), stream(1, 'q', 'pad', 0).integers(1"
    " << 60))"
)


def test_canonical_json_sorts_keys() -> None:
    assert canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()


def test_values_are_pinned() -> None:
    assert digest({"b": 1, "a": [2, None]}) == "63615168ab045647658544c0cc11d0c2"
    assert int(stream(1, "q", "pad", 0).integers(1 << 60)) == 376362449365939148


def test_a_stream_is_philox_with_the_identity_s_digest_for_a_key() -> None:
    key = hashlib.blake2b(canonical((1, "q", "pad", 0)), digest_size=16).digest()
    theirs, ours = Generator(Philox(key=int.from_bytes(key, "little"))), stream(1, "q", "pad", 0)
    for draw in range(300):
        assert ours.random() == theirs.random()
        assert ours.integers(1 + draw) == theirs.integers(1 + draw)
        assert ours.permutation(9).tolist() == theirs.permutation(9).tolist()
        assert ours.normal() == theirs.normal()


def test_another_process_with_another_hash_seed_draws_the_same() -> None:
    command, places = [sys.executable, "-c", SCRIPT], [{**os.environ, "PYTHONHASHSEED": seed} for seed in "01"]
    outputs = {
        subprocess.run(command, env=place, capture_output=True, text=True, check=True).stdout for place in places
    }
    assert outputs == {f"{digest({'a': [2, None], 'b': 1})} {int(stream(1, 'q', 'pad', 0).integers(1 << 60))}\n"}


def test_every_part_of_the_identity_counts() -> None:
    keys = [(1, "q", 0), (2, "q", 0), (1, "p", 0), (1, "q", 1), (1, "q0")]
    draws = {int(stream(*key).integers(1 << 60)) for key in keys}
    assert len(draws) == 5
