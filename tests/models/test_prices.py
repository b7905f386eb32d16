"""What models cost by a file of prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmdyn.errors import InputError
from mmdyn.models import Price, open_model
from mmdyn.models.budget import read_prices
from mmdyn.record import Usage


def write(folder: Path, text: str) -> Path:
    (folder / "prices.yaml").write_text(text)
    return folder / "prices.yaml"


def test_tokens_of_every_kind_are_paid_once() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=500_000, reasoning_tokens=200_000, cached_tokens=400_000)
    assert Price(2, 10).cost(usage) == pytest.approx(2 + 5)
    assert Price(2, 10, cached_input=1, reasoning=20).cost(usage) == pytest.approx(1.2 + 0.4 + 3 + 4)
    assert Price(2, 10, image=0.01).cost(usage, images=3) == pytest.approx(7.03)


def test_what_was_not_counted_has_no_known_cost_unless_it_is_free() -> None:
    assert Price(2, 10).cost(Usage()) is None
    assert Price(0, 0).cost(Usage()) == 0


def test_the_first_name_that_fits_counts_label_or_own_name(tmp_path: Path) -> None:
    names = ("gpt-4o-mini", "gpt-4o*", "openai:*", "mine")
    lines = [f"{name}: {{input: {n}, output: {n}, currency: CNY}}" for n, name in enumerate(names, 1)]
    prices = read_prices(write(tmp_path, "\n".join(lines)))

    def price(model: str) -> float | None:
        found = prices.of(open_model(f"openai:{model},base_url=http://h/v1"))
        return found.input if found else None

    assert [price(name) for name in ("gpt-4o-mini", "gpt-4o-2", "other")] == [1, 2, 3]
    assert price("other,label=mine") == 4
    assert prices.of(open_model("baseline:lexical")) is None
    assert prices.named("openai:x") is not None and prices.named("hf:x") is None


@pytest.mark.parametrize(("text", "problem"), [
    ("", "names no model: write lines such as NAME: {input: 2.5, output: 10}"),
    ("- 1\n", "names no model"),
    ("a: {input: 1\n", ":2: is not YAML: mend the line"),
    ("a: {input: 1}\n", "the price of 'a': Object missing required field `output`"),
    ("a: {input: -1, output: 1}\n", "the price of 'a': Expected `float` >= 0"),
    ("a: {input: .inf, output: 1}\n", "the price of 'a' is not a number"),
    ("a: {input: .nan, output: 1}\n", "the price of 'a'"),
    ("a: {input: 1, output: 1, outptu: 2}\n", "the price of 'a': Object contains unknown field `outptu`"),
    ("a: 3\n", "the price of 'a': Expected `object`"),
])  # fmt: skip
def test_a_bad_file_is_explained(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_prices(write(tmp_path, text))
    assert "prices.yaml" in str(caught.value) and problem in str(caught.value)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file or folder: check the path"):
        read_prices(tmp_path / "none.yaml")
