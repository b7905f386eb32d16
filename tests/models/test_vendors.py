"""Which variable's key is for which host."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmdyn.models import key_variables, vendors


@pytest.mark.parametrize(
    ("base_url", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://API.OpenAI.com:443/v1?x=1", "OPENAI_API_KEY"),
        ("https://my-team.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"),
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    ],
)
def test_a_vendors_host_has_the_vendors_variable(base_url: str, variable: str) -> None:
    assert key_variables(base_url)[0] == variable


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000/v1",
        "https://localhost/v1",
        "https://[::1]:8000/v1",
        "http://api.openai.com/v1",  # anybody on the way could read the key
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://api.openai.com\\@evil.example/v1",
        "https://evil.example/#@api.openai.com",
        "https://evil.example/x.openai.azure.com",
        "https://evilapi.openai.com/v1",
        "https://a.b.openai.azure.com/v1",
        "https://openai.azure.com/v1",
        "https://\u0430pi.openai.com/v1",  # a Cyrillic a
        "https://oss.aliyuncs.com",
        "https://[",
        "no address",
        "",
    ],
)
def test_any_other_host_has_none(base_url: str) -> None:
    assert key_variables(base_url) == ()


def test_every_line_is_a_host_once_with_variables() -> None:
    lines = Path(vendors.__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
    hosts = [line.split("\t")[0] for line in lines]
    assert len(set(hosts)) == len(hosts)
    for host in hosts:
        variables = key_variables(f"https://{host.replace('*', 'team')}/v1")
        assert variables and all(name.isidentifier() and name.isupper() for name in variables)
