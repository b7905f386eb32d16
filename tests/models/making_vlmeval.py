"""A package named `vlmeval`, with the interface of VLMEvalKit and its habits, for tests of the worker that asks it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from models.asking import user

from mmdyn.models import Model, open_model


def make_vlmeval(folder: Path) -> Path:
    """Copy the package into a folder, which goes after `path=`."""
    return Path(shutil.copytree(Path(__file__).with_name("vlmeval_package"), folder, dirs_exist_ok=True))


@asynccontextmanager
async def opened(name: str, path: Path, **options: Any) -> AsyncIterator[Model]:
    """A model of the package in `path`; closed afterwards."""
    settings = {"path": path, "python": sys.executable, **options}
    model = open_model(f"vlmeval:{name}," + ",".join(f"{key}={value}" for key, value in settings.items()))
    try:
        yield model
    finally:
        await model.close()


async def said(model: Model, text: str, *images: Path) -> Any:
    """What a model says to a text, read as JSON."""
    return json.loads((await model.ask(user(text, *images))).text)
