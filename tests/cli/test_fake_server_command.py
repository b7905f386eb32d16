"""`mmdyn fake-server` from start to signal."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request

import pytest
from shell import MMDYN, mmdyn

from mmdyn.testing import FAULTS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_serves_and_stops_on_a_signal(number: signal.Signals):
    command = [MMDYN[0], "-W", "error", *MMDYN[1:], "fake-server", "--latency", "5", "--faults", "500=1", "--seed", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout and server.stderr
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and url.endswith("/v1")
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
        with pytest.raises(urllib.error.HTTPError, match="500"):
            urllib.request.urlopen(f"{url}/chat/completions", data=body, timeout=240)
        with urllib.request.urlopen(url.replace("/v1", "/stats"), timeout=240) as response:
            assert json.load(response)["by_outcome"] == {"500": 1}
        server.send_signal(number)
        assert server.wait(240) == 0
        assert server.stderr.read() == "1 request (1 500)\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--faults", "drip=1"], "mmdyn: there is no fault 'drip' (did you mean 'drop'?)"),
        (["--reply", "frist"], "mmdyn: 'frist' is neither first nor hashed nor a file of replies"),
        (["--latency", "-1"], "Invalid value for '--latency'"),
        (["--host", "203.0.113.1"], "mmdyn: cannot listen on 203.0.113.1:0"),
    ],
)
def test_bad_usage_ends_in_a_sentence_and_status_2(arguments: list[str], says: str):
    done = mmdyn("fake-server", *arguments)
    assert done.returncode == 2
    assert says in done.stderr and "Traceback" not in done.stderr


def test_help_names_every_fault():
    done = mmdyn("fake-server", "--help")
    for kind, does in FAULTS.items():
        assert re.search(rf"{kind} +{re.escape(does)}\n", done.stdout)
