from .templates import (
    LANGUAGES as LANGUAGES,
    PLACES as PLACES,
    Template as Template,
    asking_digest as asking_digest,
    filled as filled,
    read_coded as read_coded,
    read_reply as read_reply,
    template as template,
    templates_digest as templates_digest,
)
