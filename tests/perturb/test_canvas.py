"""Picture operations on tensors of many threads: in whatever batch, the bits that arrays get, in a few operations a
batch."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from making_items import apply
from torch.utils._python_dispatch import TorchDispatchMode

from making import choice
from mmdyn.errors import ModelError, NotNow
from mmdyn.keys import Json
from mmdyn.work import CLOSED
from perturb import Item, Operator, Picture, Services
from perturb.device_pixels import MOST_PIXELS, Canvas, Operation, PictureJob, change, parts, to_device, to_host
from perturb.image.invert import Invert
from perturb.image.pad import VALUES, Pad
from perturb.image.salt_pepper import SaltPepper

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
REF = "images/0.png"


@pytest.fixture
def canvas() -> Iterator[Canvas]:
    made = Canvas()
    yield made
    made.close()


def pixels(height: int, width: int, channels: int, seed: int = 0) -> np.ndarray:
    shape = (height, width) if channels == 1 else (height, width, channels)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def step(operation: Operation, seed: int) -> tuple[Operator, dict[str, Json]]:
    """An operator and parameters that a trail could hold."""
    draw = np.random.default_rng(seed)
    if operation == "pad":
        ratios = {side: float(draw.uniform(0.05, 0.35)) for side in ("left", "right", "top", "bottom")}
        return Pad(), {**ratios, "value": VALUES[seed % 3]}
    if operation == "sprinkle":
        return SaltPepper(), {"density": float(draw.uniform(0.0001, 0.3)), "seed": int(draw.integers(1 << 63))}
    return Invert(), {"keep": "hue"} if operation == "mirror" else {}


class Noted(Canvas):
    """Keeps the jobs instead of doing them."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[PictureJob] = []

    def ask(self, operation: Operation, job: PictureJob) -> Any:
        self.jobs.append(job)
        return job.pixels


def painted(operator: Operator, params: dict[str, Json], before: Any) -> Any:
    """The pixels of a sample's one picture after a step."""
    item = Item(choice(images=(REF,)), {REF: Picture(before, "png")})
    return apply(operator, item, params).pictures[REF].pixels


def job(operation: Operation, array: np.ndarray, seed: int) -> tuple[PictureJob, np.ndarray]:
    """What the operator hands to the canvas for a tensor, and what it makes of the array."""
    operator, params = step(operation, seed)
    noted, bench = Noted(), Services()
    bench.canvas = noted
    painted(type(operator)(bench), params, to_device(array, "cpu"))
    return noted.jobs[0], painted(operator, params, array)


SIZES = st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 1 << 32))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(OPERATIONS), st.sampled_from([1, 3]), st.lists(SIZES, min_size=1, max_size=9))
def test_a_batch_gives_every_picture_the_bits_that_its_array_gets(
    operation: Operation, channels: int, sizes: list[tuple[int, int, int]]
) -> None:
    arrays = [pixels(height, width, channels, seed) for height, width, seed in sizes]
    pairs = [job(operation, array, seed) for array, (*_, seed) in zip(arrays, sizes, strict=True)]
    made = change(operation, [one for one, _ in pairs])
    for (one, wanted), after, array in zip(pairs, made, arrays, strict=True):
        assert after.dtype == torch.uint8 and tuple(after.shape) == wanted.shape
        assert np.array_equal(to_host(after), wanted)
        assert np.array_equal(to_host(one.pixels), array), "the input stays as it is"
        assert after.untyped_storage().nbytes() == wanted.nbytes, "no picture keeps the memory of its batch"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_pixels_that_do_not_lie_in_a_row_in_memory(operation: Operation) -> None:
    one, wanted = job(operation, pixels(20, 30, 3), 5)
    turned = one.pixels.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert not turned.is_contiguous()
    assert np.array_equal(to_host(change(operation, [PictureJob(turned, one.shape, one.numbers)])[0]), wanted)


class Counted(TorchDispatchMode):
    """Counts the operations that do something: neither views nor memory that is merely asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        view = any(arg.alias_info and not arg.alias_info.is_write for arg in func._schema.arguments)
        if not view and "empty" not in func.__name__:
            self.seen[func.__name__] += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("channels", [1, 3])
def test_a_large_batch_takes_as_many_operations_as_a_small_one(operation: Operation, channels: int) -> None:
    seen = []
    for count in (1, 4, 32):
        jobs = [job(operation, pixels(5 + n, 40 - n, channels, n), n)[0] for n in range(count)]
        with Counted() as counted:
            change(operation, jobs)
        seen.append(counted.seen)
    assert seen[0] == seen[1] == seen[2] and 2 < seen[0].total() <= 60, seen[0]
    waits = {name for name in seen[0] if "local_scalar" in name or "nonzero" in name or "is_nonzero" in name}
    assert not waits, "nothing waits for a device"
    assert seen[0]["_to_copy.default"] <= 3, "tables travel together, and values get narrower"


def test_many_threads_meet_in_batches(canvas: Canvas) -> None:
    """Pictures of 40 threads, grey and in colour and of all sizes, each through all operations."""
    services = Services()
    services.canvas.close()
    services.canvas = canvas
    arrays = [pixels(10 + n, 50 - n, 1 + 2 * (n % 2), n) for n in range(40)]
    gate = threading.Barrier(len(arrays))

    def chain(array: Any, number: int, bench: Services | None) -> Any:
        for place, operation in enumerate(OPERATIONS):
            operator, params = step(operation, 7 * number + place)
            array = painted(type(operator)(bench), params, array)
        return array

    def there(number: int) -> Any:
        gate.wait(30)
        return to_host(chain(to_device(arrays[number], "cpu"), number, services))

    with ThreadPoolExecutor(len(arrays)) as pool:
        made = list(pool.map(there, range(len(arrays))))
    for number, array in enumerate(arrays):
        assert np.array_equal(made[number], chain(array, number, None)), number


def test_a_batch_has_so_many_pixels_and_a_larger_picture_is_alone() -> None:
    empty, most = torch.empty(0), MOST_PIXELS
    whole, half, tiny, larger = (PictureJob(empty, (2, pixels // 2, 3)) for pixels in (most, most // 2, 2, most + 2))
    jobs = [half, tiny, half, tiny, whole, tiny, larger, tiny]
    assert [len(part) for part in parts(jobs)] == [2, 2, 1, 1, 1, 1]
    assert [one for part in parts(jobs) for one in part] == jobs
    assert list(parts([])) == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_pictures_of_other_kinds_do_not_share_a_batch(canvas: Canvas, operation: Operation) -> None:
    pairs = [job(operation, pixels(8, 9, channels), 3) for channels in (1, 3, 1, 3)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda pair: canvas.ask(operation, pair[0]), pairs))
    assert all(np.array_equal(to_host(after), wanted) for after, (_, wanted) in zip(made, pairs, strict=True))


def test_closing_the_workbench_closes_its_canvas() -> None:
    services = Services()
    invert, tensor = Invert(services), to_device(pixels(4, 5, 3), "cpu")
    assert np.array_equal(to_host(painted(invert, {}, tensor)), 255 - pixels(4, 5, 3))
    services.close()
    with pytest.raises(ModelError) as error:
        painted(invert, {}, tensor)
    assert str(error.value) == CLOSED
    services.close()


def test_arrays_ask_no_canvas() -> None:
    closed = Services()
    closed.close()
    for operation in OPERATIONS:
        operator, params = step(operation, 1)
        assert isinstance(painted(type(operator)(closed), params, pixels(4, 5, 3)), np.ndarray)


def test_a_picture_s_error_is_that_of_its_batch(canvas: Canvas) -> None:
    """A job that no picture can have: whoever asked hears of it, and later batches run."""
    tensor = to_device(pixels(4, 5, 3), "cpu")
    with pytest.raises(IndexError):
        canvas.pad(tensor, (4, 5, 3), (50, 0), 0)
    assert np.array_equal(to_host(canvas.invert(tensor)), 255 - pixels(4, 5, 3))


def test_a_picture_that_does_not_fit_into_memory_fails_alone(canvas: Canvas) -> None:
    tensor = to_device(pixels(4, 5, 3), "cpu")
    with pytest.raises(NotNow, match="did not fit into the memory, even alone"):
        canvas.pad(tensor, (1 << 12, 1 << 40, 3), (0, 0), 0)
    assert np.array_equal(to_host(canvas.pad(tensor, (4, 5, 3), (0, 0), 0)), pixels(4, 5, 3))


def test_there_and_back() -> None:
    for array in (pixels(40, 60, 3), pixels(40, 60, 1)):
        tensor = to_device(array, "cpu")
        assert tensor.dtype == torch.uint8 and tuple(tensor.shape) == array.shape
        assert to_device(tensor, "cpu") is tensor
        tensor[0, 0] = 255 - tensor[0, 0]
        assert (to_host(tensor) != array).any(), "the array was copied"
    back = to_host(to_device(array, "cpu"))
    assert np.array_equal(back, array) and not back.flags.writeable
    assert to_host(back) is back
