"""What every operator keeps to, ours and those of other packages that are installed."""

from __future__ import annotations

import inspect
import json
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from making_items import array

from making import blank, choice, instructions, multi, open_ended, true_false
from mmdyn import plugins
from mmdyn.keys import canonical, stream
from mmdyn.sample import Option, Sample, from_json
from mmdyn.task_types import OURS
from perturb import Item, NotApplicable, Operator, Picture

OPERATORS = sorted(plugins.names("operators"))


WORDY = {
    "en": "As shown in the figure, a small car moves along a road. Find the distance that the car has covered.",
    "zh": "如图所示，小车沿公路行驶。求小车通过的路程。",
}


def samples() -> list[Sample]:
    """Every task type in both languages, with and without pictures, options as pictures, and awkward ones."""
    made = []
    for language in ("en", "zh"):
        more: dict[str, Any] = {"language": language}
        for images in ((), ("images/0.png",), ("images/0.png", "images/1.png", "images/0.png")):
            more["images"] = images
            made += [choice(**more), multi(**more), blank(**more), true_false(**more), open_ended(**more)]
            made += [instructions(**more)]
        pictured = tuple(Option(label, "", f"images/{n}.png") for n, label in enumerate("ABC"))
        made += [
            Sample(
                "pictured", "Which? <image 1>", "single_choice", ("B",), language, pictured, images=("images/2.png",)
            ),
            choice(texts=("3", "4", "5"), question="How many sides has a triangle?", answer="A", **more),
            choice(texts=("one", "All of the above"), answer="B", **more),
            multi(answer="ABCD", **more),
            choice(options_in_image=True, texts=("", "", ""), answer="A", **more),
            choice(question=WORDY[language], texts=("3 cm", "4 cm", "5 cm"), **more),
        ]
    return made


SAMPLES = [msgspec.structs.replace(sample, id=f"{number}-{sample.id}") for number, sample in enumerate(samples())]


def test_the_samples_have_every_task_type_in_both_languages() -> None:
    assert {(s.task_type, s.language) for s in SAMPLES} == {(kind, lang) for kind in OURS for lang in ("en", "zh")}


def item(sample: Sample) -> Item:
    kinds = (array(30, 40), array(21, 33, grey=True, seed=1), array(9, 60, seed=2))
    pictures = {f"images/{number}.png": Picture(pixels, "png") for number, pixels in enumerate(kinds)}
    return Item(sample, {ref: pictures[ref] for ref in sample.all_images})


def shown(item: Item) -> tuple[Any, ...]:
    return item.sample, {ref: (p.pixels.tobytes(), p.pixels.shape, p.suffix) for ref, p in item.pictures.items()}


@pytest.fixture(params=OPERATORS)
def operator(request: pytest.FixtureRequest) -> Operator:
    made: Operator = plugins.load("operators", request.param)()
    return made


def test_it_says_what_it_does(operator: Operator) -> None:
    assert inspect.getdoc(type(operator)) and isinstance(operator.random, bool)


def test_it_refuses_with_a_reason_or_makes_a_valid_sample(operator: Operator) -> None:
    for sample, number in product(SAMPLES, range(5)):
        params = operator.params(stream("contract", number), sample)
        if isinstance(params, NotApplicable):
            assert params.reason and "\n" not in params.reason
            continue
        before = item(sample)
        untouched = shown(before)
        replayed = json.loads(canonical(params))
        assert replayed == params, "parameters are JSON"
        after = operator.apply(before, params)
        again = operator.apply(item(sample), replayed)
        assert shown(before) == untouched, "the input stays as it is"
        assert isinstance(after, Item) and isinstance(again, Item)
        assert shown(after) == shown(again), "equal input gives equal output"
        assert from_json(canonical(after.sample), Sample) == after.sample
        assert after.sample.id == sample.id and after.sample.language == sample.language
        assert set(after.sample.all_images) <= set(after.pictures)
        for picture in after.pictures.values():
            assert picture.pixels.dtype == np.uint8 and picture.pixels.ndim in (2, 3)
            assert picture.suffix in ("png", "jpg")


def test_what_is_drawn_hangs_on_the_stream_alone(operator: Operator) -> None:
    for sample in SAMPLES:
        first, again = (operator.params(stream("contract", 1), sample) for _ in range(2))
        assert first == again
        if not operator.random:
            assert operator.params(stream("contract", 2), sample) == first
        renamed = msgspec.structs.replace(sample, id="another id", meta={"seen": 1})
        assert operator.params(stream("contract", 1), renamed) == first


def test_it_applies_to_something_and_changes_it(operator: Operator) -> None:
    changed = 0
    for sample in SAMPLES:
        params = operator.params(stream("contract", 3), sample)
        if not isinstance(params, NotApplicable):
            after = operator.apply(item(sample), params)
            changed += isinstance(after, Item) and shown(after) != shown(item(sample))
    assert changed or (
        operator.uses == ("rewriter",) and not operator.keeps_answer
    )  # the embedded rules change no conditions


def test_ours_are_these() -> None:
    ours = {name for name in OPERATORS if plugins.names("operators")[name].startswith("perturb.")}
    picture = {"image.invert", "image.null", "image.pad", "image.salt_pepper", "image.style"}
    picture |= {"image.blur", "image.jpeg", "image.rotate", "image.scale"}
    assert ours == picture | {"text.convert", "text.null", "text.paraphrase", "text.shuffle", "text.substitute"} | {
        "text.counterfactual"
    }
