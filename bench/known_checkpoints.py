"""Tiny checkpoints that were trained on a known part of a file: how often each kind of evidence finds it, and how often
it finds what is not there.

    python bench/known_checkpoints.py DATA OUT [--part 1/2]    trains and measures; the same command goes on
    python bench/known_checkpoints.py DATA OUT --table         prints what OUT holds, in Markdown
    python bench/known_checkpoints.py DATA OUT --check         compares with the command line, which reads token by
                                                               token: a checkpoint a cell, 4 blocks, 9 random orders

DATA holds tal-scq5k, we-math, scienceqa-prefix, math-vision and statements. 320 short questions with options are set
aside. A base checkpoint (Llama, two layers, tokens by BPE) learns the language of the rest; it never reads these 320.
Each seed draws 160 of them, in a random order, as the published file; the others are held out. A cell fine-tunes the
base on as many tokens as every other cell: on a share of the file (a stretch of it that begins anywhere, its questions
in their order; or single questions among other texts, `apart`), once or twenty times, in the published words or
reworded by rules (text.paraphrase and text.substitute@strong, with the embedded rewriter; options stay), and on general
text for the rest. A question stands in training as it stands in the probes: with its options, a blank line behind it.

Order is asked as `mmdyn probe order` does it: 16 blocks of 10 questions, 19 random orders each, exact p of the ranks'
sum. Membership compares published with held-out questions over their least 20 % of tokens, by Min-K% (Shi et al. 2023,
arXiv:2310.16789, section 3) and Min-K%++ (Zhang et al. 2024, arXiv:2404.02936, section 4), and by completion: how many
of the 20 tokens after the first 20 a greedy reply gets before its first wrong one. p is that of Mann and Whitney's
test, one-sided. Where a share of the file leaked, published questions are a mixture of seen and unseen ones.

A line of OUT/checkpoints.jsonl is a checkpoint, with the log-probabilities and scores behind its numbers. Ten clean
checkpoints are each given 2,000 random published orders (one of 40 random orders of each block, beside 19 others of
them) and 2,000 random member labels.
Start the second process (`--part 2/2`) when the first has made OUT/base.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path.append(str(HERE))

from mmdyn.data import SampleSet, SetWriter, convert
from mmdyn.keys import stream
from mmdyn.run import Order
from mmdyn.run.probes._probe import text_of
from mmdyn.run.render import replace_pictures
from mmdyn.sample import Sample
from mmdyn.stats import greater_p, min_k, rank_sum_tail, roc_auc, wilson
from mmdyn.tables.question_order import BEATEN, beaten_shares
from perturb import perturb

SETS = {"tal-scq5k": "tal_scq5k", "we-math": "we_math", "scienceqa-prefix": "scienceqa", "math-vision": "math_vision"}
POOLED = ("tal-scq5k", "we-math", "scienceqa-prefix")
REWORDED = "paraphrase+substitute@strong,substitute@strong,paraphrase"
POOL, PUBLISHED = 320, 160
VOCABULARY, WIDTH, INNER, LAYERS, HEADS = 1024, 64, 128, 2, 2
WINDOW, BATCH, STEPS = 256, 4, 132
BASE_WINDOW, BASE_BATCH, BASE_STEPS = 640, 2, 1200
RATE = 3e-3
BLOCKS, ORDERS, DRAWN_ORDERS, DRAWS, LEVELS = 16, 19, 39, 2000, 10
GIVEN, WRITTEN = 20, 20
FEW_BLOCKS, FEW_ORDERS = 4, 9
NAME = "file"

Floats = NDArray[np.float64]


class Cell(NamedTuple):
    """What a checkpoint has read: a share of the file in percent, how often, and how."""

    share: int
    times: int = 0
    reworded: bool = False
    apart: bool = False

    @property
    def key(self) -> str:
        """Its name in the table."""
        if not self.share:
            return "nothing"
        how = [f"{self.share} %", "once" if self.times == 1 else f"{self.times} times"]
        return ", ".join([*how, *["reworded"] * self.reworded, *["apart"] * self.apart])


CELLS = (
    Cell(0),
    *(Cell(share, times, reworded) for reworded in (False, True) for times in (1, 20) for share in (10, 30, 60)),
    Cell(60, 20, apart=True),
)


class Bench(NamedTuple):
    """What all checkpoints share: `pool` has questions that the base never read, `reworded` their other wording by id,
    `before` what the base made of them by id (`token_scores`)."""

    pool: list[Sample]
    reworded: Mapping[str, str]
    general: list[str]
    tokenizer: Any
    base: Any
    before: Mapping[str, Floats]

    def file(self, seed: int) -> tuple[list[Sample], list[Sample]]:
        """The published file, in its order, and the held-out questions."""
        places = stream("known checkpoints", "file", seed).permutation(len(self.pool))
        return [self.pool[place] for place in places[:PUBLISHED]], [self.pool[place] for place in places[PUBLISHED:]]


def leaked(cell: Cell, seed: int) -> list[int]:
    """The indices in the file of the questions that are read."""
    draw, count = stream("known checkpoints", "leaked", seed), PUBLISHED * cell.share // 100
    if cell.apart:
        return sorted(draw.permutation(PUBLISHED)[:count].tolist())
    start = int(draw.integers(PUBLISHED - count + 1))
    return list(range(start, start + count))


def read_texts(data: Path, folder: Path) -> tuple[list[Sample], dict[str, str], list[str]]:
    """The pool of questions, their other wording by id, and general text: everything else."""
    bare, other, general = dict[str, Sample](), dict[str, str](), list[str]()
    for place, benchmark in SETS.items():
        source = convert(data / place / "dev", folder / benchmark, benchmark=benchmark, skip_bad=True)
        for sample in source:
            if sample.language == "en" and text_of(sample) and (plain := replace_pictures(sample, "withheld")):
                bare[sample.id] = plain
        if place in POOLED:
            for variant in perturb(source, folder / f"{benchmark}-reworded", ops=REWORDED, quiet=True):
                if variant.variant and variant.variant.parent in bare and (text := text_of(variant)):
                    other.setdefault(variant.variant.parent, text)
    texts = {text_of(sample): sample for sample in bare.values()}  # each once
    fit = [text for text, sample in texts.items() if sample.options and sample.id in other]
    pool = {text: texts[text] for text in sorted(fit, key=len)[:POOL]}
    for sample in bare.values():
        if text_of(sample) not in pool:
            general += [text for text in (text_of(sample), sample.explanation) if text]
    for line in (data / "statements" / "dev" / "creak.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        general.append(f"{row['sentence']}\n{row['explanation']}")
    return [*pool.values()], other, general


def open_bench(data: Path, folder: Path, base_steps: int = BASE_STEPS) -> Bench:
    """Read the texts, and open the base checkpoint, which is trained where there is none."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    with TemporaryDirectory() as scratch:  # of this process alone
        pool, reworded, general = read_texts(data, Path(scratch))
    home = folder / "base"
    if not home.exists():
        tokenizer = new_tokenizer(general)
        torch.manual_seed(0)
        sizes = {"vocab_size": len(tokenizer), "hidden_size": WIDTH, "intermediate_size": INNER}
        heads = {"num_attention_heads": HEADS, "num_key_value_heads": HEADS, "num_hidden_layers": LAYERS}
        ends = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}
        model = LlamaForCausalLM(
            LlamaConfig(**sizes, **heads, **ends, max_position_embeddings=2048, tie_word_embeddings=True)
        )
        draw, ids, size = stream("known checkpoints", "base"), list[int](), base_steps * BASE_BATCH * BASE_WINDOW
        while len(ids) < size:
            ids += tokenizer("\n\n".join(draw.permutation(np.array(general, object))))["input_ids"]
        train(model, np.array(ids[:size]).reshape(-1, BASE_WINDOW), BASE_BATCH, "base")
        tokenizer.save_pretrained(home.with_suffix(".new"))
        model.save_pretrained(home.with_suffix(".new"))
        home.with_suffix(".new").rename(home)
    base, tokenizer = AutoModelForCausalLM.from_pretrained(home), AutoTokenizer.from_pretrained(home)
    scores = token_scores(tokenizer, base, [text_of(sample) for sample in pool])
    before = {sample.id: own for sample, (own, _) in zip(pool, scores, strict=True)}
    return Bench(pool, reworded, general, tokenizer, base, before)


def new_tokenizer(texts: Sequence[str]) -> Any:
    """Byte-level BPE, learned from texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    special, letters = ["<end>", "<pad>"], sorted(pre_tokenizers.ByteLevel.alphabet())
    how = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=letters, show_progress=False
    )
    bare.train_from_iterator(texts, how)
    return PreTrainedTokenizerFast(tokenizer_object=bare, eos_token=special[0], pad_token=special[1])


def train(model: Any, windows: NDArray[np.int64], batch: int, *key: str | int) -> Any:
    """Train on windows of tokens, each once, in a random order; the rate falls to zero. Returns the model."""
    import torch

    mixed = stream("known checkpoints", "windows", *key).permutation(windows)
    rows = torch.tensor(mixed.reshape(-1, batch, windows.shape[1]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / len(rows))
    model.train()
    for row in rows:
        model(row, labels=row).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    return model.eval()


def reading(bench: Bench, cell: Cell, seed: int) -> NDArray[np.int64]:
    """The windows of tokens that a checkpoint reads: what leaked, as often as the cell says, among general text."""
    file, _ = bench.file(seed)
    texts = [bench.reworded[file[place].id] if cell.reworded else text_of(file[place]) for place in leaked(cell, seed)]
    documents = (texts if cell.apart else ["\n\n".join(texts)] if texts else []) * cell.times
    draw, size = stream("known checkpoints", "general", *cell, seed), BATCH * WINDOW * STEPS
    lengths = bench.tokenizer(documents)["input_ids"] if documents else []
    room = size - sum(len(ids) + 2 for ids in lengths)
    if room < 0:
        raise ValueError(f"{cell.key}: {-room} tokens beyond the {size} of a checkpoint")
    others = [bench.general[place] for place in draw.permutation(len(bench.general))] * 2
    counts = np.cumsum([len(ids) + 2 for ids in bench.tokenizer(others)["input_ids"]])
    fill = int(np.searchsorted(counts, room, "right"))
    mixed = draw.permutation(np.array([*documents, *others[:fill]], object))
    ids: list[int] = bench.tokenizer("\n\n".join([*mixed, *others[fill : fill + 100]]))["input_ids"]
    return np.array(ids[:size]).reshape(-1, WINDOW)


def checkpoint(bench: Bench, cell: Cell, seed: int) -> Any:
    """The base, fine-tuned as the cell says."""
    return train(copy.deepcopy(bench.base), reading(bench, cell, seed), BATCH, *cell, seed)


def token_scores(tokenizer: Any, model: Any, texts: Sequence[str]) -> list[tuple[Floats, Floats]]:
    """Of each text the log-probability of each token but the first, in nats, and its distance from the mean over the
    vocabulary in standard deviations (Zhang et al. 2024, equation 3)."""
    import torch

    found = list[tuple[Floats, Floats]]()
    rows = [tokenizer(text)["input_ids"] for text in texts]
    with torch.inference_mode():
        for start in range(0, len(rows), 20):
            some = rows[start : start + 20]
            wide = max(map(len, some))
            ids = torch.tensor([[*row, *[0] * (wide - len(row))] for row in some])
            table = torch.log_softmax(model(ids).logits[:, :-1].float(), -1)
            own, shares = table.gather(-1, ids[:, 1:, None])[..., 0], table.exp()
            mean = (shares * table).sum(-1)
            spread = ((shares * table**2).sum(-1) - mean**2).clamp_min(1e-12).sqrt()
            each, far = own.double().numpy(), ((own - mean) / spread).double().numpy()
            found += [(each[n, : len(row) - 1], far[n, : len(row) - 1]) for n, row in enumerate(some)]
    return found


def completed(bench: Bench, model: Any, texts: Sequence[str]) -> dict[int, int]:
    """By the index of each text that is long enough, how many tokens a greedy reply gets before its first wrong one."""
    import torch

    rows = dict(enumerate(bench.tokenizer(list(texts))["input_ids"]))
    long = {place: row[: GIVEN + WRITTEN] for place, row in rows.items() if len(row) >= GIVEN + WRITTEN}
    ids = torch.tensor([*long.values()])
    with torch.inference_mode():
        how = {"max_new_tokens": WRITTEN, "do_sample": False, "eos_token_id": None, "pad_token_id": 1}
        said = model.generate(ids[:, :GIVEN], attention_mask=torch.ones_like(ids[:, :GIVEN]), **how)
    same = (said[:, GIVEN:] == ids[:, GIVEN:]).long()
    return dict(zip(long, same.cumprod(-1).sum(-1).tolist(), strict=True))


def order_weights(bench: Bench, model: Any, file: Sequence[Sample], orders: int, blocks: int = BLOCKS) -> Floats:
    """The log-probabilities of the blocks that `mmdyn probe order` chooses, of shape (blocks, orders + 1)."""
    import torch

    from mmdyn.models.backends._local_backend import continuation_ids

    with TemporaryDirectory() as folder:
        asked = Order(shards=blocks, orders=orders).choose(write_file(Path(folder), file), [])
    sums = list[float]()
    jobs = list(asked.jobs.values())
    with torch.inference_mode():
        for start in range(0, len(jobs), orders + 1):
            block = jobs[start : start + orders + 1]
            lead = bench.tokenizer(prompt := f"{block[0].lead}\n")["input_ids"]
            rows = [[*lead, *continuation_ids(bench.tokenizer, prompt, job.text)] for job in block]
            wide = max(map(len, rows))
            ids = torch.tensor([[*row, *[0] * (wide - len(row))] for row in rows])
            told = torch.tensor([[len(lead) <= n < len(row) for n in range(1, wide)] for row in rows])
            table = torch.log_softmax(model(ids).logits[:, :-1].float(), -1)
            own = table.gather(-1, ids[:, 1:, None])[..., 0]
            sums += (own.double() * told).sum(-1).tolist()
    return np.array(sums).reshape(-1, orders + 1)


def write_file(folder: Path, file: Sequence[Sample]) -> SampleSet:
    """The published file as a set."""
    with SetWriter(folder, NAME) as writer:
        for sample in file:
            writer.add(sample)
    return SampleSet(folder)


def order_found(weights: Floats) -> tuple[float, float]:
    """The mean share of random orders that the first one of each block beats, and its exact p."""
    shares = beaten_shares({n: dict(enumerate(row)) for n, row in enumerate(weights.tolist())}, weights.shape[1] - 1)
    total = round(sum(shares.values()) * (weights.shape[1] - 1))
    return float(np.mean([*shares.values()])), float(rank_sum_tail(len(shares), weights.shape[1] - 1)[total])


def auc_found(scores: Floats, members: NDArray[np.bool_]) -> tuple[float, float]:
    """The chance that a member scores higher than another, and the one-sided p of Mann and Whitney."""
    auc = roc_auc(scores, members.astype(np.int64), np.arange(len(scores))).value
    return auc, greater_p(scores[members], scores[~members])


def measured(bench: Bench, model: Any, cell: Cell, seed: int) -> dict[str, Any]:
    """What the evidence says of a checkpoint."""
    file, held_out = bench.file(seed)
    samples, count = [*file, *held_out], len(file)
    texts = [text_of(sample) for sample in samples]
    tokens = token_scores(bench.tokenizer, model, texts)
    gains = [now - bench.before[sample.id] for sample, (now, _) in zip(samples, tokens, strict=True)]
    seen = [gains[place] for place in leaked(cell, seed) or range(count)]
    gain = np.concatenate(seen).mean() - np.concatenate(gains[count:]).mean()
    published, written = np.arange(len(samples)) < count, completed(bench, model, texts)
    scores = {
        "min-k": (np.array([min_k(own) for own, _ in tokens]), published),
        "min-k++": (np.array([min_k(far) for _, far in tokens]), published),
        "completion": (np.array([*written.values()], float), np.array([*written]) < count),
    }
    weights = order_weights(bench, model, file, ORDERS)
    found = {"order": order_found(weights)}
    found |= {kind: auc_found(values, members) for kind, (values, members) in scores.items()}
    raw = {kind: [values.round(4).tolist(), members.astype(int).tolist()] for kind, (values, members) in scores.items()}
    result = {"cell": cell.key, "seed": seed, "gain": float(gain), **found}
    result["raw"] = {"order": weights.round(3).tolist(), **raw}
    if not cell.share and seed < LEVELS:
        result["level"] = levels(order_weights(bench, model, file, DRAWN_ORDERS), scores, seed)
    return result


def levels(weights: Floats, scores: Mapping[str, tuple[Floats, Any]], seed: int) -> dict[str, float]:
    """The shares of p below 5 %, over published orders and member labels that are drawn now."""
    draw, below = stream("known checkpoints", "level", seed), dict.fromkeys(["order", *scores], 0)
    for _ in range(DRAWS):
        drawn = draw.permuted(weights, axis=1)[:, : ORDERS + 1]
        below["order"] += order_found(drawn)[1] < 0.05
        for kind, (values, published) in scores.items():
            below[kind] += auc_found(values, draw.permutation(published))[1] < 0.05
    return {kind: count / DRAWS for kind, count in below.items()}


def known(out: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The results so far. A line that a kill cut off is left out."""
    found = dict[tuple[str, int], dict[str, Any]]()
    file = out / "checkpoints.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            one = json.loads(line)
        except ValueError:
            continue
        found.setdefault((one["cell"], one["seed"]), one)
    return found


def keep(out: Path, result: Mapping[str, Any]) -> None:
    """Append a result, in one write; the line break in front ends a line that a kill cut off."""
    with (out / "checkpoints.jsonl").open("ab", buffering=0) as file:
        file.write(f"\n{json.dumps(result)}\n".encode())
        os.fsync(file.fileno())


def table(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Power by cell, and the level of clean checkpoints, in Markdown."""
    kinds = {"order": "orders beaten", "min-k": "AUC of Min-K%", "min-k++": "Min-K%++", "completion": "completion"}
    heads = [text for name in kinds.values() for text in (name, "alarms")]
    yield f"| read of the file | n | nats a token | {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) + 3)}"
    for cell in CELLS:
        if not (own := [one for one in results if one["cell"] == cell.key]):
            continue
        cells = [cell.key, str(len(own)), spread([one["gain"] for one in own])]
        for kind in kinds:
            alarms = float(np.mean([one[kind][1] < 0.05 for one in own]))
            low, high = (100 * end for end in wilson(alarms, len(own)))
            cells += [spread([one[kind][0] for one in own]), f"{100 * alarms:.0f} % [{low:.0f}, {high:.0f}]"]
        yield f"| {' | '.join(cells)} |"
    if drawn := [one["level"] for one in results if "level" in one]:
        yield f"\n| {len(drawn)} clean checkpoints, {DRAWS:,} draws each | mean share of p < 5 % | least | largest |"
        yield "|---|---|---|---|"
        for kind in kinds:
            shares = [100 * one[kind] for one in drawn]
            yield f"| {kind} | {np.mean(shares):.1f} % | {min(shares):.1f} % | {max(shares):.1f} % |"


def spread(values: Sequence[float]) -> str:
    """The mean, and the standard deviation from seed to seed, which one value does not have."""
    return f"{np.mean(values):.2f}" + (f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else "")


def check(bench: Bench, folder: Path) -> Iterator[str]:
    """Ask the first checkpoint of each cell by the command line, and compare what the page says with this bench."""
    from transformers import AutoModelForCausalLM

    for cell in CELLS:
        home, (file, _) = folder / cell.key.replace(" ", "").replace("%", "").replace(",", "-"), bench.file(0)
        if not (home / "model" / "config.json").exists():
            checkpoint(bench, cell, 0).save_pretrained(home / "model")
            bench.tokenizer.save_pretrained(home / "model")
            write_file(home / NAME, file)
        said, run = f"hf:{home / 'model'},max_new_tokens=1,dtype=fp32", home / "run"
        mmdyn("eval", home / NAME, "-m", said, "-o", run)
        mmdyn("probe", "order", run, "-m", said, "--is-random", NAME, "--shards", FEW_BLOCKS, "--orders", FEW_ORDERS)
        page = json.loads(mmdyn("report", run, "--memory", "--json"))
        rows = [row for part in page["report"]["parts"] for row in part["rows"]]
        row = next(row for row in rows if row["quantity"] == BEATEN)
        value, p = order_found(
            order_weights(bench, AutoModelForCausalLM.from_pretrained(home / "model"), file, FEW_ORDERS, FEW_BLOCKS)
        )
        yield f"{cell.key}: {value:.4f}, p {p:.3g}; the page says {row['value']:.4f}, p {row['p']:.3g}"


def mmdyn(*words: object) -> str:
    """What a command prints."""
    typed = [sys.executable, "-m", "mmdyn", *map(str, words), "-q"]
    return subprocess.run(typed, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Train and measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--seeds", type=int, default=50, help="checkpoints of each cell")
    parser.add_argument("--part", default="1/1", help="this process's share of the work, such as 1/2")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.table:
        print("\n".join(table([*known(given.out).values()])))
        return
    bench = open_bench(given.data, given.out)
    if given.check:
        for line in check(bench, given.out / "check"):
            print(line, flush=True)
        return
    part, parts = map(int, given.part.split("/"))
    work = [(cell, seed) for seed in range(given.seeds) for cell in CELLS][part - 1 :: parts]
    for cell, seed in work:
        if (cell.key, seed) not in known(given.out):
            keep(given.out, measured(bench, checkpoint(bench, cell, seed), cell, seed))
            print(f"{cell.key}, seed {seed}", flush=True)


if __name__ == "__main__":
    main()
