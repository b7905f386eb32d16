"""Flux image to image at full model size with random weights: pictures a second, and the share of the card's rate. The
integer operators on a device: pictures a second. And batches over the pictures of real sets, as they come: how full.

    python bench/style.py [--size 1024x1024] [--strength 0.2] [--tokens 128] [--batch N] [--compile] [--peak TFLOPS]
    python bench/style.py --small        a tiny model, on the CPU, in seconds: does the way work?

Pictures go the way that they go in `mmdyn perturb`: from many threads into batches, whose size the program chooses from
the free memory, and back as arrays. The work of a picture (transformer and VAE) is counted by torch on tensors without
data. The bound beside it is a product of two large matrices, measured in the same run.

Batches are of at most 8, of the pictures of gaokao_mm, we_math and scemqa (--data DIR; left out where there are none),
from as many threads as `mmdyn perturb` has; in the model's place a batch waits SECONDS_A_MEGAPIXEL.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path.append(str(HERE))

import numpy as np
import torch
from PIL import Image
from real_samples import DATA, SETS, samples
from torch.utils.flop_counter import FlopCounterMode

from mmdyn.keys import stream
from mmdyn.sample import Sample
from mmdyn.work import Batches, give_memory_back
from perturb import Item, Operator, Picture, Services
from perturb.device_pixels import Canvas, Operation, PictureJob, change, to_device, to_host
from perturb.image.invert import Invert
from perturb.image.pad import Pad
from perturb.image.salt_pepper import SaltPepper
from perturb.style._diffusion import quieten
from perturb.style._painter import Call, Painter, PaintJob, fit
from perturb.style.flux import Flux

REF = "images/0.png"

SECONDS_A_MEGAPIXEL = 0.02

FLUX = {"in_channels": 64, "joint_attention_dim": 4096, "pooled_projection_dim": 768, "guidance_embeds": True}
VAE = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
    "latent_channels": 16,
    "use_quant_conv": False,
    "use_post_quant_conv": False,
    "scaling_factor": 0.3611,
    "shift_factor": 0.1159,
}
SMALL_FLUX = {
    **FLUX,
    "num_layers": 1,
    "num_single_layers": 1,
    "attention_head_dim": 16,
    "num_attention_heads": 2,
    "axes_dims_rope": (4, 6, 6),
}
SMALL_VAE = {**VAE, "block_out_channels": (8,) * 4, "layers_per_block": 1, "norm_num_groups": 4}

DENSE_BF16 = {"B200": 2250, "H200": 989, "H100 PCIe": 756, "H100": 989, "A100": 312, "L40S": 362, "RTX 4090": 165}
"""TFLOP/s of dense bf16 products by the makers' sheets; the first name that the device's holds counts."""


def main(argv: list[str] | None = None) -> None:
    """Print a table of what was run, how fast, and how far from the bounds."""
    quieten()
    options = arguments(argv)
    device = torch.device("cuda" if torch.cuda.is_available() and not options.small else "cpu")
    for part in (painting, pixels, batches):
        if options.only in (None, part.__name__):
            for name, text in part(options, device).items():
                print(f"{name:<15} {text}", flush=True)


def painting(options: argparse.Namespace, device: torch.device) -> dict[str, str]:
    """Flux with random weights: what was run, how fast, and how far from the bounds."""
    dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    width, height = map(int, options.size.split("x"))
    call = Call(fit(height, width).bucket, options.strength)
    work = flops(options, call) / 1e12
    rate = matmul_rate(device, dtype, 512 if options.small else 8192)
    painter = full_painter(options, device, dtype)
    batch = painter.batch_size(call)
    took, pictures = measure(painter, call, (height, width), options.rounds, batch)
    peak = options.peak or next((peak for name, peak in DENSE_BF16.items() if name in device_name(device)), None)
    done = pictures / took
    return {
        "device": f"{device_name(device)}, torch {torch.__version__}, {dtype}, compile {options.compile}",
        "picture": f"{width}x{height} in a bucket of {call.bucket[1]}x{call.bucket[0]}, {options.tokens} text tokens",
        "steps": f"{steps(call)} ({options.strength} of {Flux.steps})",
        "batch": f"{batch} ({'given' if options.batch else 'chosen'})",
        "work": f"{work:.4g} TFLOP a picture",
        "speed": f"{done:.3g} pictures/s, {done * work:.4g} TFLOP/s",
        "matrix product": f"{rate:.4g} TFLOP/s: at most {rate / work:.3g} pictures/s, {done * work / rate:.1%} reached",
        "dense bf16": f"{peak} TFLOP/s: {done * work / peak:.1%} reached" if peak else "unknown: give --peak",
        "peak memory": f"{torch.cuda.max_memory_allocated(device) / 1e9:.1f} GB" if device.type == "cuda" else "no GPU",
    }


def pixels(options: argparse.Namespace, device: torch.device) -> dict[str, str]:
    """Padding, inversion and noise in three ways: pictures a second, the best of several rounds."""
    width, height = map(int, options.size.split("x"))
    draw = np.random.default_rng(0)
    arrays = [draw.integers(0, 256, (height, width, 3), dtype=np.uint8) for _ in range(options.pictures)]
    tensors = [to_device(array, str(device)) for array in arrays]
    together, alone = Services(), Services()
    alone.canvas = Alone()
    with ThreadPoolExecutor(together.tools.concurrency) as pool:
        ways: dict[str, Callable[[], Any]] = {
            "batched": lambda: list(pool.map(partial(chained, together), tensors, range(len(tensors)))),
            "one by one": lambda: list(map(partial(chained, alone), tensors, range(len(tensors)))),
            "as arrays": lambda: list(map(partial(chained, alone), arrays, range(len(arrays)))),
        }
        speeds = {way: len(arrays) / seconds(run, options.rounds, device) for way, run in ways.items()}
    together.close()
    alone.close()
    what = f"pad, invert, salt_pepper on {len(arrays)} pictures of {options.size}, {device_name(device)}"
    return {"pixels": what} | {way: f"{speed:.4g} pictures/s" for way, speed in speeds.items()}


class StandIn(Painter, frozen=True, eq=False, kw_only=True):
    """Paints nothing, and notes its batches and how long it was at work."""

    seen: list[int]
    busy: list[float]
    carried: list[int]

    def paint(self, call: Call, jobs: Sequence[PaintJob]) -> list[Any | ValueError]:
        """The pictures as they are, after a while; arrays are carried to the device and back as ever."""
        started = time.perf_counter()
        there = [self._tensor(job.pixels) for job in jobs]
        time.sleep(SECONDS_A_MEGAPIXEL * call.pixels / 1e6 * len(jobs))
        self.seen.append(len(jobs))
        self.busy.append(time.perf_counter() - started)
        self.carried.append(2 * sum(isinstance(job.pixels, np.ndarray) for job in jobs))
        return [to_host(pixels) for pixels in there]


def batches(options: argparse.Namespace, device: torch.device) -> dict[str, str]:
    """How full batches are, and how long the device has nothing to do, over real pictures in any order."""
    if not options.data.is_dir():
        return {"batches": f"left out: {options.data} is not there (--data)"}
    with tempfile.TemporaryDirectory() as folder:
        asked = samples(options.data, Path(folder), 1 if options.small else 3)
        files = [Path(folder) / ref for sample in asked for ref in sample.all_images]
        model = StandIn(None, {}, (), Flux.repaint, Flux.costs, Flux.steps, device, 8, seen=[], busy=[], carried=[])
        waiting = Batches[Call, PaintJob, Any](
            model.paint, model.batch_size, give_memory_back, weight=lambda call: call.pixels
        )

        def paint(file: Path) -> None:
            with Image.open(file) as picture:
                array = np.asarray(picture.convert("RGB"))
            plan = fit(*array.shape[:2])
            waiting.ask(Call(plan.bucket), PaintJob(array, plan, "none", 0))

        started = time.perf_counter()
        with ThreadPoolExecutor(Flux.waits) as pool:
            list(pool.map(paint, files))
        took = time.perf_counter() - started
        waiting.close()
    alone = model.seen.count(1)
    return {
        "batches": f"{len(files)} pictures of {len(SETS)} sets, {Flux.waits} under way, at most 8 at a time",
        "mean batch": f"{len(files) / len(model.seen):.2f}; {alone / len(files):.1%} of the pictures were alone",
        "host copies": f"{sum(model.carried) / len(files):g} a picture",
        "device idle": f"{1 - sum(model.busy) / took:.1%} of {took:.1f} s",
    }


class Alone(Canvas):
    """Changes each picture by itself, in the thread that asks."""

    def ask(self, operation: Operation, job: PictureJob) -> Any:
        """What becomes of a picture."""
        return change(operation, [job])[0]


def chained(services: Services, before: Any, number: int) -> Any:
    """A picture's pixels, array or tensor, after the three operators."""
    item: Any = Item(
        Sample(str(number), "What is shown?", "open_ended", "A drawing.", images=(REF,)), {REF: Picture(before, "png")}
    )
    operators: tuple[Operator, ...] = (Pad(services), Invert(services), SaltPepper(services))
    for place, operator in enumerate(operators):
        params: Any = operator.params(stream("bench", number, place), item.sample)
        item = operator.apply(item, params)
    return item.pictures[REF].pixels


def seconds(run: Callable[[], Any], rounds: int, device: torch.device) -> float:
    """Of the fastest of some rounds, after one to warm up, with all that a device has to do."""
    best = float("inf")
    for number in range(rounds + 1):
        synchronise(device)
        started = time.perf_counter()
        made = run()
        synchronise(device)
        best = min(best, time.perf_counter() - started) if number else best
        del made
    return best


def synchronise(device: torch.device) -> None:
    """Wait for what a device has to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """The command line; --small changes what was not given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a tiny model on the CPU")
    parser.add_argument("--only", choices=("painting", "pixels", "batches"), help="one of the parts")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public sets")
    parser.add_argument("--size", help="width x height of the pictures")
    parser.add_argument("--strength", type=float, default=0.2)
    parser.add_argument("--tokens", type=int, default=128, help="text tokens")
    parser.add_argument("--batch", type=int, help="pictures at a time instead of what the program chooses")
    parser.add_argument(
        "--rounds", type=int, default=3, help="batches that are measured, or times, after one to warm up"
    )
    parser.add_argument("--pictures", type=int, help="pictures whose pixels are changed without painting")
    parser.add_argument("--compile", action="store_true", help="compile the transformer's blocks")
    parser.add_argument("--peak", type=float, help="the card's dense bf16 rate in TFLOP/s")
    options = parser.parse_args(argv)
    options.size = options.size or ("256x192" if options.small else "1024x1024")
    options.pictures = options.pictures or (8 if options.small else 64)
    options.batch = options.batch or (2 if options.small else None)
    return options


def steps(call: Call) -> int:
    """How many of the steps are painted."""
    return round(Flux.steps * call.strength)


def models(options: argparse.Namespace) -> tuple[Any, Any]:
    """Transformer and VAE of random weights, on the default device in the default dtype."""
    from diffusers import AutoencoderKL, FluxTransformer2DModel

    transformer = FluxTransformer2DModel(**(SMALL_FLUX if options.small else FLUX))
    return transformer.eval(), AutoencoderKL(**(SMALL_VAE if options.small else VAE)).eval()


@contextmanager
def made_on(device: str | torch.device, dtype: torch.dtype) -> Iterator[None]:
    """Make modules and tensors there, without gradients."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device), torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(before)


def flops(options: argparse.Namespace, call: Call) -> float:
    """Floating-point operations for one picture: encode, all steps, decode; counted on tensors without data."""
    height, width = call.bucket
    with made_on("meta", torch.bfloat16):
        transformer, vae = models(options)
        places = height // 16 * (width // 16)
        inputs = {
            "hidden_states": torch.empty(1, places, FLUX["in_channels"]),
            "encoder_hidden_states": torch.empty(1, options.tokens, FLUX["joint_attention_dim"]),
            "pooled_projections": torch.empty(1, FLUX["pooled_projection_dim"]),
            "timestep": torch.empty(1),
            "guidance": torch.empty(1),
            "img_ids": torch.empty(places, 3),
            "txt_ids": torch.empty(options.tokens, 3),
        }
        step = counted(lambda: transformer(**inputs))
        ends = counted(lambda: vae.decode(vae.encode(torch.empty(1, 3, height, width)).latent_dist.mode()))
    return steps(call) * step + ends


def counted(work: Callable[[], Any]) -> int:
    """The floating-point operations of a call."""
    counter = FlopCounterMode(display=False)
    with counter:
        work()
    return int(counter.get_total_flops())


def full_painter(options: argparse.Namespace, device: torch.device, dtype: torch.dtype) -> Painter:
    """Flux's painter without a checkpoint: random weights and random prompts."""
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxImg2ImgPipeline

    with made_on(device, dtype):
        transformer, vae = models(options)
        prompts = {
            "prompt_embeds": torch.randn(1, options.tokens, FLUX["joint_attention_dim"]),
            "pooled_prompt_embeds": torch.randn(1, FLUX["pooled_projection_dim"]),
        }
    scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True)
    nothing = dict.fromkeys(Flux.text_parts)
    pipeline = FluxImg2ImgPipeline(scheduler=scheduler, vae=vae, transformer=transformer, **nothing)
    pipeline.set_progress_bar_config(disable=True)
    vae.enable_slicing()
    if options.compile:
        transformer.compile_repeated_blocks(fullgraph=True)
    return Painter(pipeline, prompts, ["random"], Flux.repaint, Flux.costs, Flux.steps, device, options.batch)


def measure(painter: Painter, call: Call, size: tuple[int, int], rounds: int, batch: int) -> tuple[float, int]:
    """Seconds and pictures of some rounds of full batches, asked for by as many threads."""
    draw = np.random.default_rng(0)
    pictures = [draw.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(batch)]
    batches = Batches(painter.paint, lambda _: batch, give_memory_back, patience_s=1.0)

    def paint(number: int) -> Any:
        return batches.ask(call, PaintJob(pictures[number % batch], fit(*size), "random", number))

    with ThreadPoolExecutor(2 * batch) as pool:
        list(pool.map(paint, range(batch)))
        started = time.perf_counter()
        list(pool.map(paint, range(rounds * batch)))
        seconds = time.perf_counter() - started
    batches.close()
    return seconds, rounds * batch


def matmul_rate(device: torch.device, dtype: torch.dtype, side: int) -> float:
    """TFLOP/s of a product of two square matrices; the best of several."""
    with made_on(device, dtype):
        one, other = torch.randn(side, side), torch.randn(side, side)
        best = float("inf")
        for _ in range(8):
            started = time.perf_counter()
            for _ in range(4):
                one @ other
            synchronise(device)
            best = min(best, time.perf_counter() - started)
    return 4 * 2 * side**3 / best / 1e12


def device_name(device: torch.device) -> str:
    """The card's name, or the processor."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


if __name__ == "__main__":
    main()
