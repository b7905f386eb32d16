from .compose import ComposeSpec as ComposeSpec, compose as compose
from .sweep import compose_sweep as compose_sweep
