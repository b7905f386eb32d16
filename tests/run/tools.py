"""What `run_sample` needs, for one set and one model."""

from __future__ import annotations

from mmdyn.data import SampleSet
from mmdyn.models import Asker, Model
from mmdyn.run.ask_all import AskTally, Expansions, SampleTools
from mmdyn.run.grader import Grader
from mmdyn.run.render import Renderer
from mmdyn.scoring import Cascade, Scorer
from mmdyn.work import ProgressBar, Store


def tools_for(
    opened: SampleSet, store: Store, progress: ProgressBar, model: Model, cascade: Cascade | None = None
) -> SampleTools:
    """Scored by the default policy where no cascade is given."""
    scored = cascade or Cascade(Scorer())
    asker, grader = Asker(model, concurrency=4), Grader(store, lambda root: scored, [scored])
    renderers = [Renderer(opened.images)]
    return SampleTools([opened], renderers, asker, store, Expansions(store), grader, progress, AskTally())
