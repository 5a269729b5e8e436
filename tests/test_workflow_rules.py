"""The rules of the workflow as text and as plans: inputs and outputs, quoting, hostile names."""

import json
import os
import re
import shlex
import subprocess

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.yaml_files import read_yaml
from mnlearn_studies.datasets.prepare import check_dataset
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.study.definition import load_study, study_path
from mnlearn_studies.study.folders import config_files, run_folder
from mnlearn_studies.study.reading import read
from mnlearn_studies.study.settings import Settings
from workflow_tree import ROOT, TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("rules")]

# If a shell runs one of these names, a file appears in the folder of the run.
HOSTILE = ["a`touch hit`", "$(touch hit)", "a;touch hit", "a'\"|touch hit", "../hit", "a b", "-a"]
# Answered in a comment of the Snakefile.
ANSWERED = {"Specify a conda environment or container for each rule."}
RULES = [ROOT / "workflow/Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]


def test_every_value_in_a_command_is_quoted():
    commands = [
        command
        for path in RULES
        for command in re.findall(r"        shell:\n((?: {12}\".*\"\n?)+)", path.read_text())
    ]
    assert len(commands) == 2
    for command in commands:
        values = re.findall(r"\{.*?\}", command)
        assert values
        # Snakemake counts the threads.
        assert {value for value in values if not value.endswith(":q}")} <= {"{threads}"}


def test_functions_of_rules_have_names():
    for path in RULES:
        assert "lambda" not in path.read_text(), path


@pytest.mark.nightly
def test_lint_gives_no_advice_that_is_not_answered(tmp_path):
    done = Tree(tmp_path).run("-m", "snakemake", "--lint")
    titles = set(re.findall(r"^    \* (.+):$", done.stdout + done.stderr, re.MULTILINE))
    assert titles == ANSWERED, done.stderr
    comments = (ROOT / "workflow/Snakefile").read_text()
    assert all(f'# - "{title}": ' in comments for title in ANSWERED)


def test_the_small_run_has_the_configuration_of_the_whole_one():
    whole, small = (read_yaml(ROOT / name) for name in ("config.yaml", ".test/config.yaml"))
    assert small == {**whole, "studies": ["demo"]}


def test_a_run_in_another_folder_writes_there(tmp_path, monkeypatch):
    """A folder with a config.yaml or studies of its own is one that studies run in."""
    monkeypatch.chdir(tmp_path)
    assert run_folder() == ROOT
    (tmp_path / "config.yaml").write_text("studies: [demo]\n")
    assert run_folder() == tmp_path
    assert config_files() == [ROOT / "config.yaml", tmp_path / "config.yaml"]
    (tmp_path / "own" / "workflow" / "studies").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "own")
    assert run_folder() == tmp_path / "own"
    assert config_files() == [ROOT / "config.yaml"]
    monkeypatch.chdir(ROOT)
    assert run_folder() == ROOT
    assert config_files() == [ROOT / "config.yaml"]


# A kind of record as a contributor adds one: in one file, and named nowhere else.
SHARES = '''"""The share of ones in the training data."""

from mnlearn.data.dataset import load_npz
from mnlearn.runtime.files import write_json
from mnlearn_studies.records.kind import Kind, head, json_of


class Shares(Kind):
    """One number for each method."""

    name = "shares"
    files = json_of("shares")
    quantities = r"share_of_ones$"

    def recipe(self, plan, record):
        return {"data": plan.digest(record.data)}

    def inputs(self, plan, record):
        return {"train": plan.file(record.data, "train")}

    def make(self, job):
        train = load_npz(job.path("train"))
        write_json(job.out, {**job.identity, "share": float(train.rows[train.row_of].mean())})

    def rows(self, study, record, path):
        yield (*head(record), "share_of_ones", record["share"], None)
'''
# What a run would gather, and whether a table that shows the number reads such records.
GATHER = """
from mnlearn_studies.plan.configuration import plan_of
from mnlearn_studies.records.gather import gather
from mnlearn_studies.report.tables import kinds_read
plan = plan_of("tiny", [])
print(gather(plan.studies["tiny"], plan.kept("tiny")).to_csv(index=False))
print(len(plan.missing("tiny")))
print(sorted(kinds_read({"kind": "compare", "columns": [{"quantity": "share_of_ones"}]})))
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A tree without records whose files have hostile names, and the jobs that a run would do.

    A local file may have any path, and its columns any name; neither reaches a shell.
    """
    tree = Tree(tmp_path_factory.mktemp("fresh") / "a tree; touch hit")
    (tree.folder / "src/mnlearn_studies/records/kinds/shares.py").write_text(SHARES)
    path = tree.folder / "my $(touch hit) `touch hit`" / 'it\'s "data"; touch hit.csv'
    path.parent.mkdir()
    columns = ["a`touch hit`", "$(touch hit)", "b,c;touch hit", 'd"e', "<script>", "\\input{hit}"]
    quoted = ",".join('"' + column.replace('"', '""') + '"' for column in columns)
    lines = [quoted, *(",".join(str((k >> v) % 2) for v in range(6)) for k in range(64))]
    path.write_text("\n".join(lines) + "\n")
    captions = dict.fromkeys(("title", "paper"), "`touch hit` $(touch hit) {wildcards.study}")
    table = {**TINY["tables"][0], "caption": "$(touch hit) {input}", "columns": [
        {"name": "a`touch hit`", "head": "$(touch hit)", "method": "atomic", "quantity": "pll"},
    ]}  # fmt: skip
    tree.write_study({
        **TINY, **captions, "datasets": ["mine", "mine-n5-f0"], "methods": {"atomic": {}},
        "tables": [table], "figures": [], "records": {"shares": ["atomic"]},
    })  # fmt: skip
    local = {"mine": {"train": str(path.relative_to(tree.folder))}}
    tree.edit("config.yaml", "local: {}", f"local: {json.dumps(local)}")
    done = tree.snakemake("-n", "-p")
    assert done.returncode == 0, done.stderr
    shown = r"^(?:local)?rule (\w+):\n(.*?)\nShell command: source .*?; (mnlearn .*?) &>"
    jobs = []
    for rule, fields, command in re.findall(shown, done.stdout + done.stderr, re.M | re.DOTALL):
        named = dict(re.findall(r"^    (\w+): (.*)$", fields, re.MULTILINE))
        jobs.append((rule, named["input"], named["output"], shlex.split(command)))
    return tree, jobs


def test_a_plan_shows_the_true_inputs_and_outputs_of_each_job(fresh):
    _, jobs = fresh
    # Files that stay until they are whole anew.
    jobs = [
        (rule, given, made.replace(" (update)", ""), words) for rule, given, made, words in jobs
    ]
    assert sorted(rule for rule, *_ in jobs) == [
        *("cells", "cells", "data", "data", "models", "models", "partitions", "partitions"),
        *("products_tiny", "shares", "shares"),
    ]
    for rule, given, made, words in jobs:
        assert words[:2] == ["mnlearn", "step"]
        if rule == "products_tiny":
            records = [path for other, _, path, _ in jobs if other in ("cells", "shares")]
            assert set(given.split(", ")) == {path.split(", ")[0] for path in records}
            products = made.split(", ")
            assert {"results/tiny/scores.csv", "results/tiny/claims.md"} <= set(products)
            continue
        job = json.loads(words[3])
        assert made.split(", ") == list(job["outputs"].values())
        listed = [[path] if isinstance(path, str) else path for path in job["inputs"].values()]
        assert given == ", ".join(path for paths in listed for path in paths)
        assert job["record"][0] == rule
        # Only what scores models reads test data.
        assert ("/test@" in given) == (rule == "cells")


@pytest.mark.nightly
def test_the_command_of_a_job_makes_its_record_and_a_new_kind_is_one_file(fresh):
    """The command can be pasted into a shell, whatever the names of files."""
    tree, jobs = fresh
    of = {rule: words for rule, *_, words in jobs if '"mine"' in words[3]}
    for rule in ("data", "shares"):
        script = f"{shlex.join(of[rule])} 2>&1"
        done = subprocess.run(
            ["bash", "-c", script], cwd=tree.folder, env=tree.environment(), check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
    done = tree.run("-c", GATHER)
    assert done.returncode == 0, done.stderr
    *rows, n_missing, kinds = done.stdout.split("\n")[1:-1]
    assert rows[0].startswith("tiny,mine,atomic,,share_of_ones,0.5")
    assert (n_missing, kinds) == ("3", "['cells', 'shares']")
    assert "shares" not in KINDS
    assert not list(tree.folder.parent.rglob("hit"))


@pytest.mark.nightly
def test_hostile_files_and_columns_go_through_the_whole_workflow(fresh):
    tree, _ = fresh
    done = tree.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tree.folder.parent.rglob("hit"))
    assert (tree.results / "tiny/tables/scores.md").exists()
    assert tree.record("cells", "atomic", "mine")["n_vars"] == 6
    assert tree.record("cells", "atomic", "mine-n5-f0")["n_vars"] == 6
    assert tree.planned() == {}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_end_the_planning(name):
    """tests/studies/test_definition.py has all places in a study and all names."""
    with pytest.raises(InputError, match=f"study {re.escape(name)}: expected one of"):
        study_path(name, ROOT / "workflow")
    with pytest.raises(InputError, match=f"dataset {re.escape(name)}: expected one of"):
        check_dataset(name, {})
    for key, value in (
        ("studies", [name]),
        ("datasets", [name]),
        ("local", {name: {"train": "x"}}),
    ):
        refuse_configuration(key, value)


@pytest.mark.parametrize("parts", [0, 1.5, [2], 1001, "$(touch hit)"])
def test_numbers_of_parts_that_there_are_not(parts):
    refuse_configuration("parts", parts)


def refuse_configuration(key, value):
    """Check that a value of a key of config.yaml is refused, and the usual one is taken."""
    config = read_yaml(ROOT / "config.yaml")
    read(Settings, config, "config.yaml")
    with pytest.raises(InputError, match=r"config\.yaml, .*: expected "):
        read(Settings, {**config, key: value}, "config.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": {"dtsl": {"girds": {}}}}, "no option 'girds'; did you mean 'grid'"),
        ({"methods": {"dtsl": {"learner": "dtls"}}}, "methods.dtsl: expected learner to be one of"),
        ({"datasets": []}, "datasets"),
        ({"tables": [{**TINY["tables"][0], "name": HOSTILE[0]}]}, "name: expected a name of lower"),
    ],
)
def test_a_fault_in_a_study_is_named(tmp_path, change, message):
    path = tmp_path / "tiny.yaml"
    path.write_text(json.dumps({**TINY, **change}))
    with pytest.raises(InputError, match=message):
        load_study(path)


@pytest.mark.nightly
def test_a_fault_in_a_study_ends_the_planning_with_one_sentence(tmp_path):
    tree = Tree(tmp_path, {**TINY, "methods": {**TINY["methods"], HOSTILE[0]: {}}})
    done = tree.snakemake("-n")
    shown = done.stdout + done.stderr
    assert done.returncode != 0
    assert HOSTILE[0] in shown
    assert "Traceback" not in shown
    assert not list(tmp_path.rglob("hit"))
    assert not tree.results.exists()


@pytest.mark.nightly
def test_a_full_disk_is_said_to_a_person(tmp_path):
    """The results are on a small file system of their own, their logs included."""
    tree = Tree(tmp_path / "tree")
    tree.results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4096", "tmpfs", str(tree.results)]
    # Mounting needs rights.
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this process may not mount a file system")
    try:
        done = tree.mnlearn("study", "tiny")
    finally:
        subprocess.run(["umount", str(tree.results)], check=True)
    file = r"results/(logs/)?data/triples/\w+@\w+\."
    sentences = (
        rf"mnlearn: {file}npz: cannot be written: No space left on device\.",
        rf"failed with status 1, see {file}log: ",
    )
    for sentence in sentences:
        assert re.search(sentence, done.stderr), done.stderr
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("status", "shown"), [(0, False), (2, True), (130, False), (137, True)])
def test_the_last_line_of_the_log_of_a_failed_job_is_shown(tmp_path, status, shown):
    """As `mnlearn study` runs it, Snakemake says neither which job has failed nor why."""
    (tmp_path / "mnlearn").write_text(
        "#!/bin/sh\necho progress\necho 'mnlearn: a.csv: expected 0 or 1.' >&2\necho\n"
        f"exit {status}\n"
    )
    (tmp_path / "mnlearn").chmod(0o755)
    command = f"source {ROOT / 'workflow/jobs.sh'}; \n mnlearn score 'a b' &>a.log\n"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == status
    line = f"failed with status {status}, see a.log: a.csv: expected 0 or 1.\n"
    assert result.stderr == (line if shown else "")
