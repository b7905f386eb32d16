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

    def __init__(
        self, retry=10, wait=0, system_prompt=None, verbose=True, fail_msg="Failed to obtain answer via API.", **kw
    ):
        self.retry, self.wait, self.system_prompt, self.verbose, self.fail_msg = (
            retry,
            wait,
            system_prompt,
            verbose,
            fail_msg,
        )

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
