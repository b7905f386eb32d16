"""flux and klein on the real pipeline classes, with tiny checkpoints of random weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import making_checkpoints
import numpy as np
import pytest
import torch
from making_items import apply, array, draw, item
from making_pictures import drawn
from msgspec.structs import replace
from PIL import Image
from safetensors.torch import load_file, save_file

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import canonical, stream
from perturb import Services
from perturb.image.style import Style
from perturb.item import keys
from perturb.services import ToolNames, open_styler
from perturb.style._painter import BUCKETS, NO_PICTURE, SIDES, TOKENS, Call, PaintJob, fit, prompts, styles

BACKENDS = ("flux", "klein")

TOLERANCE = 2
"""Levels of 255 that a pixel may differ by over batches and devices, with 32-bit weights."""

PICTURE = np.asarray(Image.fromarray(drawn("triangle").pixels).resize((320, 256)))
NOISE = array(256, 320)
"""A picture in which a rounding error stays one: in plain white, the small autoencoder's norms make it large."""

OTHER = np.asarray(Image.fromarray(drawn("chart").pixels).resize((320, 256)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = tmp_path_factory.mktemp("checkpoints")
    return {name: getattr(making_checkpoints, name)(made / name) for name in BACKENDS}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MMDYN_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module", params=BACKENDS)
def styler(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[Any]:
    opened = open_styler(f"{request.param}:{folders[request.param]},batch=4")
    yield opened
    opened.close()


def params(backend: str, **more: Any) -> dict[str, Any]:
    return {"prompt": "pencil", "seed": 5, **({"strength": 0.2} if backend == "flux" else {}), **more}


def apart(one: Any, other: Any) -> int:
    """The largest difference of a pixel."""
    return int(np.abs(np.asarray(one, int) - np.asarray(other, int)).max())


@pytest.mark.parametrize("shape", [(256, 320, 3), (200, 310), (31, 700, 3), (90, 60), (1100, 900, 3), (20, 4000)])
def test_size_is_kept_and_grey_becomes_rgb(styler: Any, shape: tuple[int, ...]) -> None:
    after = styler.paint(array(shape[0], shape[1], grey=len(shape) == 2), params(styler.label), 0)
    assert isinstance(after, np.ndarray) and after.shape == (*shape[:2], 3) and after.dtype == np.uint8
    assert not after.flags.writeable and after.std() > 1


@pytest.mark.slow
@pytest.mark.parametrize("height", SIDES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_narrowest_and_the_widest_bucket_are_painted(folders: dict[str, Path], backend: str, height: int) -> None:
    """One step each, of flux by its strength: sizes, not pictures, are what may go wrong. bench/style_sizes.py paints
    those between, too."""
    opened: Any = open_styler(f"{backend}:{folders[backend]},steps={5 if backend == 'flux' else 1}")
    widths = [bucket[1] for bucket in BUCKETS if bucket[0] == height]
    for width in {min(widths), max(widths)}:
        assert opened.paint(array(height, width), params(backend), 0).shape == (height, width, 3)
    opened.close()


def test_tensors_come_back_as_tensors_with_the_same_pixels(styler: Any) -> None:
    assert styler.device == "cpu" and styler.waits
    after = styler.paint(torch.from_numpy(PICTURE.copy()), params(styler.label), 0)
    assert isinstance(after, torch.Tensor) and after.dtype == torch.uint8
    assert np.array_equal(after.numpy(), styler.paint(PICTURE, params(styler.label), 0))


def test_equal_parameters_paint_equal_pictures_and_others_do_not(styler: Any) -> None:
    first = styler.paint(PICTURE, params(styler.label), 0)
    assert apart(first, styler.paint(PICTURE, params(styler.label), 0)) == 0
    others = [
        styler.paint(PICTURE, params(styler.label, seed=6), 0),
        styler.paint(PICTURE, params(styler.label), 1),
        styler.paint(PICTURE, params(styler.label, prompt="watercolour"), 0),
        styler.paint(OTHER, params(styler.label), 0),
    ]
    if styler.label == "flux":
        others.append(styler.paint(PICTURE, params("flux", strength=0.3), 0))
    assert all(apart(first, other) > 5 * TOLERANCE for other in others)


def test_a_batch_of_three_is_one_by_one(styler: Any) -> None:
    """Pictures, prompts and seeds differ; each must get its own, whoever is beside it."""
    pictures = (PICTURE, OTHER, 255 - PICTURE)
    jobs = [PaintJob(p, fit(256, 320), styles()[n], 100 + n) for n, p in enumerate(pictures)]
    call = Call((256, 320), 0.2)
    alone = [styler.painter.paint(call, [job])[0] for job in jobs]
    together = styler.painter.paint(call, jobs)
    assert max(apart(one, other) for one, other in zip(alone, together, strict=True)) <= TOLERANCE
    assert all(apart(alone[0], other) > 5 * TOLERANCE for other in alone[1:])


@pytest.mark.slow
@pytest.mark.parametrize("offload", ["model", "sequential"])
def test_weights_that_are_lent_paint_the_same_picture(styler: Any, folders: dict[str, Path], offload: Any) -> None:
    """The hooks are diffusers' own; here they lend from the CPU to the CPU, which the options refuse."""
    lending: Any = open_styler(f"{styler.label}:{folders[styler.label]},batch=4")
    lending._settings = replace(lending._settings, offload=offload)
    assert apart(lending.paint(PICTURE, params(styler.label), 0), styler.paint(PICTURE, params(styler.label), 0)) == 0
    hooked = [name for name, part in lending.painter.pipeline.components.items() if hasattr(part, "_diffusers_hook")]
    assert hooked == ["transformer"], "the VAE stays on the device"
    lending.close()


@pytest.mark.slow
def test_many_threads_get_their_own_pictures(styler: Any) -> None:
    shapes = [(256, 256, 3), (250, 250, 3), (256, 320, 3)] * 3
    pictures = [array(*shape[:2], seed=number) for number, shape in enumerate(shapes)]

    def paint(number: int) -> Any:
        return styler.paint(pictures[number], params(styler.label, seed=number), 0)

    with ThreadPoolExecutor(9) as pool:
        together = list(pool.map(paint, range(9)))
    assert [one.shape for one in together] == shapes
    for number in (0, 4, 8):
        assert apart(together[number], paint(number)) <= TOLERANCE


def test_flux_is_what_the_paper_did(folders: dict[str, Path]) -> None:
    """MDK12-Bench, "Evaluation Methods", Style: Flux-Dev, strength 0.2 of 50 steps, guidance 3.5; and all text kept."""
    from diffusers import FluxImg2ImgPipeline

    pipeline = FluxImg2ImgPipeline.from_pretrained(folders["flux"])
    pipeline.set_progress_bar_config(disable=True)
    text = prompts("flux")["pencil"]
    assert "subtle style variation" in text.lower() and "all text" in text and "exactly" in text
    wanted = pipeline(
        prompt=text,
        image=Image.fromarray(NOISE),
        height=256,
        width=320,
        strength=0.2,
        num_inference_steps=50,
        guidance_scale=3.5,
        max_sequence_length=TOKENS,
        generator=torch.Generator().manual_seed(keys(5, 0)[0]),
    ).images[0]
    assert pipeline.num_timesteps == 10
    styler: Any = open_styler(f"flux:{folders['flux']}")
    drawn_params = styler.params(stream("paper"), "")
    assert drawn_params["strength"] == 0.2 and set(drawn_params) == {"prompt", "seed", "strength"}
    assert apart(wanted, styler.paint(NOISE, params("flux"), 0)) <= TOLERANCE
    assert styler.painter.pipeline.num_timesteps == 10
    styler.close()


def test_klein_is_the_stock_pipeline_with_one_reference(folders: dict[str, Path]) -> None:
    from diffusers import Flux2KleinPipeline

    pipeline = Flux2KleinPipeline.from_pretrained(folders["klein"])
    pipeline.set_progress_bar_config(disable=True)
    wanted = pipeline(
        image=Image.fromarray(NOISE),
        prompt=prompts("klein")["pencil@strong"],
        num_inference_steps=4,
        guidance_scale=1.0,
        max_sequence_length=TOKENS,
        generator=torch.Generator().manual_seed(keys(5, 0)[0]),
    ).images[0]
    styler: Any = open_styler(f"klein:{folders['klein']}")
    assert apart(wanted, styler.paint(NOISE, params("klein", prompt="pencil@strong"), 0)) <= TOLERANCE
    styler.close()


def test_severities() -> None:
    from perturb.style.flux import Flux
    from perturb.style.klein import Klein

    for severity, strength in (("mild", 0.1), ("", 0.2), ("strong", 0.3)):
        assert Flux.params(_bare(Flux), stream("s"), severity)["strength"] == strength
        prompt = Klein.params(_bare(Klein), stream("s"), severity)["prompt"]
        assert prompt in prompts("klein") and str(prompt).partition("@")[2] == severity


def _bare(kind: Any) -> Any:
    return object.__new__(kind)


def test_prompts_are_short_enough_for_both_encoders() -> None:
    for backend in BACKENDS:
        for text in prompts(backend).values():
            assert len(text.replace(",", " ,").replace(".", " .").replace(":", " :").split()) <= 70
            assert "all text, labels, numbers, symbols, lines" in text


def test_prompts_are_encoded_once_and_the_encoders_are_dropped(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the second one paints, the encoders' weights are spoilt: nobody looks at them."""
    for backend, parts in (("flux", ("text_encoder", "text_encoder_2")), ("klein", ("text_encoder",))):
        monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache" / backend))
        folder = tmp_path / backend
        shutil.copytree(folders[backend], folder)
        pictures = []
        stylers: list[Any] = [open_styler(f"{backend}:{folder}") for _ in range(2)]
        for styler in stylers:
            pictures.append(styler.paint(PICTURE, params(backend), 0))
            pipeline = styler.painter.pipeline
            assert all(getattr(pipeline, part) is None for part in (*parts, "tokenizer"))
            assert len(list((tmp_path / "cache" / backend).rglob("prompts/*.safetensors"))) == 1
            styler.close()
            for part in parts:
                weights = folder / part / "model.safetensors"
                weights.write_bytes(bytes(weights.stat().st_size))
        assert apart(*pictures) == 0


def test_a_damaged_prompt_cache_is_named(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path))
    styler: Any = open_styler(f"flux:{folders['flux']}")
    styler.paint(PICTURE, params("flux"), 0)
    styler.close()
    (file,) = tmp_path.rglob("*.safetensors")
    file.write_bytes(b"broken")
    styler = open_styler(f"flux:{folders['flux']}")
    with pytest.raises(UserError, match=r"the cached prompts .* are damaged .*: delete the file"):
        styler.paint(PICTURE, params("flux"), 0)
    styler.close()


def test_broken_weights_are_named_to_all_who_wait(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(folders["flux"], folder)
    (folder / "transformer" / "diffusion_pytorch_model.safetensors").write_bytes(b"broken")
    styler: Any = open_styler(f"flux:{folder},batch=2")
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(styler.paint, PICTURE, params("flux", seed=seed), 0) for seed in range(3)]
        errors = [future.exception(60) for future in waiting]
    assert all(isinstance(error, UserError) for error in errors)
    assert all(str(error).startswith(f"{folder} cannot be loaded (") for error in errors)
    assert all(str(error).endswith("fetch the checkpoint again") for error in errors)
    styler.close()


def test_values_that_overflow_are_no_picture(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "nan"
    shutil.copytree(folders["flux"], folder)
    file = folder / "vae" / "diffusion_pytorch_model.safetensors"
    weights = load_file(file)
    weights["decoder.conv_out.bias"] += float("nan")
    save_file(weights, file, {"format": "pt"})
    styler: Any = open_styler(f"flux:{folder}")
    with pytest.raises(ValueError, match="painted no picture"):
        styler.paint(PICTURE, params("flux"), 0)
    assert "dtype=bf16" in NO_PICTURE
    styler.close()


@pytest.mark.slow
def test_half_precision_is_near(folders: dict[str, Path]) -> None:
    full: Any = open_styler(f"flux:{folders['flux']}")
    half: Any = open_styler(f"flux:{folders['flux']},dtype=bf16,steps=50")
    one, other = (opened.paint(PICTURE, params("flux"), 0) for opened in (full, half))
    assert np.abs(one.astype(int) - other).mean() < 6
    assert full.identity["dtype"] == "float32" and half.identity["dtype"] == "bfloat16"
    full.close()
    half.close()


def test_the_operator_paints_with_it_and_a_trail_replays(folders: dict[str, Path]) -> None:
    services = Services(ToolNames(style=f"flux:{folders['flux']},batch=2,steps=10"))
    operator = Style(services, "strong")
    before = item(PICTURE, array(100, 120, grey=True), suffix="jpg")
    drawn_params = draw(operator, before.sample)
    assert drawn_params["by"] == "flux" and drawn_params["strength"] == 0.3
    after = apply(operator, before, drawn_params).pictures
    again = apply(operator, before, json.loads(canonical(drawn_params))).pictures
    for ref, picture in before.pictures.items():
        assert after[ref].pixels.shape == (*picture.pixels.shape[:2], 3) and after[ref].suffix == "jpg"
        assert apart(after[ref].pixels, again[ref].pixels) == 0
    services.close()


def test_a_prompt_that_there_is_not_is_named(styler: Any) -> None:
    with pytest.raises(ValueError, match=rf"{styler.label} has no prompt 'cubist': it has ink_wash, pencil"):
        styler.paint(PICTURE, params(styler.label, prompt="cubist"), 0)


def test_a_closed_styler_has_no_model(folders: dict[str, Path]) -> None:
    styler: Any = open_styler(f"klein:{folders['klein']}")
    styler.paint(PICTURE, params("klein"), 0)
    styler.close()
    assert "painter" not in vars(styler)
    with pytest.raises(ModelError, match="was closed before"):
        styler.paint(PICTURE, params("klein"), 0)


def test_the_identity_is_the_weights_wherever_they_lie(folders: dict[str, Path], tmp_path: Path) -> None:
    moved = shutil.copytree(folders["flux"], tmp_path / "moved")
    (moved / ".cache").mkdir()
    (moved / ".cache" / "note.json").write_text("{}")

    def identity(options: str = "") -> Any:
        opened: Any = open_styler(f"flux:{moved}{options}")
        opened.close()
        return opened.identity

    here: Any = open_styler(f"flux:{folders['flux']},batch=3,device=cpu")
    here.close()
    first = here.identity
    assert json.loads(canonical(first)) == first == identity()
    assert first != identity(",steps=20") and first != identity(",dtype=bf16")
    config = moved / "scheduler" / "scheduler_config.json"
    config.write_text(config.read_text().replace("3.0", "2.0"))
    assert first != identity()


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_of_equal_shape_are_told_apart(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    """Another training has another identity, and is not handed the prompts of the first one."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    other = getattr(making_checkpoints, backend)(tmp_path / "other", seed=1)
    sizes = [
        {path.relative_to(folder): path.stat().st_size for path in folder.glob("*/*.safetensors")}
        for folder in (folders[backend], other)
    ]
    assert sizes[0] == sizes[1] and len(sizes[0]) >= 3
    stylers: list[Any] = [open_styler(f"{backend}:{folder}") for folder in (folders[backend], other)]
    assert stylers[0].identity["checkpoint"] != stylers[1].identity["checkpoint"]
    for styler in stylers:
        assert styler.painter
        styler.close()
    first, second = (load_file(file) for file in (tmp_path / "cache").rglob("prompts/*.safetensors"))
    assert all((first[name] != second[name]).any() for name in first)


@pytest.mark.parametrize(("options", "says"), [
    ("bach=2", "flux has no option 'bach' (did you mean 'batch'?); it takes device, dtype, batch, steps"),
    ("batch=0", "the option batch of flux:{folder}: expected `int` >= 1"),
    ("dtype=fp8", "the option dtype of flux:{folder}: invalid enum value 'fp8'"),
    ("device=warp:9", "the device 'warp:9' cannot be used ("),
    ("compile=true,offload=sequential", "compile=true needs the layers on the GPU, which offload=sequential moves"),
    ("offload=model", "offload=model moves the model between a GPU and the CPU: leave it out on a CPU"),
])  # fmt: skip
def test_options_that_cannot_be_had(folders: dict[str, Path], options: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        open_styler(f"flux:{folders['flux']},{'' if 'device' in options else 'device=cpu,'}{options}")
    assert str(error.value).startswith(says.format(folder=folders["flux"]))


def test_a_gpu_that_is_not_there_is_named(folders: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"the device 'cuda:99' cannot be used \(.*\): give another one, such as cpu"):
        open_styler(f"flux:{folders['flux']},device=cuda:99")


@pytest.mark.parametrize(("quantize", "package"), [("int8", "torchao"), ("nf4", "bitsandbytes")])
def test_quantisation_without_its_package(folders: dict[str, Path], quantize: str, package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(UserError) as error:
        open_styler(f"flux:{folders['flux']},quantize={quantize}")
    assert str(error.value) == f"quantize={quantize} needs {package}, which is not installed: pip install {package}"
