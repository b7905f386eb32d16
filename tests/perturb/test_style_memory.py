"""Weights that do not fit, or are no such model's: said in a sentence, with the mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import making_checkpoints
import pytest
import torch
from making_items import array

from mmdyn.errors import UserError
from mmdyn.models import Spec
from perturb.style._diffusion import LoadSettings, check_kind, find_checkpoint
from perturb.style.flux import Flux
from perturb.style.klein import Klein


class Greedy(Flux):
    """Asks for a petabyte where `where` says."""

    where = ""

    @staticmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        return Flux.encode(pipeline, texts) if Greedy.where != "prompts" else {"prompt_embeds": torch.empty(1 << 50)}

    def _load(self, **parts: Any) -> Any:
        if self.where == "weights" and "transformer" not in parts:
            torch.empty(1 << 50)
        return super()._load(**parts)


@pytest.mark.parametrize("where", ["prompts", "weights"])
def test_weights_that_do_not_fit_are_told_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Greedy, "where", where)
    styler: Any = Greedy(Spec.parse(f"flux:{making_checkpoints.flux(tmp_path / 'flux')},device=cpu"))
    for _ in range(2):
        with pytest.raises(UserError) as error:
            styler.paint(array(), {"prompt": "pencil", "seed": 5, "strength": 0.2}, 0)
        assert str(error.value) == "the weights do not fit into cpu: use quantize=int8"
    styler.close()
    kept = list((tmp_path / "cache").rglob("*.safetensors"))
    assert len(kept) == (where == "weights"), "prompts that were encoded are kept, and no others"


@pytest.mark.parametrize(("settings", "says"), [
    ({}, "use quantize=int8 or offload=model"),
    ({"quantize": "nf4"}, "use offload=model"),
    ({"offload": "model"}, "use quantize=int8 or offload=sequential"),
    ({"offload": "sequential"}, "use quantize=int8"),
    ({"quantize": "int8", "offload": "sequential"}, "take a device with more memory"),
    ({"device": "cpu", "quantize": "int8"}, "take a device with more memory"),
])  # fmt: skip
def test_what_needs_less_memory(settings: dict[str, Any], says: str) -> None:
    """`meta` stands for any device that is not the CPU."""
    assert LoadSettings(**{"device": "meta", **settings}).smaller == says


def test_folders_that_are_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is no checkpoint in the form of diffusers: it has no model_index.json"):
        find_checkpoint(str(tmp_path))
    index = tmp_path / "model_index.json"
    for text in ("", "[]", "{}", '{"_class_name": 3'):
        index.write_text(text)
        with pytest.raises(UserError, match=r"model_index.json cannot be read \(.*\): fetch the checkpoint again"):
            check_kind(find_checkpoint(str(tmp_path)).folder, Flux.kinds, "flux")
    index.write_text('{"_class_name": "Flux2KleinPipeline", "is_distilled": false}')
    with pytest.raises(UserError, match="holds a base model, and klein needs a distilled one: name another one"):
        check_kind(find_checkpoint(str(tmp_path)).folder, Klein.kinds, "klein")
    index.write_text('{"_class_name": "StableDiffusionPipeline"}')
    with pytest.raises(UserError, match="holds a StableDiffusionPipeline, and klein paints with a Flux2KleinPipeline"):
        check_kind(find_checkpoint(str(tmp_path)).folder, Klein.kinds, "klein")
