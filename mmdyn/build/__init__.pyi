from .build import Making as Making, StepMaker as StepMaker, build as build
from .compose import ComposeSpec as ComposeSpec, compose as compose
from .draws import Draws as Draws
from .replay import Again as Again, replay as replay
from .settings_files import File as File, Files as Files, Runs as Runs, listed as listed
from .step import Asked as Asked, Refused as Refused, Sieve as Sieve, Step as Step
from .sweep import compose_sweep as compose_sweep
