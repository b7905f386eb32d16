"""The judge that asks a cross-encoder whether each question follows from the other, on one that this test trains."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from making_nli import CHANGED, LABELS, LIMIT, SAME, WEAKER, cross_encoder
from shell import mmdyn

from making import choice, write_set
from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.models import CrossEncoder
from perturb import Case, case_of, open_judge, perturb
from perturb.judge.nli_judge import NliJudge, _differing


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("nli") / "checkpoint")


@pytest.fixture(scope="module")
def judge(folder: Path) -> Any:
    judge = NliJudge(f"nli:{folder}")
    yield judge
    judge.close()


@pytest.mark.slow
def test_it_tells_its_own_pairs(judge: NliJudge, folder: Path) -> None:
    for a, b in SAME:
        verdict = judge.judge(case_of(a, b))
        assert (verdict.status, verdict.by) == ("kept", f"nli:{folder}") and verdict.reason.startswith("entailment 0.9")
        assert verdict.confidence and verdict.confidence > 0.9
    for a, b in CHANGED:
        verdict = judge.judge(case_of(a, b))
        assert verdict.status == "rejected" and verdict.confidence and verdict.confidence > 0.9
        assert verdict.reason.startswith("one question does not follow from the other: entailment 0.0")


def test_one_direction_is_not_enough(judge: NliJudge) -> None:
    ((strong, weak),) = WEAKER
    for a, b in ((strong, weak), (weak, strong)):
        assert judge.judge(case_of(a, b)).status == "rejected"


def test_rules_come_first_and_equal_words_ask_nobody(tmp_path: Path) -> None:
    """A checkpoint without weights is never loaded."""
    cross_encoder(tmp_path, trained=False)
    (tmp_path / "model.safetensors").unlink()
    blind = NliJudge(f"nli:{tmp_path}")
    assert blind.judge(case_of("Find 12.", "Find 13.")).reason == "a number changed: 12 -> 13"
    assert blind.judge(Case(choice(), choice())).confidence == 0.99
    with pytest.raises(UserError, match=r"cannot be loaded .*: fetch the checkpoint again"):
        blind.judge(case_of(*SAME[0]))
    blind.close()


def test_a_batch_says_what_single_pairs_say(folder: Path) -> None:
    pairs = [*SAME, *CHANGED, *WEAKER] * 4
    encoder = CrossEncoder(str(folder), device="cpu")
    alone = [encoder.entails([pair])[0] for pair in pairs]
    together = encoder.entails(pairs)
    with ThreadPoolExecutor(8) as threads:
        threaded = [found[0] for found in threads.map(lambda pair: encoder.entails([pair]), pairs)]
    encoder.close()
    assert together == pytest.approx(alone, abs=1e-5) and threaded == pytest.approx(alone, abs=1e-5)
    assert min(alone) < 0.1 and max(alone) > 0.9


def test_long_texts_are_compared_where_they_differ(judge: NliJudge) -> None:
    """Cut at the model's end both would be alike; nothing is cut."""
    story = "The play is long. " * LIMIT
    for (a, b), status in ((SAME[0], "kept"), (CHANGED[0], "rejected")):
        assert judge.judge(case_of(story + a + " " + story, story + b + " " + story)).status == status
    other = story.replace("long", "a play")
    with pytest.raises(ValueError, match=rf"both texts have \d+ tokens together, and .* reads {LIMIT}: ask a language"):
        judge.judge(case_of(story, other))


def test_the_threshold_decides_and_the_identity_says_so(folder: Path, judge: NliJudge) -> None:
    ((strong, weak),) = WEAKER
    low = NliJudge(f"nli:{folder},threshold=0.001")
    assert low.judge(case_of(strong, weak)).status == "kept"
    low.close()
    assert canonical(low.identity) != canonical(judge.identity)
    assert str(folder) not in canonical(judge.identity).decode(), "a path says nothing about a model"
    assert judge.waits == 32


@pytest.mark.parametrize(("labels", "has"), [
    ({0: "LABEL_0", 1: "LABEL_1"}, "its config.json names no labels"),
    ({0: "no", 1: "yes", 2: "?"}, "its labels are no, yes, ?"),
    ({0: "entailment-free", 1: "not_entailment"}, "its labels are entailment-free, not_entailment"),
])  # fmt: skip
def test_a_checkpoint_that_says_nothing_of_entailment_is_refused(tmp_path: Path, labels: Any, has: str) -> None:
    cross_encoder(tmp_path, labels, trained=False)
    with pytest.raises(UserError) as refused:
        open_judge(f"nli:{tmp_path}")
    assert str(refused.value) == (
        f"{tmp_path} does not tell what follows, for {has} and none is 'entailment': name a cross-encoder of natural "
        "language inference, such as MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
    )


@pytest.mark.parametrize(("name", "votes", "says"), [
    ("nli:FOLDER,threshold=2", 1, "the nli judge's threshold is 2: give a probability from 0 to 1"),
    ("nli:FOLDER,treshold=1", 1, "nli has no option 'treshold' (did you mean 'threshold'?)"),
    ("nli:FOLDER", 3, "the nli judge says the same each time it is asked: leave the votes out"),
    ("nli:FOLDER,device=cuda:99", 1, "the device 'cuda:99' cannot be used"),
])  # fmt: skip
def test_names_that_cannot_be_opened(folder: Path, name: str, votes: int, says: str) -> None:
    with pytest.raises(UserError) as refused:
        open_judge(name.replace("FOLDER", str(folder)), votes)
    assert says in str(refused.value)


def test_a_folder_that_is_not_there_ends_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"a": "Find x.", "b": "Find y."}))
    done = mmdyn("judge", "pairs.jsonl", "--judge", "nli:/no/such/folder", folder=tmp_path)
    says = "there is no folder /no/such/folder: name a checkpoint's folder, or a repository as owner/name"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"mmdyn: {says}\n")


def test_it_is_calibrated_like_the_others(folder: Path, tmp_path: Path) -> None:
    rows = [{"a": a, "b": b, "label": keep} for keep, pairs in ((True, SAME), (False, CHANGED)) for a, b in pairs]
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    done = mmdyn("judge", "pairs.jsonl", "--calibrate", "--json", "-q", "--judge", f"nli:{folder}", folder=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["judge"], found["n"], found["failed"]) == (0, f"nli:{folder}", 8, 0)
    assert found["recall"]["value"] == found["specificity"]["value"] == found["kappa"] == 1


def test_variants_are_judged_by_it(folder: Path, tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", [choice("q1"), choice("q2", question="What is 2 + 1?")])
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", judge=f"nli:{folder}", quiet=True)
    assert dynamic.manifest.counts == {"samples": 2, "kept": 2}
    assert {sample.variant.verdict.by for sample in dynamic if sample.variant} == {f"nli:{folder}"}
    assert LABELS[1] == "Entailment", "labels are found whatever their case"


@pytest.mark.parametrize(("a", "b", "left"), [
    ("One. Two. Three.", "One. Deux. Three.", (" Two.", " Deux.")),
    ("One. Two. Three.", "One. Three.", ("One. Two. Three.", "One. Three.")),
    ("二。三。四。", "三。四。", ("二。三。", "三。")),
    ("一。二？三。", "一。两？三。", ("二？", "两？")),
    ("It is 1.5 m. Why?", "It is 1.5 m. How?", (" Why?", " How?")),
])  # fmt: skip
def test_where_long_texts_differ(a: str, b: str, left: tuple[str, str]) -> None:
    assert _differing(a, b) == left
