from .agreement import tell_summary as tell_summary
from .build import (
    Again as Again,
    File as File,
    Files as Files,
    Runs as Runs,
    StepCall as StepCall,
    StepMaker as StepMaker,
    build as build,
    listed as listed,
    replay as replay,
)
from .compose import ComposeSpec as ComposeSpec, compose as compose
from .step import Asked as Asked, Draws as Draws, Refused as Refused, Sieve as Sieve, Step as Step
from .sweep import compose_sweep as compose_sweep
