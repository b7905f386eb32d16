"""A judge of wrong answers: what kind of error made them so."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.data import ImageFolder
from mmdyn.keys import Json, digest
from mmdyn.models import Asker, Message, TextPart, nonces, prompts_digest
from mmdyn.prompts import filled, read_coded
from mmdyn.record import Reply
from mmdyn.sample import Sample
from mmdyn.scoring.poll import poll, total
from mmdyn.scoring.rubrics._rubric import KIND, Sheet, fill, one_line
from mmdyn.scoring.rubrics._shown import gold, pictures as shown_pictures, question
from mmdyn.tables import ErrorLabel, Kind


class _Verdict(Struct, frozen=True):
    code: str
    why: str
    kind: Kind


class ErrorJudge:
    """Asks the model behind an asker what kind of error made an answer wrong.

    It sees the question, the golden answer, what the model thought aloud and its answer, and the samples' pictures
    unless `pictures` is False. votes: how often it is asked, an odd number. label, identity, id: as a Judge has them.
    Raises UserError for an even number of votes, and for several of a model whose answers are the same each time.

    Source: the kinds are those of MDK12-Bench, section Error Analysis, which sorts 100 errors of five models.
    """

    def __init__(self, asker: Asker, votes: int = 1, *, pictures: bool = True) -> None:
        model = asker.model
        nonces(votes, model.label, varies=model.varies)
        self._asker, self._votes, self._pictures = asker, votes, pictures
        self.label = model.label
        prompts = prompts_digest(KIND, "error_kind", "pictures", "no_reasoning", "notes", "cut")
        self.identity: Json = {
            "model": model.identity,
            "errors": {"reading": 1, "prompts": prompts},
            "votes": votes,
            "pictures": pictures,
        }
        self.id = digest(self.identity)[:8]

    async def judge(self, sample: Sample, reply: Reply, images: ImageFolder | None = None) -> ErrorLabel:
        """The kind of error in a wrong answer that is not empty. `images`: where the sample's pictures lie.

        A label without votes, and with `error`, where none could be had. Raises as Judge.judge does.
        """
        try:
            shown = shown_pictures(sample, images) if self._pictures else ()
        except ValueError as error:
            return ErrorLabel((), error=str(error))
        sheet = error_sheet(sample, reply, pictures=bool(shown))

        def read(said: str) -> tuple[Kind, str]:
            verdict = read_coded(said, _Verdict, sheet.code)
            if verdict.kind == "visual" and not sample.all_images:
                raise ValueError('the question has no picture, so that the kind cannot be "visual"')
            return verdict.kind, one_line(verdict.why)

        prompt = Message("user", (*shown, TextPart(sheet.text)))
        found = await poll(self._asker, prompt, sample.language, read, self._votes)
        if found.error:
            return ErrorLabel((), error=found.error, **total([found]))
        return ErrorLabel(tuple(kind for kind, _ in found.verdicts), found.verdicts[0][1], **total([found]))


def error_sheet(sample: Sample, reply: Reply, *, pictures: bool = False) -> Sheet:
    """What to ask about a wrong answer. `pictures`: the sample's are shown before."""
    thoughts = reply.reasoning if reply.reasoning.strip() else filled(KIND, "no_reasoning", sample.language)
    said = {"reasoning": thoughts, "answer": reply.text}
    return fill("error_kind", sample, pictures, said, question=question(sample), gold=gold(sample))
