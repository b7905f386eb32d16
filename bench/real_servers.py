"""mmdyn against servers as people run them: `transformers serve`, the LiteLLM proxy before it, and llama-cpp-python's.

    python bench/real_servers.py [--transformers VENV] [--litellm VENV] [--llama-cpp VENV] [--only CHECK]

VENV is an environment of the server's own, made by

    pip install 'transformers[serving]'
    pip install 'litellm[proxy]'                # asks the first one, which it needs
    pip install 'llama-cpp-python[server]'      # is compiled: some minutes

One that is not given is skipped. The checkpoints have random weights and are made here, for llama.cpp as GGUF files of
the same weights and tokens. What the servers say is compared with what `hf:` says of the checkpoint, but for spaces
around a text. The checks:

chat: 60 questions. pictures: 20, each with a picture. likelihood: the options of 38 weighed by `completions:`.
refusal: the same where a server tells no log-probabilities, or the model has no BOS.
restart: `kill -9` of the server when 60 of 300 are answered; it is started again 20 s later. behind: of the one that
LiteLLM asks.
resume: `kill -9` of mmdyn when 60 of 300 are answered; the same command asks those that are not on record, each once.

Exit status 1 where a check is not ok; what was said then goes to standard error. Needs mmdyn[gpu].
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path += [str(HERE), str(HERE.parent / "tests")]

import making_models
import numpy as np

from making import choice, image_ref, true_false, write_set
from mmdyn.data import encode_png
from mmdyn.record import Reply
from mmdyn.work import RECORD, Reader, RunFolder

TEXTS, ASKED, PICTURES, WEIGHED = 300, 60, 20, 38
TOKENS, TOLERANCE = 24, 1e-3
"""How long an answer is; how far log-probabilities may lie apart."""
AWAY, STARTED, PATIENCE = 20.0, 180.0, 600.0
"""Seconds: that a server is away, that it may take to start, and a call."""
KEY = "LITELLM_MASTER_KEY"
"""The variable with the key without which the proxy does not start."""


class Found(NamedTuple):
    """A row: what was seen and what is right, and, where they differ, what was said."""

    seen: str
    expected: str
    said: str = ""


class Asked(NamedTuple):
    """A call of `mmdyn eval`: its exit status, what it wrote to standard error, and replies by sample."""

    status: int
    said: str
    replies: dict[str, Reply]


class Server:
    """A server on a port of its own. words: its command, which the port goes behind. name: as tables have it.
    options: of a MODEL. behind: the server that it asks."""

    behind: Server | None = None

    def __init__(self, name: str, words: Sequence[str], folder: Path, options: str = "") -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.name, self.folder, self.options = name, folder, options
        self._words, self._log = [*words, "--host", "127.0.0.1", "--port", str(self.port)], folder / f"{name}.log"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        hub = self.folder / "hub"  # without one `transformers serve` cannot list its models
        hub.mkdir(exist_ok=True)
        alone = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(hub), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        alone |= {"OMP_NUM_THREADS": "1"}  # with more, tiny models wait for their threads on a machine that others use
        with self._log.open("ab") as log:
            settings: dict[str, Any] = {"cwd": self.folder, "stdout": log, "stderr": log, "start_new_session": True}
            self._process = subprocess.Popen(self._words, env={**os.environ, **alone}, **settings)
        until = time.monotonic() + STARTED
        while time.monotonic() < until and self._process.poll() is None:
            with suppress(OSError), urlopen(Request(f"{self.url}/models", headers=authorized()), timeout=10):
                return
            time.sleep(0.2)
        self.kill()
        raise SystemExit(f"{self.name} does not start:\n{self.said()}")

    def kill(self) -> None:
        """`kill -9`."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    @property
    def url(self) -> str:
        """Its base_url."""
        return f"http://127.0.0.1:{self.port}/v1"

    def said(self) -> str:
        """The end of its log."""
        return self._log.read_text("utf-8", "replace")[-3000:]


def authorized() -> dict[str, str]:
    """A header with the key that LiteLLM wants."""
    return {"Authorization": f"Bearer {os.environ[KEY]}"}


@contextmanager
def running(name: str, words: Sequence[str], folder: Path, options: str = "") -> Iterator[Server]:
    """A server that is killed at the end."""
    server = Server(name, words, folder, options)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def counted(server: Server) -> Iterator[tuple[str, list[bytes]]]:
    """A base_url that passes all on to a server, and the bodies that were posted."""
    posted, root = list[bytes](), server.url.removesuffix("/v1")

    class Pass(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append(body)
            self._pass(body)

        def _pass(self, body: bytes | None) -> None:
            headers = {"Content-Type": "application/json", **authorized()}
            try:
                with urlopen(Request(f"{root}{self.path}", body, headers), timeout=PATIENCE) as answer:
                    status, data = answer.status, answer.read()
            except HTTPError as error:
                status, data = error.code, error.read()
            except URLError:
                status, data = 502, b""
            with suppress(ConnectionError):  # who asked was killed
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Pass)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}/v1", posted
    finally:
        proxy.shutdown()
        proxy.server_close()


# Sets and checkpoints.


def prepare(folder: Path) -> None:
    """Two sets; a checkpoint of text with a chat template, and without; one of pictures and text; two GGUF files."""
    odd = [choice(f"c{n:03}", question=f"What is {n} times {n % 7 + 2}?") for n in range(1, TEXTS, 2)]
    even = [true_false(f"t{n:03}", question=f"{n} is a multiple of {n % 5 + 2}.") for n in range(0, TEXTS, 2)]
    mixed = [sample for pair in zip(even, odd, strict=True) for sample in pair]
    write_set(folder / "texts", mixed)
    blocks = np.random.default_rng(0).integers(0, 256, (PICTURES, 4, 4, 3))
    drawn = [encode_png(np.kron(one, np.ones((14, 14, 1))).astype(np.uint8)) for one in blocks]
    seen = [choice(f"p{n:02}", question="What is it?", images=(image_ref(data),)) for n, data in enumerate(drawn)]
    write_set(folder / "pictures", seen, images=drawn)
    _begin_texts(making_models.llama(folder / "chat"))
    shutil.copytree(folder / "chat", folder / "base", ignore=shutil.ignore_patterns("chat_template.jinja"))
    making_models.llava(folder / "vision")
    for name, begins in (("chat", True), ("no-bos", False)):
        write_gguf(folder / f"{name}.gguf", folder / "chat", begins=begins)


def _begin_texts(checkpoint: Path) -> None:
    """Have the tokenizer put BOS before each text, and the model write letters that stand alone: of parts of others
    servers make different texts."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file, tokenizer = checkpoint / "tokenizer.json", AutoTokenizer.from_pretrained(checkpoint)
    bos = {"id": tokenizer.bos_token, "ids": [tokenizer.bos_token_id], "tokens": [tokenizer.bos_token]}
    single = [{"SpecialToken": {"id": bos["id"], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    pair = [{"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB")]
    begins = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": {bos["id"]: bos}}
    file.write_text(json.dumps({**json.loads(file.read_text()), "post_processor": begins}))
    model = AutoModelForCausalLM.from_pretrained(checkpoint)
    written = [tokenizer.eos_token_id, *tokenizer.convert_tokens_to_ids([chr(code) for code in range(33, 127)])]
    with torch.no_grad():
        others = [token for token in range(len(tokenizer)) if token not in written]
        model.lm_head.weight[others] = 0.0
    model.save_pretrained(checkpoint)


def write_gguf(file: Path, checkpoint: Path, *, begins: bool) -> None:
    """A Llama checkpoint as llama.cpp reads it (version 3 of the format), in 32 bits. begins: with BOS before texts."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(checkpoint), AutoModelForCausalLM.from_pretrained(checkpoint)
    config, special = model.config, set(tokenizer.all_special_ids)
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    heads, kept = config.num_attention_heads, config.num_key_value_heads
    keys: dict[str, Any] = {
        "general.architecture": "llama",
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.block_count": config.num_hidden_layers,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kept,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "llama.rope.dimension_count": config.hidden_size // heads,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.token_type": [3 if token in special else 1 for token in range(len(words))],
        "tokenizer.ggml.merges": ["Ā Ā"],  # it wants one: of two zeros
        "tokenizer.ggml.bos_token_id": tokenizer.bos_token_id,
        "tokenizer.ggml.eos_token_id": tokenizer.eos_token_id,
        "tokenizer.ggml.padding_token_id": tokenizer.pad_token_id,
        "tokenizer.ggml.add_bos_token": begins,
        "tokenizer.chat_template": tokenizer.chat_template,
    }
    tensors, infos, data = {}, b"", b""
    for name, weights in model.state_dict().items():
        for old, new in GGUF_NAMES.items():
            name = name.replace(old, new)
        rows = weights.float().numpy()
        if turned := {"attn_q": heads, "attn_k": kept}.get(name.split(".")[-2]):  # pairs that RoPE turns lie together
            rows = rows.reshape(turned, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)
        tensors[name] = rows
    for name, rows in tensors.items():
        infos += _told(name) + struct.pack(f"<I{rows.ndim}QIQ", rows.ndim, *rows.shape[::-1], 0, len(data))
        data += _aligned(rows.astype("<f4").tobytes())
    told = b"".join(_told(key) + _typed(value) for key, value in keys.items())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + told + infos
    file.write_bytes(_aligned(head) + data)


GGUF_NAMES = {
    "model.layers": "blk",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
"""Parts of tensors' names in transformers and in GGUF."""


def _told(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _typed(value: Any) -> bytes:
    """A value behind the number of its type."""
    if isinstance(value, list):  # of strings, or of numbers, which llama.cpp wants with a sign
        head = struct.pack("<IIQ", 9, 8 if isinstance(value[0], str) else 5, len(value))
        return head + b"".join(_typed(one)[4:] for one in value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _told(value)
    number, form = {bool: (7, "?"), int: (4, "I"), float: (6, "f")}[type(value)]
    return struct.pack(f"<I{form}", number, value)


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % 32)


# What is asked.


def start(folder: Path, model: str, source: str, out: str, *more: str) -> subprocess.Popen[str]:
    """Begin `mmdyn eval`."""
    words = [sys.executable, "-m", "mmdyn", "eval", source, "-m", model, "-o", out, "-q", *more]
    settings = {"MMDYN_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    piped: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=folder, env={**os.environ, **settings}, start_new_session=True, **piped)


def ended(process: subprocess.Popen[str], run: Path) -> Asked:
    """A call when it has ended."""
    try:
        said = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = f"{process.communicate()[1]}\nit did not end"
    records = RunFolder(run).records() if (run / "run.json").exists() else ()
    return Asked(process.returncode, said, {record.sample: record.reply for record in records})


def ask(folder: Path, model: str, source: str, out: str, *more: str) -> Asked:
    """A call of `mmdyn eval`, from beginning to end."""
    return ended(start(folder, model, source, out, *more), folder / out)


def held(run: Path) -> int:
    """How many records there are."""
    if not (run / "records").is_dir():
        return 0
    with Reader(run / "records") as reader:
        return sum(1 for _ in reader.items(RECORD))


def wait_for_some(process: subprocess.Popen[str], run: Path) -> None:
    """Until ASKED records are there, or the call has ended."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until and held(run) < ASKED:
        time.sleep(0.05)


def _model(server: Server, backend: str = "openai", name: str = "chat", url: str = "") -> str:
    return f"{backend}:{name},base_url={url or server.url},max_tokens={TOKENS}{server.options}"


def chat(server: Server) -> Found:
    """Texts of questions."""
    return _texts(server, "chat", "texts", ASKED)


def pictures(server: Server) -> Found:
    """Texts of questions with pictures."""
    return _texts(server, "vision", "pictures", PICTURES)


def _texts(server: Server, name: str, source: str, n: int) -> Found:
    limit = ("--limit", str(n))
    mine = ask(server.folder, _model(server, name=name), source, f"{server.name}-{source}", *limit)
    theirs = ask(server.folder, f"hf:{name},max_new_tokens={TOKENS}", source, f"hf-{source}", *limit).replies
    told = [one for one, reply in mine.replies.items() if not reply.error]
    equal = [one for one in told if mine.replies[one].text.strip() == theirs[one].text.strip()]
    different, most = len({reply.text for reply in theirs.values()}), n // 2
    wanted = different if different > most else f"more than {most}"
    seen = f"{len(told)} answered, {len(equal)} equal, of {different} texts"
    return Found(seen, f"{n} answered, {n} equal, of {wanted} texts", mine.said)


def likelihood(server: Server) -> Found:
    """Options that are chosen, and their log-probabilities."""
    more = ("--limit", str(WEIGHED), "--style", "likelihood")
    mine = ask(server.folder, _model(server, "completions"), "texts", f"{server.name}-weighed", *more)
    theirs = ask(server.folder, "hf:base", "texts", "hf-weighed", *more).replies
    told = {one: reply for one, reply in mine.replies.items() if reply.logprobs}
    equal = sum(reply.text == theirs[one].text for one, reply in told.items())
    pairs = ((told[one].logprobs, theirs[one].logprobs) for one in told)
    apart = max((abs(a - b) for both in pairs for a, b in zip(*both, strict=True)), default=float("nan"))
    within = f"within {TOLERANCE:g}" if apart <= TOLERANCE else f"up to {apart:.2g}"
    print(f"{server.name}: log-probabilities differ by {apart:.1g} at most", file=sys.stderr)
    return Found(f"{equal} chosen equal, {within}", f"{WEIGHED} chosen equal, within {TOLERANCE:g}", mine.said)


def refusal(server: Server) -> Found:
    """What is said where there are no log-probabilities."""
    more = ("--limit", str(WEIGHED), "--style", "likelihood")
    found = ask(server.folder, _model(server, "completions"), "texts", f"{server.name}-refused", *more)
    lines = [line for line in found.said.splitlines() if line.strip()]
    print(f"{server.name}: {lines[-1] if lines else 'nothing'}", file=sys.stderr)
    sentence = len(lines) == 1 and lines[0].startswith("mmdyn: ") and "tells no log-probabilities" in lines[0]
    said = "a sentence" if sentence else f"{len(lines)} lines"
    return Found(f"status {found.status}, {said}", "status 2, a sentence", found.said)


def restart(server: Server) -> Found:
    """A server that is killed and comes back."""
    return _restart(server, server, "restart")


def behind(server: Server) -> Found:
    """The server that a proxy asks is killed and comes back."""
    return _restart(server, server.behind or server, "behind")


def _restart(server: Server, killed: Server, name: str) -> Found:
    run, began = f"{server.name}-{name}", time.monotonic()
    process = start(server.folder, _model(server), "texts", run)
    wait_for_some(process, server.folder / run)
    killed.kill()
    at = held(server.folder / run)
    time.sleep(AWAY)
    killed.start()
    found = ended(process, server.folder / run)
    failed = sum(1 for reply in found.replies.values() if reply.error)
    print(f"{server.name}, {name}: killed at {at}, {time.monotonic() - began:.0f} s in all", file=sys.stderr)
    seen = f"status {found.status}, {len(found.replies) - failed} answered, {failed} failed"
    amid = "" if at < TEXTS else ", killed too late"
    return Found(seen + amid, f"status 0, {TEXTS} answered, 0 failed", found.said)


def _settled(posted: list[bytes]) -> int:
    """How many requests came, those among them that were under way when who sent them was killed."""
    before = -1
    while before < len(posted):
        before = len(posted)
        time.sleep(2)
    return before


def resume(server: Server) -> Found:
    """A call that is killed and made again. A reply that came before the kill may lie in the run's cache alone, and is
    not asked for again."""
    run = f"{server.name}-resume"
    with counted(server) as (url, posted):
        words = (server.folder, _model(server, url=url), "texts", run)
        process = start(*words)
        wait_for_some(process, server.folder / run)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        at, before = held(server.folder / run), _settled(posted)
        found = ask(*words)
    asked = len(set(posted[before:]))
    seen = f"{at} held, no more than {max(asked, TEXTS - at)} asked, {len(found.replies)} answered"
    amid = "" if at < TEXTS else ", killed too late"
    return Found(seen + amid, f"{at} held, no more than {TEXTS - at} asked, {TEXTS} answered", found.said)


CHECKS: dict[str, Callable[[Server], Found]] = {
    check.__name__: check for check in (chat, pictures, likelihood, refusal, resume, restart, behind)
}


def serve_transformers(args: argparse.Namespace, folder: Path) -> Iterator[tuple[Server, Sequence[str]]]:
    """It loads what it is asked for."""
    with running("transformers", [f"{args.transformers}/bin/transformers", "serve"], folder) as server:
        yield server, ("chat", "pictures", "refusal", "resume", "restart")


def serve_litellm(args: argparse.Namespace, folder: Path) -> Iterator[tuple[Server, Sequence[str]]]:
    """Before `transformers serve`."""
    with running("behind litellm", [f"{args.transformers}/bin/transformers", "serve"], folder) as asked:
        models = [
            {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_base": asked.url, "api_key": "-"}}
            for name in ("chat", "vision")
        ]
        (folder / "litellm.yaml").write_text(json.dumps({"model_list": models}))
        words = [f"{args.litellm}/bin/litellm", "--config", "litellm.yaml"]
        with running("litellm", words, folder, f",api_key_env={KEY}") as server:
            server.behind = asked
            yield server, ("chat", "pictures", "refusal", "resume", "restart", "behind")


def serve_llama_cpp(args: argparse.Namespace, folder: Path) -> Iterator[tuple[Server, Sequence[str]]]:
    """Without a penalty, with keys and values in 32 bits, and with log-probabilities; then without a BOS."""
    for name, file, checks in (
        ("llama-cpp-python", "chat.gguf", ("chat", "likelihood", "resume", "restart")),
        ("llama-cpp-python, no BOS", "no-bos.gguf", ("refusal",)),
    ):
        words = [f"{args.llama_cpp}/bin/python", "-m", "llama_cpp.server", "--model", file, "--model_alias", "chat"]
        words += ["--n_ctx", "2048", "--logits_all", "true", "--type_k", "0", "--type_v", "0"]
        with running(name, words, folder, ',extra_body={"repeat_penalty":1.0}') as server:
            yield server, checks


SERVERS: Mapping[str, tuple[Callable[..., Iterator[tuple[Server, Sequence[str]]]], Sequence[str]]] = {
    "transformers": (serve_transformers, ("transformers",)),
    "litellm": (serve_litellm, ("litellm", "transformers")),
    "llama-cpp-python": (serve_llama_cpp, ("llama_cpp",)),
}
"""What starts a server, and the options that it needs."""


def _environment(text: str) -> Path:
    folder = Path(text).absolute()
    if not (folder / "bin" / "python").exists():
        raise argparse.ArgumentTypeError(f"{text} is no environment: python3 -m venv {text} makes one")
    return folder


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("transformers", "litellm", "llama-cpp"):
        parser.add_argument(f"--{name}", type=_environment, metavar="VENV", help="the environment that it is in")
    parser.add_argument("--only", choices=[*CHECKS], action="append", help="(all)")
    args = parser.parse_args(argv)
    os.environ[KEY] = f"sk-{token_hex(32)}"
    print("| server | check | seen | expected | ok |\n|---|---|---|---|---|", flush=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if any(vars(args)[option] for _, options in SERVERS.values() for option in options):
            prepare(folder)
        for name, (serve, options) in SERVERS.items():
            if lacking := [one for one in options if not vars(args)[one]]:
                print(f"| {name} | | skipped: no --{lacking[0].replace('_', '-')} | | |", flush=True)
                continue
            for server, checks in serve(args, folder):
                for check in checks:
                    if args.only and check not in args.only:
                        continue
                    found = CHECKS[check](server)
                    ok = found.seen == found.expected
                    wrong += not ok
                    cells = (server.name, check, found.seen, found.expected, "yes" if ok else "NO")
                    print(f"| {' | '.join(cells)} |", flush=True)
                    if not ok:
                        print(f"{found.said[-3000:]}\n{server.said()}", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
