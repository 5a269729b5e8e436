"""The workflow as a module of another one, deployed from git, and with results in a storage."""

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml

from workflow_tree import NOTHING, TINY, Tree, jobs_of

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("elsewhere")]

# Both shown kinds of products, and a method whose grid has variants.
STUDY = {**TINY, "methods": {"dtsl": {**TINY["methods"]["dtsl"], "cmll_exceptions": {}}}}
STUDY["methods"]["dtsl"]["grid"] = {"kappa": [1.0], "feature_mode": ["prune-5"], "sd": [1]}
STUDY["tables"] = [{**TINY["tables"][0], "columns": TINY["tables"][0]["columns"][1:]}]
STUDY["figures"] = [{**TINY["figures"][0], "x": TINY["figures"][0]["y"]}]
WHOLE = {"data": 1, "partitions": 1, "models": 1, "cells": 1, "products_tiny": 1}
PAGE, MODEL = "tiny/index.html", "tiny/models/triples/*/chosen.npz"

AS_MODULE = """
module mnlearn:
    snakefile: gitfile({repository!r}, path="workflow/Snakefile", ref="HEAD")
    prefix: "mine/own"
    config: {config!r}

use rule * from mnlearn as ours_*

rule whole:
    default_target: True
    input: rules.ours_all.input
    output: "pages.txt"
    shell: "ls mine/own/results/*/index.html > {{output}}"
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A tree in git, as a server has it."""
    tree = Tree(tmp_path_factory.mktemp("elsewhere") / "tree", STUDY)
    # `snakedeploy` copies these two folders.
    (tree.folder / "config").mkdir()
    shutil.copy(tree.folder / "config.yaml", tree.folder / "config")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "made"],
    ):
        subprocess.run(["git", "-C", str(tree.folder), *command], check=True)
    return tree


def snakemake(tree, folder, *options):
    """Run Snakemake in a folder with the package of a tree; return all that it says."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *options]
    done = subprocess.run(
        command, cwd=folder, env=tree.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def use_as_module(tree, folder, **config):
    folder.mkdir()
    text = AS_MODULE.format(
        repository=str(tree.folder), config={"studies": ["tiny"], "datasets": [], **config}
    )
    (folder / "Snakefile").write_text(text)


def test_jobs_of_a_module_are_told_of_files_as_snakemake_names_them(repository, tmp_path):
    """The prefix stands before all results; own data stay where the configuration names them."""
    folder = tmp_path / "here"
    use_as_module(repository, folder, local={"own": {"train": "own.csv"}}, datasets=["own"])
    (folder / "own.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n0,0\n" * 10)
    said = snakemake(repository, folder, "--dry-run", "--printshellcmds")
    shown = r"^(?:local)?rule ours_(\w+):\n(.*?)\nShell command: (.*?) &>(\S+)"
    jobs = re.findall(shown, said, re.MULTILINE | re.DOTALL)
    assert {rule for rule, *_ in jobs} == set(WHOLE)
    for rule, fields, command, log in jobs:
        named = dict(re.findall(r"^    (\w+): (.*)$", fields, re.MULTILINE))
        made = named["output"].replace(" (update)", "").split(", ")
        assert all(path.startswith("mine/own/results/") for path in [*made, log])
        words = shlex.split(command)
        if rule == "products_tiny":
            assert words[words.index("--out") + 1] in made
            continue
        job = json.loads(words[words.index("record") + 1])
        assert list(job["outputs"].values()) == made
        given = [[each] if isinstance(each, str) else each for each in job["inputs"].values()]
        assert ", ".join(path for paths in given for path in paths) == named["input"]
        assert job["given"].get("checkpoints", "mine/own/results/checkpoints").startswith("mine/")
        if rule == "data":
            assert named["input"] == "own.csv"


@pytest.mark.nightly
def test_a_module_runs_and_then_has_nothing_to_do(repository, tmp_path):
    folder = tmp_path / "here"
    use_as_module(repository, folder)
    snakemake(repository, folder)
    assert (folder / "pages.txt").read_text() == f"mine/own/results/{PAGE}\n"
    left = sorted(path.name for path in folder.iterdir())
    assert left == [".snakemake", "Snakefile", "mine", "pages.txt"]
    # As the shipped profile says: names of files have the digest of what they are made by.
    assert NOTHING in snakemake(repository, folder, "--rerun-triggers", "mtime")


@pytest.mark.nightly
def test_a_deployed_workflow_runs(repository, tmp_path):
    """It has its configuration in a folder, and takes the rules from git."""
    pytest.importorskip("snakedeploy", reason="snakedeploy is not installed")
    from snakedeploy.deploy import deploy

    folder = tmp_path / "deployed"
    deploy(str(repository.folder), "ours", tag=None, branch="HEAD", dest_path=folder)
    # Of a folder it names the file there; of a forge it writes such a line as this one.
    path, source = folder / "workflow/Snakefile", str(repository.folder)
    text = path.read_text().replace(
        '"workflow/Snakefile"', f'gitfile({source!r}, path="workflow/Snakefile", ref="HEAD")'
    )
    path.write_text(text)
    settings = yaml.safe_load((folder / "config/config.yaml").read_text())
    (folder / "config/config.yaml").write_text(yaml.safe_dump({**settings, "studies": ["tiny"]}))
    said = snakemake(repository, folder)
    assert {rule: n for rule, n in jobs_of(said).items() if rule in WHOLE} == WHOLE
    assert (folder / "results" / PAGE).exists()
    stale = subprocess.run(
        [sys.executable, "-m", "mnlearn", "study", "tiny", "--stale"], cwd=folder,
        env=repository.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert stale.stdout == ""
    assert not repository.results.exists()


def run_with_storage(tree, provider, prefix, names):
    """Run the study with its results in a storage, and then again, which does nothing.

    names : returns the names of all that the storage has.
    """
    options = (
        *("--shared-fs-usage", "none", "--default-storage-provider", provider),
        *("--default-storage-prefix", str(prefix), "--config", "studies=[tiny]"),
    )
    said = snakemake(tree, tree.folder, *options)
    assert {rule: n for rule, n in jobs_of(said).items() if rule in WHOLE} == WHOLE
    assert NOTHING in snakemake(tree, tree.folder, *options)
    assert not tree.results.exists()
    stored = names()
    for pattern in (PAGE, MODEL, "tiny/cells/triples/*.json", "tiny/figures/beside.png"):
        assert fnmatch.filter(stored, f"results/{pattern}")


@pytest.mark.nightly
def test_results_in_a_storage_are_those_of_a_disk(repository, tmp_path):
    """No folder is shared: what a job reads and leaves goes through the storage."""
    pytest.importorskip("snakemake_storage_plugin_fs", reason="its plugin is not installed")
    if shutil.which("rsync") is None:
        pytest.skip("the plugin needs rsync")
    store = tmp_path / "store"
    names = lambda: [str(path.relative_to(store)) for path in store.rglob("*")]  # noqa: E731
    run_with_storage(repository, "fs", store, names)


@pytest.mark.nightly
def test_results_in_s3_are_those_of_a_disk(repository, monkeypatch):
    """The same with a server of S3, on this machine."""
    pytest.importorskip("snakemake_storage_plugin_s3", reason="its plugin is not installed")
    pytest.importorskip("flask_cors", reason="moto[server] is not installed")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        settings = {
            "endpoint_url": "http://{}:{}".format(*server.get_host_and_port()),
            "access_key": "any",
            "secret_key": "any",
            "region": "us-east-1",
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"SNAKEMAKE_STORAGE_S3_{name.upper()}", value)
        bucket = boto3.resource(
            "s3", "us-east-1", endpoint_url=settings["endpoint_url"],
            aws_access_key_id="any", aws_secret_access_key="any",
        ).create_bucket(Bucket="ours")  # fmt: skip
        names = lambda: [each.key for each in bucket.objects.all()]  # noqa: E731
        run_with_storage(repository, "s3", "s3://ours", names)
    finally:
        server.stop()
