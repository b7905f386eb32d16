"""What stands beside the code says the same as the code: the citation, the hooks, the forms, the workflow, the weight."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tracked import ROOT, tracked

from mmdyn.cli.view import PORT

TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TABLES["project"]
PYTHONS = [re.sub(".* ", "", line) for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
FORMS = tracked(".github/ISSUE_TEMPLATE/*.yml")


def parsed(file: Path) -> dict[str, Any]:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert isinstance(content, dict), f"{file} is no mapping"
    return content


def test_the_citation_is_of_this_project() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0" and citation["message"] and citation["abstract"]
    assert citation["title"].startswith(PROJECT["name"])
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"] == [{"name": "mmdyn maintainers"}]
    assert citation["keywords"] == PROJECT["keywords"]


def test_no_set_run_or_store_is_tracked_beside_the_code() -> None:
    """What an example or a run by hand leaves in the checkout is nobody's."""
    left = tracked("**/*.sqlite", "**/*.lock", "**/*.holder", "**/run.json", "**/set.json", "**/log.txt")
    assert left == []
    roots = {file.relative_to(ROOT).parts[0] for file in tracked("*/**") if not file.is_relative_to(ROOT / ".git")}
    assert roots == {".ci", ".github", "bench", "configs", "docs", "kprag", "mmdyn", "notebooks", "perturb", "tests"}


def test_the_hooks_are_the_lines_of_ci_with_the_pinned_versions() -> None:
    repos = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repo["repo"] for repo in repos] == ["local"], "a hosted hook has a version beside that of constraints.txt"
    hooks = repos[0]["hooks"]
    assert [hook["entry"] for hook in hooks] == ["ruff check", "ruff format", "mypy"]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert all(re.search(rf"^{hook['entry']}\b", CI, re.MULTILINE) for hook in hooks)
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    tools = {hook["entry"].split()[0] for hook in hooks}
    assert {tool for tool in tools if re.search(rf"^{tool}==", pinned, re.MULTILINE)} == tools


def test_the_workflow_runs_ci_without_secrets() -> None:
    file = ROOT / ".github" / "workflows" / "ci.yml"
    workflow = parsed(file)
    assert set(workflow[True]) == {"push", "pull_request", "workflow_call"}, "YAML reads the key `on` as True"
    assert workflow["permissions"] == {"contents": "read"}
    assert "github.ref" in workflow["concurrency"]["group"]
    assert "secrets" not in file.read_text(encoding="utf-8")
    job = workflow["jobs"]["check"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert [step.get("uses", step.get("run", "")).partition("@")[0] for step in job["steps"]] == ["actions/checkout", "actions/setup-python", ".ci/run"]  # fmt: skip


def test_each_week_the_wheel_is_tested_with_the_newest_and_the_lowest_versions() -> None:
    workflow = parsed(ROOT / ".github" / "workflows" / "versions.yml")
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"} and workflow["permissions"] == {"contents": "read"}
    check, tell = workflow["jobs"]["check"], workflow["jobs"]["tell"]
    matrix = check["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS and matrix["versions"] == ["newest"]
    assert matrix["include"] == [{"python": PYTHONS[0], "versions": "lowest"}]
    assert check["steps"][-1]["run"] == ".ci/versions ${{ matrix.versions }}"
    assert tell["needs"] == "check" and tell["permissions"] == {"issues": "write"}
    done = subprocess.run([ROOT / ".ci" / "versions", "oldest"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: .ci/versions newest|lowest [TESTS]\n")


def test_no_checkout_leaves_a_token_behind() -> None:
    workflows = [parsed(file) for file in tracked(".github/workflows/*.yml")]
    steps = [step for workflow in workflows for job in workflow["jobs"].values() for step in job.get("steps", [])]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == 4 and all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_the_image_is_of_the_tested_versions_and_nobody_is_root_in_it() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^FROM python:([\d.]+)-slim\b", text, re.MULTILINE) == [PYTHONS[-1]] * 2
    installs = re.findall(r"^.*\bpip .*install.*$", text, re.MULTILINE)
    assert len(installs) == 2 and all("-c constraints.txt" in line for line in installs)
    assert re.search(r"^USER 1000:1000$", text, re.MULTILINE) and 'ENTRYPOINT ["mmdyn"]' in text
    (extras,) = re.findall(r"^ARG EXTRAS=(.*)$", text, re.MULTILINE)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
    (port,) = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)
    assert int(port) == PORT and f"-p 127.0.0.1:{port}:{port}" in text


def test_the_image_is_built_of_what_the_wheel_is_built_of() -> None:
    hatch = TABLES["tool"]["hatch"]["build"]["targets"]
    let_in = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(let_in) == sorted([*hatch["sdist"]["include"], "constraints.txt"])
    assert {*hatch["wheel"]["packages"], *hatch["wheel"]["force-include"]} <= set(let_in)


def test_the_forge_types_what_the_dockerfile_says() -> None:
    steps = parsed(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["image"]["steps"]
    runs = "\n".join(step.get("run", "") for step in steps)
    head = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition("FROM")[0]
    build, demo, view = re.findall(r"^#     (docker .*)$", head, re.MULTILINE)
    assert build in runs.splitlines()
    for typed in (demo, view):
        options = re.findall(r'-u "[^"]+"|-p \S+', typed)
        assert options and all(option in runs for option in options), options
        assert typed[typed.index(" mmdyn ") :] in runs
    assert build in README and demo.replace('"', "") in README.replace('"', "")


def test_a_tag_is_tested_built_checked_and_published_without_a_token() -> None:
    file = ROOT / ".github" / "workflows" / "release.yml"
    workflow = parsed(file)
    assert workflow[True] == {"push": {"tags": ["v*"]}} and "secrets" not in file.read_text(encoding="utf-8")
    check, build, publish = (workflow["jobs"][name] for name in ("check", "build", "publish"))
    assert (ROOT / check["uses"]).is_file() and (build["needs"], publish["needs"]) == ("check", "build")
    asked = [job.get("permissions", workflow["permissions"]) for job in (check, build, publish)]
    assert asked == [{"contents": "read"}, {"contents": "read"}, {"id-token": "write"}]
    assert publish["environment"] == "pypi" and all("run" not in step for step in publish["steps"])
    runs = [step["run"] for step in build["steps"] if "run" in step]
    assert runs[2:] == ["python -m pip install build twine", "python -m build", "twine check --strict dist/*"]
    up, down = build["steps"][-1], publish["steps"][0]
    assert up["with"]["path"] == down["with"]["path"] == "dist/" and up["with"]["name"] == down["with"]["name"]


@pytest.mark.parametrize(("tag", "published"), [(f"v{PROJECT['version']}", True), ("v0.0.1", False), ("vx", False)])
def test_only_the_tag_of_the_version_is_published(tag: str, published: bool, tmp_path: Path) -> None:
    build = parsed(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["build"]
    steps = {step["name"]: step["run"] for step in build["steps"] if "name" in step}
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"## [Unreleased]\n\n## [{PROJECT['version']}] - 2027-01-01\n")
    for name in ("The tag is the version", "The changelog has the version"):
        done = subprocess.run(["bash", "-c", steps[name]], cwd=tmp_path, env={**os.environ, "GITHUB_REF_NAME": tag})
        assert (done.returncode == 0) == published, name


def test_updates_come_once_a_month_in_one_piece() -> None:
    updates = parsed(ROOT / ".github" / "dependabot.yml")["updates"]
    assert [one["package-ecosystem"] for one in updates] == ["pip", "github-actions", "docker"]
    assert {one["schedule"]["interval"] for one in updates} == {"monthly"}
    assert all(group["patterns"] == ["*"] for one in updates for group in one["groups"].values())


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md"])
def test_what_a_page_for_people_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if not link.startswith("https://")]
    links += re.findall(r"`python ([\w/]+\.py)", text)
    assert links and all((ROOT / link).is_file() for link in links)
    assert set(re.findall(r"`mmdyn (\w+)", text)) <= {file.stem for file in (ROOT / "mmdyn" / "cli").glob("*.py")}


def test_ci_runs_the_slow_tests_and_few_are_slow() -> None:
    assert re.search(r"^time pytest -n auto -m slow$", CI, re.MULTILINE)
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in tracked("tests/**/test_*.py")]
    tests = [node for tree in trees for node in tree.body if getattr(node, "name", "").startswith("test_")]
    slow = [node for node in tests if any(ast.unparse(mark) == "pytest.mark.slow" for mark in node.decorator_list)]  # type: ignore[attr-defined]
    assert tests and 0 < len(slow) <= 0.15 * len(tests)


def test_the_forms_are_these() -> None:
    assert [file.stem for file in FORMS] == ["bug_report", "feature_request", "new_benchmark"]


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_a_form_asks_questions(file: Path) -> None:
    form = parsed(file)
    assert form["name"] and form["description"]
    fields = form["body"]
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert all(field["attributes"]["options"] for field in fields if field["type"] in ("dropdown", "checkboxes"))
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_the_changelog_begins_with_what_is_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[0] == "[Unreleased]"
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


def test_the_changelog_is_read_in_two_minutes_and_the_rest_is_folded() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    shown, folds = re.subn(
        r"<details>\n<summary>Item by item</summary>\n\n- .*?\n\n</details>", "", text, flags=re.DOTALL
    )
    assert folds == len(re.findall(r"^### ", text, re.MULTILINE)) and "details>" not in shown
    assert 200 < len(shown.split()) < 500, "a reader takes in some 240 words a minute"


def test_tests_are_weighed_beside_the_packages(tmp_path: Path) -> None:
    for name, source in {
        "mmdyn/sample.py": '"""What it is."""\n\n# why\nA = 1\nB = (\n    2,\n)\n',
        "mmdyn/text/words.py": "C = 3\n",
        "tests/text/test_words.py": "def test() -> None:\n    assert True\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    weight = [sys.executable, ROOT / "bench" / "weight.py", "--root", tmp_path]
    table = subprocess.run(weight, capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert table == ["| mmdyn | 1 | 4 | 5 |  |", "| mmdyn/text | 1 | 1 | 1 |  |", "| all | 2 | | 5 | 0 |", "| tests | 1 | | 2 | |"]  # fmt: skip
    files = subprocess.run([*weight, "--files", "tests"], capture_output=True, text=True, check=True).stdout
    assert "| tests/text/test_words.py | 2 |" in files
