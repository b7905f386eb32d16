"""A package named `vlmeval`, with the interface of VLMEvalKit and its habits, for tests of the worker that asks it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from models.asking import user

from mmdyn.models import Model, open_model

FILES = {
    "__init__.py": (
        """
import logging, os, random, ssl, sys
print("noise on import")
os.write(1, b"noise below print\\n")
ssl._create_default_https_context = ssl._create_unverified_context
os.environ["HOME"] = os.environ["VLMEVAL_WAS_HERE"] = "/nowhere"
os.chdir("/")
random.seed(1)
logging.basicConfig(level=10, force=True)
__version__ = "0.fake"
"""
    ),
    "base.py": (
        """
import os

def parse(parts):
    for part in parts:
        assert part["type"] == "text" or os.path.isfile(part["value"]), part
        assert part["type"] != "text" or not os.path.exists(part["value"]), "a text that is a path"
        assert not part["value"].startswith("http"), "downloads " + part["value"]
    return parts

class BaseModel:
    INTERLEAVE = True
    def preproc_content(self, parts):
        return parse(parts)
    def generate(self, message, dataset=None):
        return self.generate_inner(self.preproc_content(message), dataset)

class BaseAPI:
    INTERLEAVE = True
    def __init__(self, retry=10, wait=0, system_prompt=None, verbose=True, fail_msg="Failed to obtain answer via API.", **kw):
        self.retry, self.wait, self.system_prompt, self.verbose, self.fail_msg = retry, wait, system_prompt, verbose, fail_msg
    def preproc_content(self, parts):
        return parse(parts)
    def preprocess_message_with_role(self, message):
        for part in message:
            if part.pop("role", "user") == "system":
                self.system_prompt = (self.system_prompt or "") + part["value"]
        return message
    def generate(self, message, **kw):
        message = self.preproc_content(self.preprocess_message_with_role(message))
        answer = None
        for _ in range(self.retry):
            try:
                code, answer, log = self.generate_inner(message)
                if code == 0 and self.fail_msg not in answer and answer != "":
                    return answer
            except Exception as error:
                print("swallowed", error)
        return self.fail_msg if answer in ("", None) else answer
"""
    ),
    "vlm.py": (
        """
import functools, json, os, ssl, sys, time
from vlmeval.base import BaseModel

class Echo(BaseModel):
    def __init__(self, model_path="org/echo", **kw):
        if model_path == "org/missing":
            raise FileNotFoundError("there are no weights in org/missing")
        if model_path == "org/exits":
            sys.exit("please install flash-attn")
        self.model_path, self.kw, self.asked = model_path, kw, 0
    def generate_inner(self, message, dataset=None):
        text = "".join(part["value"] for part in message if part["type"] == "text")
        print("progress 100%", text)
        sys.stdin.read()
        self.asked += 1
        if "HANG" in text and self.asked == 1:
            time.sleep(600)
        if "FORK" in text:
            child = os.fork()
            if not child:
                time.sleep(600)
            open(text.split()[1], "w").write(str(child))
            os.kill(os.getpid(), 9)
        if "DIE" in text:
            print("\\x1b[31mCUDA error: device-side assert, OPENAI_API_KEY was", os.environ.get("OPENAI_API_KEY"), file=sys.stderr)
            os._exit(7)
        if "RAISE" in text:
            raise ValueError("size mismatch")
        if "letter" in text:
            return "Answer: B"
        said = dict(parts=message, kw=self.kw, device=os.environ.get("CUDA_VISIBLE_DEVICES"), process=os.getpid())
        return json.dumps(dict(said, verified=ssl._create_default_https_context is not ssl._create_unverified_context))

class FirstPicture(Echo):
    INTERLEAVE = False

class Prompted(BaseModel):
    def __init__(self, **kw):
        self.system_prompt = "Own."
    def generate_inner(self, message, dataset=None):
        return str([self.system_prompt, [part["value"] for part in message]])

def logged(method):
    @functools.wraps(method)
    def call(*args, **kwargs):
        return method(*args, **kwargs)
    return call

class Decorated(BaseModel):
    system_prompt = "Own."
    @logged
    def generate_inner(self, message, dataset=None):
        return str([self.system_prompt, [part["value"] for part in message]])

class Processed(BaseModel):
    def __init__(self, **kw):
        self.processor = BaseModel()
        self.system_prompt = None
    def generate_inner(self, message, dataset=None):
        self.processor.system_prompt = ""
        self.system_prompt = self.processor.system_prompt
        return str([part["value"] for part in message])

class Odd(BaseModel):
    def generate_inner(self, message, dataset=None):
        return ["a", "list"]
"""
    ),
    "api.py": (
        """
import json, os, time
from vlmeval.base import BaseAPI

def encode_image_to_base64(file):
    return file

class Answer:
    def __init__(self, status, text):
        self.status_code, self.text = status, text
class Chat(BaseAPI):
    def __init__(self, model="m", api_base="http://user:hidden@host/v1", key="", **kw):
        super().__init__(**kw)
        self.model, self.api_base, self.key = model, api_base, key
        print("Using API Base; API Key:", key)
    def generate_inner(self, message, **kw):
        text = message[0]["value"]
        if text.startswith("status "):
            return int(text[7:]), self.fail_msg, Answer(int(text[7:]), '{"error": "the server says ' + self.key + '"}')
        if text == "quiet":
            return 0, "", None
        if text == "cut off":
            return 0, "", Answer(200, '{"choices": [{"finish_reason": "length"}], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}')
        if text == "said":
            return 0, self.fail_msg + "Input string longer than context window. ", None
        if text == "code":
            return -1, "Error: something odd", ""
        if text == "refused":
            raise ConnectionError("connection refused")
        if text.startswith("hang "):
            open(text[5:], "w").close()
            time.sleep(600)
        if text == "process":
            return 0, str(os.getpid()), None
        if text == "letter":
            return 0, "Answer: B", None
        system = self.system_prompt
        time.sleep(0.02)
        assert system == self.system_prompt
        encoded = [encode_image_to_base64(part) for part in message if part["type"] == "image"]
        body = dict(choices=[dict(finish_reason="stop")], usage=dict(prompt_tokens=3, completion_tokens=5, other=None))
        return 0, json.dumps([system, text, self.key]), Answer(200, json.dumps(body))

class Headed(Chat):
    def generate_inner(self, message, **kw):
        return 0, self.headers["Authorization"], None
    def __init__(self, extra_headers, **kw):
        super().__init__(**kw)
        self.headers = extra_headers
"""
    ),
    "config.py": (
        """
from functools import partial
import vlmeval.api as api, vlmeval.vlm as vlm
supported_VLM = {
    "Echo-7B": partial(vlm.Echo, model_path="org/echo", max_new_tokens=16),
    "Keyed": partial(api.Headed, app_code="sk-built-in-1", client=dict(depth=1, args=[dict(secret_id="sk-built-in-2")])),
    "Chat-4": partial(api.Chat, model="chat-4", retry=10, key="sk-built-in-0123456789"),
}
"""
    ),
}


def make_vlmeval(folder: Path) -> Path:
    """Write the package into a folder, which goes after `path=`."""
    package = folder / "vlmeval"
    package.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (package / name).write_text(text.lstrip())
    return folder


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
