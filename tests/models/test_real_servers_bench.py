"""bench/real_servers.py: servers that are not given are skipped, a stand-in's wrong answers are told, and a GGUF file
holds the checkpoint."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from benches import load_bench

STAND_IN = """\
#!/bin/sh
exec {python} -m mmdyn fake-server --host "$3" --port "$5" --latency 300
"""


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("real_servers")


def test_what_is_not_given_is_skipped(bench: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert bench.main([]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| transformers | | skipped: no --transformers | | |",
        "| litellm | | skipped: no --litellm | | |",
        "| llama-cpp-python | | skipped: no --llama-cpp | | |",
    ]
    with pytest.raises(SystemExit):
        bench.main(["--litellm", str(tmp_path)])
    assert "is no environment: python3 -m venv" in capsys.readouterr().err


@pytest.mark.slow
def test_a_stand_in_is_found_to_be_one(
    bench: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It comes back and is asked each question once, but does not say what the checkpoint does."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    program = tmp_path / "bin" / "transformers"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setattr(bench, "AWAY", 1.0)
    wanted = [word for check in ("chat", "refusal", "resume", "restart") for word in ("--only", check)]
    assert bench.main(["--transformers", str(tmp_path), *wanted]) == 1
    told = capsys.readouterr()
    rows = {row.split(" | ")[1]: row.split(" | ")[2:] for row in told.out.splitlines() if row.startswith("| tr")}
    assert rows["chat"][0].startswith("60 answered, 0 equal") and rows["chat"][2] == "NO |"
    assert rows["restart"] == ["status 0, 300 answered, 0 failed"] * 2 + ["yes |"]
    assert rows["resume"][0] == rows["resume"][1] and rows["resume"][2] == "yes |"
    assert rows["refusal"] == ["status 2, a sentence"] * 2 + ["yes |"]


def test_a_gguf_file_holds_the_checkpoint(bench: Any, tmp_path: Path) -> None:
    making, torch = pytest.importorskip("making_models"), pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = making.llama(tmp_path / "llama")
    keys, tensors = _read(tmp_path, bench, folder)
    weights = transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict()
    assert len(tensors) == len(weights)
    for name, kept in (
        ("token_embd", "model.embed_tokens"),
        ("blk.1.ffn_norm", "model.layers.1.post_attention_layernorm"),
    ):
        assert torch.equal(tensors[f"{name}.weight"], weights[f"{kept}.weight"])
    # RoPE turns places 0 and 8 of a head of 16 together in transformers, in llama.cpp places 0 and 1.
    mixed, plain = tensors["blk.0.attn_k.weight"], weights["model.layers.0.self_attn.k_proj.weight"]
    assert torch.equal(mixed[:4], plain[[0, 8, 1, 9]]) and torch.equal(mixed[16:18], plain[[16, 24]])
    assert keys["tokenizer.ggml.add_bos_token"] is False and keys["llama.rope.dimension_count"] == 16
    assert keys["tokenizer.ggml.tokens"][keys["tokenizer.ggml.bos_token_id"]] == "<s>"
    assert keys["tokenizer.ggml.token_type"][-3:] == [3, 3, 3]


def _read(scratch: Path, bench: Any, checkpoint: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keys and tensors of the file, by the format's description."""
    import torch

    file = scratch / "made.gguf"
    bench.write_gguf(file, checkpoint, begins=False)
    data, at = file.read_bytes(), 0

    def take(form: str) -> Any:
        nonlocal at
        at += struct.calcsize(f"<{form}")
        found = struct.unpack_from(f"<{form}", data, at - struct.calcsize(f"<{form}"))
        return found[0] if len(found) == 1 else found

    def text() -> str:
        return take(f"{take('Q')}s").decode()  # type: ignore[no-any-return]

    def value(kind: int) -> Any:
        if kind == 9:
            kind, count = take("I"), take("Q")
            return [value(kind) for _ in range(count)]
        return text() if kind == 8 else take({4: "I", 5: "i", 6: "f", 7: "?"}[kind])

    assert take("4s") == b"GGUF" and take("I") == 3
    tensors, keys = take("Q"), take("Q")
    told = {text(): value(take("I")) for _ in range(keys)}
    infos = []
    for _ in range(tensors):
        name, sizes = text(), take("I")
        shape = [take("Q") for _ in range(sizes)][::-1]
        assert take("I") == 0
        infos.append((name, shape, take("Q")))
    start = -(-at // 32) * 32
    found = {
        name: torch.frombuffer(bytearray(data[start + place :]), dtype=torch.float32)[: torch.Size(shape).numel()]
        for name, shape, place in infos
    }
    return told, {name: found[name].reshape(shape) for name, shape, _ in infos}
