"""The rules of the workflow as text and as plans: quoting, hostile names, lint."""

import json
import os
import re
import subprocess
import sys

import pytest

from daily import first_daily
from mnlearn.data.dataset import load_npz
from mnlearn.runtime.code_digest import reached
from mnlearn.runtime.yaml_files import read_yaml
from mnlearn_studies.study.folders import config_files, run_folder
from workflow_tree import ROOT, TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("rules")]

# If a shell runs one of these names, a file appears in the folder of the run.
HOSTILE = ["a`touch hit`", "$(touch hit)", "a;touch hit", "a'\"|touch hit", "../hit", "a b", "-a"]
# Answered in a comment of the Snakefile.
ANSWERED = {"Specify a conda environment or container for each rule."}


def rules():
    """Return the text of each rule by name."""
    found = {}
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        found |= dict(re.findall(r"\nrule (\w+):\n(.*?)(?=\n\n\n|\Z)", path.read_text(), re.DOTALL))
    return found


def test_every_value_in_a_command_is_quoted():
    commands = {name: text.partition("    shell:\n")[2] for name, text in rules().items()}
    assert len(commands) >= 15
    for name, command in commands.items():
        values = re.findall(r"\{.*?\}", command)
        assert values, name
        assert [value for value in values if not value.endswith(":q}")] == [], name


def test_functions_of_rules_have_names():
    for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]:
        assert "lambda" not in path.read_text(), path


def test_lint_gives_no_advice_that_is_not_answered():
    command = [sys.executable, "-m", "snakemake", "--lint"]
    environment = Tree.environment_of(ROOT)
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    titles = set(re.findall(r"^    \* (.+):$", result.stdout + result.stderr, re.MULTILINE))
    assert titles == ANSWERED, result.stderr
    comments = (ROOT / "Snakefile").read_text()
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


def test_tables_and_figures_do_not_depend_on_each_other():
    """Nor on claims. Claims are shown as a table, so they depend on the rendering of tables."""
    roots = {
        "report.tables": "report.study_products.write_study_tables",
        "report.figures": "report.study_products.write_study_figures",
    }
    for own, root in roots.items():
        packages = {".".join(module.split(".")[:2]) for module, _ in reached(root)}
        assert own in packages
        assert packages.isdisjoint({"report.claims", *roots} - {own})


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return Tree(tmp_path_factory.mktemp("hostile"))


def refused(tree, *config, study=None):
    """Check that planning ends with one message, without a traceback and with nothing run."""
    if study is not None:
        tree.write_study(study)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--config", *config]
    result = subprocess.run(
        command, cwd=tree.folder, env=tree.environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    shown = result.stdout + result.stderr
    assert result.returncode != 0
    assert "Traceback" not in shown
    assert not list(tree.folder.parent.rglob("hit"))
    assert not (tree.folder / "results/tiny").exists()
    return shown


@pytest.mark.parametrize("kind", first_daily("label", "study", "dataset", "local", "column"))
def test_hostile_names_end_the_planning(tree, kind):
    """One of each kind; tests/study/test_definition.py has all places in a study and all names."""
    name = HOSTILE[0]
    if kind == "study":
        (tree.folder / "workflow/studies" / f"{name}.yaml").write_text(
            (tree.folder / "workflow/studies/tiny.yaml").read_text()
        )
        shown = refused(tree, f"studies={json.dumps([name])}")
    elif kind == "dataset":
        shown = refused(tree, "studies=[tiny]", f"datasets={json.dumps([name])}")
    elif kind == "local":
        shown = refused(tree, "studies=[tiny]", f"local={json.dumps({name: {'train': 'x.csv'}})}")
    elif kind == "label":
        study = {**TINY, "methods": {**TINY["methods"], name: {"learner": "atomic"}}}
        shown = refused(tree, "studies=[tiny]", study=study)
    else:
        table = {**TINY["tables"][0], "name": name}
        shown = refused(tree, "studies=[tiny]", study={**TINY, "tables": [table]})
    assert name in shown


@pytest.mark.parametrize("parts", first_daily("$(touch hit)", "0", "1.5", "[2]", "1001"))
def test_numbers_of_parts_that_there_are_not(tree, parts):
    shown = refused(tree, "studies=[tiny]", f"parts={parts}")
    assert "instance['parts']" in shown


@pytest.mark.nightly
def test_jobs_that_share_out_learning(tmp_path):
    """The same bytes as from one job; the files of the parts are gone."""
    trees = [Tree(tmp_path / name) for name in ("one", "three")]
    shared = trees[1].folder / "config.yaml"
    shared.write_text(shared.read_text().replace("parts: 1 ", "parts: 3 "))
    found = []
    for tree, n_parts in zip(trees, (0, 5), strict=True):
        folder = "results/tiny/models/triples/dtsl"
        jobs = tree.jobs_of(tree.run(folder))
        assert jobs.get("tune_part", 0) == n_parts
        assert jobs["tune"] == 1
        models = sorted((tree.folder / folder).glob("*.npz"))
        found.append({path.name: path.read_bytes() for path in models})
        assert not list(tree.folder.glob("results/tiny/parts/triples/dtsl/*"))
        assert tree.jobs_of(tree.run(folder)) == {}
    assert found[0] == found[1]
    assert len(found[0]) == 3


@pytest.mark.nightly
def test_a_study_may_have_sub_samples(tmp_path):
    tree = Tree(tmp_path)
    tree.write_study({**TINY, "datasets": ["grid-n60-f1", "mine-n5-f0"]})
    (tree.folder / "mine.csv").write_text("a=x,a=y,b\n" + "1,0,0\n0,1,1\n" * 20)
    (tree.folder / "config.yaml").write_text(
        (tree.folder / "config.yaml")
        .read_text()
        .replace("local: {}", "local: {mine: {train: mine.csv, groups: names}}")
    )
    wanted = [f"results/data/{name}/train.npz" for name in ("grid-n60-f1", "mine-n5-f0")]
    result = tree.run(*wanted)
    assert result.returncode == 0, result.stderr
    grid, mine = (load_npz(tree.folder / path) for path in wanted)
    assert (grid.n_examples, mine.n_examples, mine.groups) == (60, 5, ((0, 1),))
    assert tree.planned()["tune"] == 4


@pytest.mark.nightly
def test_hostile_files_and_columns_go_through_the_whole_workflow(tmp_path):
    """A local file may have any path, and its columns any name; neither reaches a shell."""
    tree = Tree(tmp_path / "a tree; touch hit")
    folder = tree.folder / "my $(touch hit) `touch hit`"
    folder.mkdir()
    path = folder / 'it\'s "data"; touch hit.csv'
    columns = ["a`touch hit`", "$(touch hit)", "b,c;touch hit", 'd"e', "<script>", "\\input{hit}"]
    quoted = ",".join('"' + column.replace('"', '""') + '"' for column in columns)
    lines = [quoted, *(",".join(str((k >> v) % 2) for v in range(6)) for k in range(64))]
    path.write_text("\n".join(lines) + "\n")
    captions = dict.fromkeys(("title", "paper"), "`touch hit` $(touch hit) {wildcards.study}")
    table = {**TINY["tables"][0], "caption": "$(touch hit) {input}", "columns": [
        {"name": "a`touch hit`", "head": "$(touch hit)", "method": "atomic", "quantity": "pll"},
    ]}  # fmt: skip
    tree.write_study({
        **TINY, **captions, "datasets": ["mine"], "methods": {"atomic": {}}, "exports": {},
        "tables": [table], "figures": [],
    })  # fmt: skip
    local = {"mine": {"train": str(path.relative_to(tree.folder))}}
    config = (tree.folder / "config.yaml").read_text()
    assert "local: {}" in config
    (tree.folder / "config.yaml").write_text(
        re.sub(r"local: \{\}", lambda _: f"local: {json.dumps(local)}", config)
    )
    result = tree.run()
    assert result.returncode == 0, result.stdout + result.stderr
    assert not list(tmp_path.rglob("hit"))
    assert (tree.folder / "results/tiny/tables/scores.md").exists()
    cell = json.loads((tree.folder / "results/tiny/cells/mine/atomic.json").read_text())
    assert cell["n_vars"] == 6


@pytest.mark.nightly
def test_a_full_disk_is_said_in_the_output_of_snakemake(tmp_path):
    """All files of a job fit no byte, its log included, as on a disk that is full."""
    tree = Tree(tmp_path / "tree")
    (tmp_path / "full").write_text("ulimit -f 0\n")
    result = tree.mnlearn("study", "tiny", "--no-report", BASH_ENV=str(tmp_path / "full"))
    sentence = r"mnlearn: results/data/triples/\w+\.npz: cannot be written: File too large\."
    assert re.search(sentence, result.stderr), result.stderr
    assert "failed with status 1, see results/logs/prepare/triples.log: \n" in result.stderr
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


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
