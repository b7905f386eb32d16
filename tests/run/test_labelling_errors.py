"""Wrong answers of a run labelled by a judge: who is asked about what, what stays, how it goes on, and mistakes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from run.making_answers import question, replied
from scoring.making_judges import Told
from serving import hold, script, serve, wait_until
from shell import MMDYN, mmdyn
from tables.making_runs import write_run

from making import image_ref, open_ended, picture, write_set
from mmdyn.errors import Busy, InputError, ModelError, Stopped, UserError
from mmdyn.keys import canonical
from mmdyn.models import Asker, Message, RejectedError, TextPart
from mmdyn.models.asker import REFUSALS
from mmdyn.record import Reply
from mmdyn.run import label_errors
from mmdyn.run.verdicts import Labelled, NoVerdict, VerdictPile
from mmdyn.sample import Sample
from mmdyn.scoring.judge import error_sheet
from mmdyn.tables import report
from mmdyn.work import RunFolder, Store

REPLIES = {f"q{n}": Reply(text=f"Because of {n}.", reasoning="Hm." if n % 2 else "") for n in range(12)}


def a_run(folder: Path, replies: Mapping[str, Reply] = REPLIES, **more: object) -> RunFolder:
    """Answers that are all wrong but for the one of q0, one that was cut off and one that is empty."""
    samples = [question(id) for id in replies]
    records = [replied(one, replies[one.id], float(one.id == "q0"), model="m") for one in samples]
    samples += [question("cut"), question("void")]
    records += [replied(samples[-2], Reply(text="Because", finish_reason="length"), model="m")]
    records += [replied(samples[-1], Reply(text=" "), model="m")]
    return write_run(folder / "run", records, samples=samples)


def judging(file: Path, kind: Callable[[str], str], replies: Mapping[str, Reply] = REPLIES) -> str:
    """The scripted MODEL that says so of each reply, by its sample's id."""
    lines = list[dict[str, str]]()
    for id, reply in replies.items():
        code = error_sheet(question(id), reply).code
        lines.append({"match": code, "reply": json.dumps({"code": code, "why": "so", "kind": kind(id)})})
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"scripted:{file},max_tries=1"


def by_number(id: str) -> str:
    return "question" if int(id[1:]) < 4 else "reasoning"


def numbers(found: Labelled) -> dict[str, float]:
    """The numbers of the one model that are not 0, by name."""
    return {row.quantity: row.value for row in found.report.rows("errorkinds") if row.value}


def test_wrong_answers_are_labelled_and_reported(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    found = label_errors(run.folder, judging(tmp_path / "judge.jsonl", by_number), quiet=True)
    shares = {"question": round(3 / 13, 6), "reasoning": round(8 / 13, 6), "incomplete": round(2 / 13, 6)}
    assert numbers(found) == shares | {"truncated": 1, "empty": 1, "drawn": 11, "labelled": 11}
    rows = found.report.rows("errorkinds")
    assert found.failed == 0 and rows[0].n == 13
    assert report(run).rows("errorkinds") == rows and rows[0].factors["judge"].startswith("scripted:judge.jsonl (")


def test_a_second_call_asks_about_nothing_and_a_larger_sample_only_about_what_is_new(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    judging(tmp_path / "judge.jsonl", by_number)
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        model, totals = f"openai:m,base_url={server.url}", list[int]()
        for per, seed in ((4, 0), (4, 0), (9, 0), (4, 0), (4, 1)):
            found = label_errors(run, model, per=per, seed=seed, quiet=True)
            assert (numbers(found)["drawn"], numbers(found)["labelled"]) == (per, per)
            assert not any(row.note for row in found.report.rows("errorkinds"))
            totals.append(server.stats.total)
        assert totals[:4] == [4, 4, 9, 9] and 9 <= totals[4] <= 11
        assert server.stats.asked_again == 0


@pytest.mark.slow
def test_what_was_paid_for_is_not_paid_again_after_a_kill(tmp_path: Path) -> None:
    replies = {f"q{n}": Reply(text=f"Because of {n}.") for n in range(1, 81)}
    a_run(tmp_path, replies)
    judging(tmp_path / "judge.jsonl", by_number, replies)
    with hold(16, reply=str(tmp_path / "judge.jsonl")) as server:
        words = ["errors", "run", "--judge", f"openai:m,base_url={server.url}"]
        words += ["--per", "100", "--concurrency", "4", "--json", "-q"]
        process = subprocess.Popen([*MMDYN, *words], cwd=tmp_path, stdout=subprocess.DEVNULL)
        wait_until(lambda: server.stats.in_flight == 4 and server.stats.total == 20, process)
        process.kill()
        process.wait()
        wait_until(lambda: not server.stats.in_flight)
        server.let_all()
        done = mmdyn(*words, folder=tmp_path)
        (part,) = json.loads(done.stdout)["report"]["parts"]
        told = {row["quantity"]: row["value"] for row in part["rows"]}
        assert told["labelled"] == 80 and server.stats.total == 80 + 4


def test_a_label_that_could_not_be_read_is_asked_for_and_not_recalled(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    with serve(reply=str(script(tmp_path, "I would rather not say."))) as server:
        judge, port = f"openai:j,base_url={server.url}", int(server.url.split(":")[2].split("/")[0])
        drawn = label_errors(run, judge, quiet=True).failed
        sent = server.stats.total
        assert drawn and sent == 2 * drawn
        assert label_errors(run, judge, quiet=True).failed == drawn and server.stats.total == 2 * sent
    (tmp_path / "right").mkdir()
    judging(tmp_path / "right" / "replies.jsonl", by_number)
    with serve(port=port, reply=str(tmp_path / "right" / "replies.jsonl")) as server:
        assert label_errors(run, judge, quiet=True).failed == 0 and server.stats.total == drawn


def test_answers_without_a_label_are_listed_not_kept_and_asked_again(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    broken = judging(tmp_path / "judge.jsonl", lambda id: "maths" if id == "q4" else by_number(id))
    for _ in range(2):
        found = label_errors(run, broken, quiet=True)
        assert (found.failed, [one.sample for one in found.failures]) == (1, ["q4"])
        assert "gave nothing usable in 2 tries" in found.failures[0].reason
        note = found.report.rows("errorkinds")[0].note
        assert "1 of 11 drawn are not labelled yet" in note and numbers(found)["labelled"] == 10


def test_pictures_go_to_the_judge(tmp_path: Path) -> None:
    """Those of a variant lie in its own set's folder. Without its pictures, or with a picture that is gone, no label is
    made up."""
    data, sample = picture(), open_ended("q", images=(image_ref(picture()),))
    run = write_run(tmp_path / "run", [replied(sample, "x", model="m")], samples=[sample])
    write_set(run.folder / "sets" / "exam-dynamic", [sample], "exam-dynamic", images=[data])
    (tmp_path / "judge.jsonl").write_text('{"reply": "no label"}')
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        model = f"openai:m,base_url={server.url}"
        assert label_errors(run, model, pictures=False, quiet=True).failed == 1 and not server.stats.images
        assert label_errors(run, model, quiet=True).failed == 1 and server.stats.images.total() == 2
        next((run.folder / "sets").rglob("*.png")).unlink()
        found = label_errors(run, model, quiet=True)
        assert "is missing: put the file into" in found.failures[0].reason and server.stats.images.total() == 2


def test_a_limit_on_requests_stops_and_the_same_call_goes_on(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    judging(tmp_path / "judge.jsonl", by_number)
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        model = f"openai:m,base_url={server.url}"
        with pytest.raises(Stopped, match="stopped at --max-requests 5: 5 requests by this call; 5 of 11 done, 6 left"):
            label_errors(run, model, max_requests=5, quiet=True)
        assert "6 of 11 drawn are not labelled yet" in report(run).rows("errorkinds")[0].note
        assert numbers(label_errors(run, model, quiet=True))["labelled"] == 11 and server.stats.total == 11


@pytest.mark.parametrize("there", [0, 1])
async def test_a_judge_that_gave_labels_before_is_not_given_up_for_what_it_refuses(tmp_path: Path, there: int) -> None:
    asker, refused = Asker(Told(lambda prompt, _: RejectedError("not about this", perhaps_all=True))), list[str]()

    async def judge(job: int) -> NoVerdict:
        refused.append((await asker.ask((Message("user", (TextPart(f"{job}"),)),))).error)
        return NoVerdict("exam", f"q{job}", "standard", refused[-1])

    with Store(tmp_path) as store:
        for place in range(there):
            store.put("label", f"known {place}", canonical(Reply(text="one")))
        pile = VerdictPile(store, "label", Reply)
        jobs = {f"{'known' if job < there else 'new'} {job}": job for job in range(REFUSALS + 2 + there)}
        going = pile.fill(asker, jobs, judge, "labelling", quiet=True)
        if there:
            failures = await going
            assert refused == ["not about this"] * (REFUSALS + 2) and len(failures) == REFUSALS + 2
            assert str(failures[0]) == "q1 of exam, standard: not about this"
            assert pile.known("known 0") == Reply(text="one") and pile.known("new 1") is None
        else:
            with pytest.raises(ModelError, match="not about this, and so 10 times"):
                await going


def test_nothing_wrong_nothing_asked(tmp_path: Path) -> None:
    sample = question("q")
    run = write_run(tmp_path / "run", [replied(sample, "It floats.", 1.0, model="m")], samples=[sample])
    found = label_errors(run, judging(tmp_path / "judge.jsonl", by_number), quiet=True)
    assert (found.report.rows("errorkinds"), found.failed) == ([], 0)


def test_mistakes(tmp_path: Path) -> None:
    run, judge = a_run(tmp_path), judging(tmp_path / "judge.jsonl", by_number)
    (tmp_path / "fatal.jsonl").write_text('{"error": "fatal"}')
    with pytest.raises(ModelError, match="a failure scripted in"):
        label_errors(run, f"scripted:{tmp_path / 'fatal.jsonl'}", quiet=True)
    with pytest.raises(UserError, match="per is 0: give 1 or more"):
        label_errors(run, judge, per=0, quiet=True)
    with pytest.raises(UserError, match="2 votes can tie"):
        label_errors(run, judge, votes=2, quiet=True)
    with pytest.raises(UserError, match="no record has a field 'subjet'"):
        label_errors(run, judge, by=["subjet"], quiet=True)
    with pytest.raises(InputError, match=r"no run\.json in it"):
        label_errors(tmp_path, judge, quiet=True)
    with Store(run.records_folder), pytest.raises(Busy, match="is held by process"):
        label_errors(run, judge, quiet=True)


def test_a_sample_that_the_store_has_lost(tmp_path: Path) -> None:
    lost: Sample = question("q1")
    run = write_run(tmp_path / "run", [replied(lost, "x", model="m")], keep_samples=False)
    with pytest.raises(InputError, match="the store has lost the sample q1"):
        label_errors(run, judging(tmp_path / "judge.jsonl", by_number), quiet=True)
