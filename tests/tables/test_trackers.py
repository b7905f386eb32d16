"""A report in MLflow's file store, and in Weights & Biases' folders of runs that are sent later."""

from __future__ import annotations

import struct
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shell import MMDYN, mmdyn
from tables.making_runs import DYNAMIC, STANDARD, answers, change, score, write_run

from mmdyn.errors import MissingExtra
from mmdyn.record import Condition
from mmdyn.table import Flips
from mmdyn.tables import Report, tabulate, track, trackers, why_parts
from mmdyn.work import RunFolder, SetEntry

PAGE = "<!doctype html>\n<p>被测</p>"
MODELS = ("m1", "openai:m/2")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Two models on a set: one loses 6 of 24 questions to the chain, the other none."""
    lost = ("1" * 18 + "0" * 6, "1" * 12 + "0" * 12)
    same = ("10" * 12, "10" * 12)
    records = [
        record
        for model, sides in zip(MODELS, (lost, same), strict=True)
        for values, condition in zip(sides, (STANDARD, DYNAMIC), strict=True)
        for record in answers(values, condition, model=model)
    ]
    return write_run(tmp_path / "run", records, versions={"mmdyn": "0.1.0"})


def reported(run: RunFolder) -> Report:
    return tabulate([run], [*why_parts(), Flips()])


class Store:
    """MLflow's file store in a folder, and what is in its experiment."""

    def __init__(self, mlflow: Any, experiment: str) -> None:
        self.client, self.experiment = mlflow.MlflowClient(), experiment

    def runs(self) -> dict[str, Any]:
        """The runs by name; a name has one."""
        found = self.client.search_runs([self.client.get_experiment_by_name(self.experiment).experiment_id])
        named = {run.info.run_name: run for run in found}
        assert len(named) == len(found)
        return named


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    with warnings.catch_warnings(action="ignore"):  # of its own modules
        mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'mmdyn[mlflow]'")
    return Store(mlflow, "mmdyn")


def test_the_numbers_are_those_of_the_report(run: RunFolder, store: Store) -> None:
    report = reported(run)
    said = track(run, report, PAGE, "mlflow")
    assert said == "run (complete, 96 of 96 asked, 0 failed): wrote 2 of 2 models to\nthe experiment mmdyn of MLflow"
    found = store.runs()
    assert set(found) == set(MODELS)
    for label in MODELS:
        kept = found[label].data
        standard, lost = score(report, model=label, variant="standard"), change(report, model=label)
        low, high = standard.ci95 or (0, 0)
        least, most = lost.ci95 or (0, 0)
        assert standard.value is not None and lost.value is not None
        wanted = {
            "exam/score/standard": 100 * standard.value,
            "exam/score_low/standard": 100 * low,
            "exam/score_high/standard": 100 * high,
            "exam/score_n/standard": 24,
            "exam/change/standard_to_dynamic_pad": 100 * lost.value,
            "exam/change_low/standard_to_dynamic_pad": 100 * least,
            "exam/change_high/standard_to_dynamic_pad": 100 * most,
            "exam/change_n/standard_to_dynamic_pad": 24,
            "exam/change_p_holm/standard_to_dynamic_pad": lost.p_adjusted,
        }
        dynamic = {name.replace("/standard", "/dynamic_pad") for name in wanted if "/score" in name}
        assert set(kept.metrics) == set(wanted) | dynamic
        assert {name: kept.metrics[name] for name in wanted} == pytest.approx(wanted, abs=1e-4)
        assert kept.params == {
            "model": label, "identity_name": label, "sets": "exam (d0), exam-dynamic (d1)", "modes": "standard, dynamic",
            "scorer": "mdk12", "epochs": "1", "versions": "mmdyn 0.1.0",
        }  # fmt: skip
        assert kept.tags["mmdyn.run"] == "run" and kept.tags["mmdyn.state"] == "complete, 96 of 96 asked, 0 failed"
        notes = kept.tags["mlflow.note.content"]
        assert f"{label} on exam: " in notes and not any(f"{other} on " in notes for other in MODELS if other != label)
    assert found["m1"].data.metrics["exam/score/standard"] == 75.0
    assert found["m1"].data.metrics["exam/change/standard_to_dynamic_pad"] == -25.0


def test_the_page_is_an_artifact(run: RunFolder, store: Store) -> None:
    track(run, reported(run), PAGE, "mlflow")
    for kept in store.runs().values():
        (file,) = store.client.list_artifacts(kept.info.run_id)
        assert Path(store.client.download_artifacts(kept.info.run_id, file.path)).read_text("utf-8") == PAGE
        assert file.path == "report.html" and kept.info.status == "FINISHED"


def test_a_later_export_writes_over_an_earlier_one(run: RunFolder, store: Store, tmp_path: Path) -> None:
    first = write_run(run.folder, [], planned=120, versions={"mmdyn": "0.1.0"}, models=run.config.models)
    track(first, reported(first), PAGE, "mlflow")
    early = store.runs()
    assert early["m1"].data.tags["mmdyn.state"] == "not finished or not scored, 96 of 120 asked, 0 failed"
    assert early["m1"].info.status == "RUNNING"
    more = answers("." * 24 + "0" * 24, model="m1")
    whole = write_run(run.folder, more, planned=120, versions={"mmdyn": "0.1.0"}, models=run.config.models)
    track(whole, reported(whole), PAGE, "mlflow")
    late = store.runs()
    assert {name: kept.info.run_id for name, kept in late.items()} == {n: kept.info.run_id for n, kept in early.items()}
    assert late["m1"].data.metrics["exam/score/standard"] == 37.5
    assert late["m1"].data.metrics["exam/score_n/standard"] == 48
    assert late["m1"].data.tags["mmdyn.state"] == "complete, 120 of 120 asked, 0 failed"
    assert late["m1"].info.status == "FINISHED"
    moved = RunFolder(run.folder.rename(tmp_path / "elsewhere"))
    track(moved, reported(moved), PAGE, "mlflow")
    assert {kept.info.run_id for kept in store.runs().values()} == {kept.info.run_id for kept in early.values()}
    assert store.runs()["m1"].data.tags["mmdyn.run"] == "elsewhere"


def test_what_mlflow_cannot_change_is_made_anew(run: RunFolder, store: Store) -> None:
    track(run, reported(run), PAGE, "mlflow")
    early = store.runs()
    run.write_config(run.config.__class__(**{**_fields(run), "epochs": 2}))
    track(run, reported(run), PAGE, "mlflow")
    late = store.runs()
    assert late["m1"].data.params["epochs"] == "2"
    assert {kept.info.run_id for kept in late.values()}.isdisjoint(kept.info.run_id for kept in early.values())


def _fields(run: RunFolder) -> dict[str, Any]:
    return {name: getattr(run.config, name) for name in run.config.__struct_fields__}


def test_another_run_of_the_same_name_is_another(run: RunFolder, store: Store, tmp_path: Path) -> None:
    other = write_run(tmp_path / "b" / "run", answers("11"), versions={"mmdyn": "0.1.0"})
    track(run, reported(run), PAGE, "mlflow")
    track(other, reported(other), PAGE, "mlflow")
    experiment = store.client.get_experiment_by_name("mmdyn").experiment_id
    assert sorted(kept.info.run_name for kept in store.client.search_runs([experiment])) == ["m1", "m1", "openai:m/2"]


def test_failures_are_told(tmp_path: Path, store: Store) -> None:
    run = write_run(tmp_path / "run", [*answers("1100xx"), *answers("1.", model="m2", scored=False)], versions={})
    said = track(run, reported(run), PAGE, "mlflow")
    assert said.startswith("run (not finished or not scored, 7 of 7 asked, 2 failed): wrote 1 of 2 models to\n")
    assert store.runs()["m1"].data.metrics["exam/score_n/standard"] == 4
    assert "2 answers failed" in store.runs()["m1"].data.tags["mlflow.note.content"]


def test_a_change_of_corrected_scores_stands_beside_the_raw_one(tmp_path: Path, store: Store) -> None:
    records = [*answers("1" * 20 + "0" * 10, chance=0.25), *answers("1" * 15 + "0" * 15, DYNAMIC, chance=0.5)]
    run = write_run(tmp_path / "run", records, versions={})
    report = reported(run)
    track(run, report, PAGE, "mlflow")
    found, lost = store.runs()["m1"].data.metrics, change(report)
    assert lost.scale == "corrected" and lost.value is not None
    assert found["exam/change_corrected/standard_to_dynamic_pad"] == pytest.approx(100 * lost.value, abs=1e-4)
    assert found["exam/change/standard_to_dynamic_pad"] == pytest.approx(-100 / 6, abs=1e-4)
    assert "exam/change_low/standard_to_dynamic_pad" not in found


def test_names_that_no_tracker_takes(tmp_path: Path, store: Store) -> None:
    chains = ("pad+color", "pad,color", "invert@3", "x" * 300, "填充")
    sets = (SetEntry("考试/A", "考试/A", "a", "d0"), SetEntry("v", "考试/A", "b", "d1"))
    records = [record for chain in chains for record in answers("10", Condition("dynamic", chain), set="考试/A")]
    run = write_run(tmp_path / "run", [*answers("11", set="考试/A"), *records], sets=sets, versions={})
    track(run, reported(run), PAGE, "mlflow")
    found = store.runs()["m1"].data.metrics
    scores = {name.removeprefix("考试_A/score/") for name in found if name.startswith("考试_A/score/")}
    plain = {"standard", "dynamic_all", "dynamic_pad_color", "dynamic_invert_3", "dynamic_填充", f"dynamic_{'x' * 92}"}
    (twin,) = scores - plain
    assert plain < scores and twin.startswith("dynamic_pad_color_") and len(twin) == 22


def test_the_experiment_is_the_user_s(run: RunFolder, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "exam night")
    assert track(run, reported(run), PAGE, "mlflow").endswith("\nthe experiment exam night of MLflow")
    store.experiment = "exam night"
    assert set(store.runs()) == set(MODELS)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "address", ["http://me:s3cret@127.0.0.1:9", "ftp://me:s3cret@host/x", "postgresql://me:s3c/ret@h/x"]
)
def test_a_server_that_is_not_there_ends_in_a_sentence(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    done = mmdyn("runs", "export", run.folder, "--to", "mlflow")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mmdyn: mlflow did not take all of it (")
    assert done.stderr.endswith("): check the variables MLFLOW_*\n") and done.stderr.count("\n") == 1
    assert "s3c" not in done.stderr and "me:" not in done.stderr


def test_the_command(run: RunFolder, store: Store) -> None:
    done = mmdyn("runs", "export", run.folder, "--to", "mlflow")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith(": wrote 2 of 2 models to\nthe experiment mmdyn of MLflow\n")
    (run_id, *_) = (kept.info.run_id for kept in store.runs().values())
    page = Path(store.client.download_artifacts(run_id, "report.html")).read_text("utf-8")
    assert page.startswith("<!doctype html>\n") and "What to distrust" in page


@pytest.mark.usefixtures("store")
def test_failed_answers_end_in_exit_status_1(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("1100x"), versions={})
    done = mmdyn("runs", "export", run.folder, "--to", "mlflow")
    assert done.returncode == 1
    assert "failed: s04 of exam, m1, standard: the server said 500" in done.stderr


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that wandb writes to."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("wandb", reason="wandb is not installed: pip install 'mmdyn[wandb]'")
    return tmp_path / "wandb"


def exported(run: RunFolder, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: wandb reads its settings once, and has written all when the process ends."""
    words = [*MMDYN, "runs", "export", str(run.folder), "--to", "wandb"]
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder)


def test_wandb_keeps_the_same(run: RunFolder, wandb: Path) -> None:
    done, report, ids = exported(run, wandb.parent), reported(run), list[str]()
    assert (done.returncode, done.stdout) == (0, "")
    first, *places = done.stderr.splitlines()
    assert first == "run (complete, 96 of 96 asked, 0 failed): wrote 2 of 2 models to"
    for label, place in zip(MODELS, places, strict=True):
        folder = Path(place.removesuffix("; `wandb sync` sends it"))
        assert folder.parent == wandb
        (file,) = folder.glob("*.wandb")
        kept = list(_records(file))
        (about,) = (record.run for record in kept if record.WhichOneof("record_type") == "run")
        (history,) = (record.history for record in kept if record.WhichOneof("record_type") == "history")
        (artifact,) = (record.artifact for record in kept if record.WhichOneof("record_type") == "artifact")
        metrics = {"/".join(item.nested_key) or item.key: item.value_json for item in history.item}
        standard = score(report, model=label, variant="standard")
        assert standard.value is not None
        assert float(metrics["exam/score/standard"]) == pytest.approx(100 * standard.value, abs=1e-4)
        assert metrics["exam/change_n/standard_to_dynamic_pad"] == "24"
        config = {item.key: item.value_json for item in about.config.update}
        assert config["sets"] == '"exam (d0), exam-dynamic (d1)"'
        assert config["state"] == '"complete, 96 of 96 asked, 0 failed"'
        assert (about.display_name, about.project) == (label, "mmdyn")
        (entry,) = artifact.manifest.contents
        assert entry.path == "report.html" and entry.size > 10_000
        ids.append(about.run_id)
    again = exported(run, wandb.parent).stderr.splitlines()[1:]
    assert [place.removesuffix("; `wandb sync` sends it").rpartition("-")[2] for place in again] == ids
    assert len(set(ids)) == 2


def _records(file: Path) -> Iterator[Any]:
    """The records of wandb's file: LevelDB's log, after a header of 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    data, place, body = file.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, place)
        body, place = body + data[place + 7 : place + 7 + size], place + 7 + size
        if kind in (1, 4):  # a whole record, or the last part of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(body)
            body = b""
            yield record


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"WANDB_MODE": "disabled"}, "WANDB_MODE is disabled"),
        ({"WANDB_MODE": "nope"}, "Input should be 'online'"),
        ({"WANDB_API_KEY": "s3cret"}, "API key must have"),
        ({"WANDB_API_KEY": "s3cret" * 7, "WANDB_INIT_TIMEOUT": "1"}, "connection refused"),
    ],
)
def test_where_wandb_keeps_nothing(
    run: RunFolder, wandb: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], why: str
) -> None:
    monkeypatch.delenv("WANDB_MODE")
    for name, value in ({"WANDB_BASE_URL": "http://127.0.0.1:9"} | settings).items():
        monkeypatch.setenv(name, value)
    done = exported(run, wandb.parent)
    assert done.returncode == 2
    assert "mmdyn: wandb did not take all of it (" in done.stderr and why in done.stderr
    assert done.stderr.endswith("): check the variables WANDB_*\n")
    assert "Traceback" not in done.stderr and "s3cret" not in done.stdout + done.stderr


@pytest.mark.parametrize("package", ["mlflow", "wandb"])
def test_a_package_that_is_missing(run: RunFolder, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    told = rf"^{package} is needed for this and is not installed: pip install 'mmdyn\[{package}\]'$"
    with pytest.raises(MissingExtra, match=told):
        track(run, reported(run), PAGE, package)
    assert not (run.folder / trackers.ID).exists()


@pytest.mark.parametrize(
    "words", [(), ("--to", "mlflow", "-o", "x.csv"), ("--to", "wandb", "--samples"), ("--to", "wandb", "--force")]
)
def test_records_or_report(run: RunFolder, words: tuple[str, ...]) -> None:
    done = mmdyn("runs", "export", run.folder, *words)
    assert done.returncode == 2
    assert done.stderr.endswith("give -o FILE, with which --samples and --force go, or --to: one of the two\n")


@pytest.mark.usefixtures("store")
def test_nothing_is_scored(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("11", scored=False), versions={})
    done = mmdyn("runs", "export", run.folder, "--to", "mlflow")
    assert done.returncode == 2
    assert done.stderr == f"mmdyn: no answer in {run.folder} has a score yet: run the same `mmdyn eval` once more\n"
