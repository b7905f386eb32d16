import json
import os
import time
from vlmeval.base import BaseAPI

CUT_OFF = '{"choices": [{"finish_reason": "length"}], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}'


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
            return 0, "", Answer(200, CUT_OFF)
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
