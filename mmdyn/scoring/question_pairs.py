"""A judge of pairs of questions: which of two takes more reasoning, asked in both orders."""

from __future__ import annotations

from msgspec.structs import replace

from mmdyn.data import ImageFolder
from mmdyn.keys import digest
from mmdyn.models import Asker, prompts_digest
from mmdyn.sample import Language, Sample
from mmdyn.scoring.pairwise import PairJudge
from mmdyn.scoring.rubrics._rubric import KIND, Sheet, fill
from mmdyn.scoring.rubrics._shown import pictures as shown_pictures, question
from mmdyn.tables import Preference

PROMPTS = ("reasoning", "pictures_of_two", "cut")


class QuestionJudge(PairJudge):
    """Asks the model behind an asker which of two questions takes more reasoning, once with either of them first.

    It is shown the questions with their options, and no answers. votes, pictures, label, identity, id and what wins:
    as a PairJudge has them. Source: R-Bench, section 3.1, whose experts and model vote so on random pairs of questions
    of two benchmarks; the words of the prompt are ours.
    """

    def __init__(self, asker: Asker, votes: int = 1, *, pictures: bool = False) -> None:
        super().__init__(asker, votes, pictures=pictures, gold=False)
        reading = {"reading": 1, "prompts": prompts_digest(KIND, *PROMPTS)}
        self.identity = {"model": asker.model.identity, "reasoning": reading, "votes": votes, "pictures": pictures}
        self.id = digest(self.identity)[:8]

    async def compare_questions(
        self, a: Sample, b: Sample, images_a: ImageFolder | None = None, images_b: ImageFolder | None = None
    ) -> Preference:
        """Which of two questions takes more reasoning; `images_a` and `images_b`: where their pictures lie.

        Equal questions are a tie without asking. No winner, and an `error`, as in PairJudge.compare.
        """
        if question(a) == question(b) and a.all_images == b.all_images:
            return Preference("tie", reason="both questions are the same")
        try:
            shown = [shown_pictures(*each) if self._pictures else () for each in ((a, images_a), (b, images_b))]
        except ValueError as error:
            return Preference(None, error=str(error))
        a_first = question_sheet(a, b, pictures=self._pictures), (*shown[0], *shown[1])
        b_first = question_sheet(b, a, pictures=self._pictures), (*shown[1], *shown[0])
        return await self._ask_both(_language(a, b), a_first, b_first)


def question_sheet(first: Sample, second: Sample, *, pictures: bool = False) -> Sheet:
    """What to ask about two questions, in their language; in English about two of two languages."""
    asked = {"first": question(first), "second": question(second)}
    counts = {"first_pictures": str(len(first.all_images)), "second_pictures": str(len(second.all_images))}
    host = replace(first if first.all_images else second, language=_language(first, second))
    return fill("reasoning", host, pictures, asked, about="pictures_of_two", **counts)


def _language(a: Sample, b: Sample) -> Language:
    return a.language if a.language == b.language else "en"
