"""Batches of `hf:` over real questions and pictures, with the model's part played by a wait: any machine will do.

    python bench/local.py [--data DIR] [--rounds N] [--batch N]

Requests are rendered, decoded, classed by length, put into batches and prepared as in `mmdyn eval -m hf:…`, at its
defaults. In the model's place a batch takes SECONDS and more for each token of its longest prompt; preparing takes
PREPARED seconds a request. Printed are the mean batch and the share of requests that were alone, how often something
goes to the device, which share of the time it has nothing to do, and the same where nothing is prepared ahead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from real_samples import DATA, samples

from mmdyn.data import ImageFolder
from mmdyn.models import Message, Spec
from mmdyn.models.backends._local_backend import LocalPrompt
from mmdyn.models.backends.hf import HuggingFace
from mmdyn.record import Condition, Reply
from mmdyn.run.render import Renderer

SECONDS, TOKEN_SECONDS, PREPARED = 0.05, 0.00005, 0.004


class Prompts:
    """Writes prompts without a template."""

    @staticmethod
    def write(messages: Sequence[Message], pictures: list[Any], changed: str, seed: Any) -> LocalPrompt:
        """All texts in a row."""
        return LocalPrompt("".join(message.text for message in messages), pictures, (), True, "", seed, changed)


class StandIn(HuggingFace):
    """A vision-language model without weights: prepares and answers by waiting."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.__dict__["_loaded"] = (self, Prompts)
        self.batches, self.busy = list[int](), 0.0

    def write(self, prompts: Sequence[LocalPrompt], longest: float) -> list[Reply]:
        """Answers, after a while."""
        self.batches.append(len(prompts))
        started = time.perf_counter()
        time.sleep(SECONDS + longest * TOKEN_SECONDS * len(prompts))
        self.busy += time.perf_counter() - started
        return [Reply("A") for _ in prompts]

    def encode(self, _: str, prompts: Sequence[LocalPrompt]) -> float:
        """About how many tokens the longest prompt has."""
        time.sleep(PREPARED * len(prompts))
        pixels = [sum(picture.width * picture.height for picture in prompt.pictures) for prompt in prompts]
        return max(len(prompt.text) / 4 + area / 784 for prompt, area in zip(prompts, pixels, strict=True))


class Behind(StandIn):
    """The same, with nothing prepared before its turn."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._batches._prepare, run = None, self._batches._run
        self._batches._run = lambda key, jobs: run(key, self._prepare(key, jobs))


async def measured(model: StandIn, requests: Sequence[tuple[Message, ...]]) -> dict[str, str]:
    """Ask everything, as many at a time as the model lets in."""
    places = asyncio.Semaphore(model.limits.concurrency or 1)

    async def ask(messages: tuple[Message, ...]) -> None:
        async with places:
            await model.ask(messages)

    started = time.perf_counter()
    await asyncio.gather(*map(ask, requests))
    took = time.perf_counter() - started
    await model.close()
    done, alone = len(model.batches), model.batches.count(1)
    return {
        "requests": f"{len(requests)}, {model.limits.concurrency} let in, batches of at most {model._options.batch}",
        "mean batch": f"{len(requests) / done:.1f}; {alone / len(requests):.1%} of the requests were alone",
        "host copies": f"{done} batches to the device: {done / len(requests):.3f} a request",
        "device idle": f"{1 - model.busy / took:.1%} of {took:.1f} s",
    }


def main() -> None:
    """Print a table for both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public sets")
    parser.add_argument("--rounds", type=int, default=3, help="times that every question is asked")
    parser.add_argument("--batch", type=int, help="requests at a time instead of the default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asked, renderer = samples(options.data, Path(folder), options.rounds), Renderer(ImageFolder(Path(folder)))
        requests = [renderer.messages(sample, Condition()) for sample in asked]
        checkpoint = Path(folder) / "checkpoint"
        checkpoint.mkdir()
        (checkpoint / "config.json").write_text(json.dumps({"model_type": "llava"}))
        batch = f",batch={options.batch}" if options.batch else ""
        for way in (StandIn, Behind):
            print("prepared ahead" if way is StandIn else "prepared in turn")
            model = way(Spec.parse(f"hf:{checkpoint},device=cpu{batch}"))
            for name, text in asyncio.run(measured(model, requests)).items():
                print(f"  {name:<12} {text}", flush=True)


if __name__ == "__main__":
    main()
