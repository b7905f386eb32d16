"""What `flux` and `klein` share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, cast

from numpy.random import Generator

from mmdyn.errors import MmdynError, UserError, sentence_of
from mmdyn.keys import Json, digest
from mmdyn.models import Spec, read_options
from mmdyn.work import Batches, give_memory_back, is_out_of_memory
from perturb._hashing import keys
from perturb.item import Pixels
from perturb.style._loading import LoadSettings, check_kind, find_checkpoint, lent, load, place, quantization, quieten
from perturb.style._painter import Call, Costs, Painter, PaintJob, fit
from perturb.style._prompts import encoded, prompts, styles

VERSION = 3
"""Goes up whenever equal parameters and weights paint other pictures, such as by other buckets."""


class Diffusion(ABC):
    """A styler on a diffusers pipeline.

    Spec: the name is a checkpoint's folder, or a repository, which is fetched; the options are `Settings`. The weights
    are loaded with the first picture. Seeds and parameters are exact; pixels are equal up to a tolerance (a few levels
    of 255) over batches, devices and versions of the libraries, which add up in another order.
    Raises UserError: options, device, weights; MissingExtra.
    """

    label: str
    repository: ClassVar[str]
    """Where the weights are taken from unless a folder or another repository is given."""
    kinds: ClassVar[tuple[str, ...]]
    """The pipeline classes whose checkpoints it paints with."""
    text_parts: ClassVar[tuple[str, ...]]
    """The components that are there for prompts alone."""
    steps: ClassVar[int]
    costs: ClassVar[Costs]
    waits = 256

    def __init__(self, spec: Spec) -> None:
        self._settings = read_options(spec, LoadSettings)
        self._settings.check()
        self._checkpoint = find_checkpoint(spec.name, self._settings.revision)
        check_kind(self._checkpoint.folder, self.kinds, self.label)
        self.device: str | None = str(self._settings.torch_device)
        self._texts, self._steps = prompts(self.label), self._settings.steps or self.steps
        self.identity: Json = {
            "styler": self.label,
            "version": VERSION,
            "checkpoint": self._checkpoint.identity,
            "dtype": str(self._settings.torch_dtype).removeprefix("torch."),
            "quantize": self._settings.quantize,
            "steps": self._steps,
            "prompts": digest(self._texts),
        }
        self._batches = Batches[Call, PaintJob, Any](
            self._paint, lambda call: self.painter.batch_size(call), give_memory_back, weight=lambda call: call.pixels
        )

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """A prompt's name and a 63-bit seed."""
        return {"prompt": styles()[stream.integers(len(styles()))], "seed": int(stream.integers(1 << 63))}

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """The picture in RGB and its own size, an array or a tensor as it came; waits for its batch.

        Raises ValueError for a prompt that there is not, a picture that does not fit into memory, and one that comes
        out as no picture; UserError where the weights cannot be loaded, and where the styler was closed.
        """
        prompt, seed = cast("str", params["prompt"]), cast("int", params["seed"])
        if prompt not in self._texts:
            raise ValueError(f"{self.label} has no prompt {prompt!r}: it has {', '.join(styles())}")
        plan = fit(*pixels.shape[:2])
        call = Call(plan.bucket, cast("float", params.get("strength", 1.0)))
        return cast("Pixels", self._batches.ask(call, PaintJob(pixels, plan, prompt, keys(seed, number)[0])))

    def close(self) -> None:
        """Finish the batch that is running, and let go of the model's memory; who waits gets an error."""
        self._batches.close()
        if self.__dict__.pop("painter", None):
            give_memory_back()

    @cached_property
    def painter(self) -> Painter:
        """The model on its device. Raises UserError: broken weights, or too large ones."""
        try:
            if not (lacks := (painter := self._opened()).lacks):
                return painter
            del painter
            fault = f"the weights fit into {self.device}, but a picture of a megapixel needs {lacks / 1e9:.1f} GB more"
        except MmdynError:
            raise
        except Exception as error:  # which would be every picture's
            if not is_out_of_memory(error):
                mend = "fetch the checkpoint again, or install other versions of torch and diffusers"
                raise UserError(f"{self.label} cannot be loaded ({sentence_of(error)}): {mend}") from error
            fault = f"the weights do not fit into {self.device}"
        give_memory_back()  # only now, because the error held on to it
        raise UserError(f"{fault}: {self._settings.smaller}")

    def _opened(self) -> Painter:
        """Without text encoders: their work is done, or was found in the cache."""
        settings, device = self._settings, self._settings.torch_device
        what: Json = [self._checkpoint.identity, str(settings.torch_dtype)]
        embeds = encoded(self._texts, what, self._encode_once)
        pipeline = self._load(quantization_config=quantization(settings), **dict.fromkeys(self.text_parts))
        place(pipeline, settings)
        embeds = {name: tensor.to(device) for name, tensor in embeds.items()}
        how = (self.repaint, self.costs, self._steps, device, settings.batch)
        return Painter(pipeline, embeds, list(self._texts), *how, lent(pipeline) if settings.offload else 0)

    @property
    @abstractmethod
    def pipeline_class(self) -> Any:
        """The class of diffusers, or one made of it. Raises UserError where the installed version has none."""

    @staticmethod
    @abstractmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        """Prompts as the arguments that stand for them; the pipeline has nothing but text encoders and tokenizers."""

    @staticmethod
    @abstractmethod
    def repaint(pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Pictures, float (n, 3, height, width) from 0 to 1, painted; `arguments` are steps, generators and prompts."""

    def _paint(self, call: Call, jobs: Sequence[PaintJob]) -> Sequence[Any | ValueError]:
        return self.painter.paint(call, jobs)

    def _load(self, **parts: Any) -> Any:
        quieten()
        return load(self.pipeline_class, self._checkpoint.folder, self._settings, **parts)

    def _encode_once(self, texts: list[str]) -> dict[str, Any]:
        pipeline = self._load(transformer=None, vae=None, device_map=None)  # by which transformers takes LOCAL_RANK's
        pipeline.to("cpu" if self._settings.offload else self._settings.torch_device)
        made = {name: tensor.cpu() for name, tensor in self.encode(pipeline, texts).items()}
        del pipeline
        give_memory_back()
        return made
