from functools import partial
import vlmeval.api as api
import vlmeval.vlm as vlm

supported_VLM = {
    "Echo-7B": partial(vlm.Echo, model_path="org/echo", max_new_tokens=16),
    "Keyed": partial(
        api.Headed, app_code="sk-built-in-1", client=dict(depth=1, args=[dict(secret_id="sk-built-in-2")])
    ),
    "Chat-4": partial(api.Chat, model="chat-4", retry=10, key="sk-built-in-0123456789"),
}
