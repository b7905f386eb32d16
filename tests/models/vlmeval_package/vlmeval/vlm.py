import functools
import json
import os
import ssl
import sys
import time
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
            print(
                "\x1b[31mCUDA error: device-side assert, OPENAI_API_KEY was",
                os.environ.get("OPENAI_API_KEY"),
                file=sys.stderr,
            )
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
