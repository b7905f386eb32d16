"""vlmeval with VLMEvalKit itself: an API class against the fake server, and a class that runs a checkpoint."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from models.asking import user
from PIL import Image
from running import QUIET
from serving import serve

import mmdyn.models.backends
from making import choice, image_ref, picture, write_set
from mmdyn.models import TransientError, open_model, vlmeval_models
from mmdyn.run import evaluate, score
from mmdyn.testing import FakeServer

PYTHON = os.environ.get("MMDYN_VLMEVAL_PYTHON", "")

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="MMDYN_VLMEVAL_PYTHON names no interpreter with VLMEvalKit (pip install ms-vlmeval==0.0.20)"
)


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, here = tmp_path_factory.mktemp("gemma4"), Path(__file__).parent
    helpers = [str(here.parent), mmdyn.models.backends.__path__[0]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(helpers), "OMP_NUM_THREADS": "1"}
    subprocess.run([PYTHON, here / "making_gemma4.py", folder], env=environment, check=True, capture_output=True)
    return folder


def test_its_models_are_listed() -> None:
    names = vlmeval_models()
    assert len(names) > 500 and {"GPT4o", "Qwen2.5-VL-7B-Instruct", "api.GPT4V", "vlm.Gemma4"} <= set(names)


def test_its_api_class_over_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    data = picture()
    source = write_set(tmp_path / "set", [choice("a", images=(image_ref(data),)), choice("b")], images=[data])
    with serve(reply="hashed") as server:
        ask = f"api.GPT4V,model=fake,api_base={server.url}/chat/completions,python={PYTHON},label=theirs"
        models = [f"vlmeval:{ask}", f"openai:fake,base_url={server.url},label=ours"]
        run = evaluate(source, models, tmp_path / "run", execution=QUIET)
    found = {(record.model, record.sample): record for record in run.records()}
    assert found["theirs", "b"].reply.text == found["ours", "b"].reply.text
    assert all(record.reply.usage.prompt_tokens and record.reply.finish_reason == "stop" for record in found.values())
    assert found["theirs", "a"].reply.changed == "VLMEvalKit's API class encodes pictures anew, as JPEG"
    assert not found["ours", "a"].reply.changed and score(run, "mdk12") == []


async def test_its_api_classs_failure_string_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    async with FakeServer(reply="hashed", faults="500=1") as server:
        model = open_model(f"vlmeval:api.GPT4V,model=fake,api_base={server.url}/chat/completions,python={PYTHON}")
        with pytest.raises(TransientError, match="HTTP 500"):
            await model.ask(user("https://example.org/picture.png"))
        await model.close()


async def test_a_class_that_runs_a_checkpoint(weights: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.png", "b.png")]
    for file, colour in zip(files, ("red", "white"), strict=True):
        Image.new("RGB", (96, 96), colour).save(file)
    model = open_model(f"vlmeval:vlm.Gemma4,model_path={weights},device_map=cpu,max_new_tokens=12,python={PYTHON}")
    asked = [user("What is it?", file) for file in (*files, files[0])]
    texts = [reply.text for reply in await asyncio.gather(*map(model.ask, asked))]
    await model.close()
    assert texts[0] == texts[2] != texts[1]
    assert model.identity["class"] == "vlmeval.vlm.gemma.Gemma4" and str(weights) not in str(model.identity)
