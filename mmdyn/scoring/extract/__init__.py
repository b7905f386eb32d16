"""What a response answers: the one way into the readers of the task types. No model is asked, nothing is
guessed."""

from mmdyn.scoring.extract._extract import extract
from mmdyn.scoring.extract.response import CONFIDENCE, Extraction, Response, Whole

__all__ = ["CONFIDENCE", "Extraction", "Response", "Whole", "extract"]
