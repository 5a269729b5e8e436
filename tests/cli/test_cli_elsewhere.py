"""Commands on studies in a folder without a checkout, with the files that a wheel brings."""

import re
import sys
from pathlib import Path

import pytest

from command import numbers, refuse, succeed
from command import run as command
from mnlearn.runtime.errors import FullDiskError
from mnlearn_studies.plan.configuration import configuration
from mnlearn_studies.report.pages.study import summarise
from mnlearn_studies.running import run

ROOT = Path(__file__).parents[2]
MINIMAL = (ROOT / "workflow/studies/demo.yaml").read_text()


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """Go to an empty folder; return the folder of the files that the package brings."""
    packaged = tmp_path / "site/study_files"
    packaged.mkdir(parents=True)
    for name in ("workflow", "config.yaml", "docs"):
        (packaged / name).symlink_to(ROOT / name)
    # No checkout is above this file.
    code = tmp_path / "a/b/c/d/registry.py"
    monkeypatch.setattr("mnlearn_studies.datasets.registry.__file__", str(code))
    for module in ("datasets.registry", "study.folders"):
        monkeypatch.setattr(f"mnlearn_studies.{module}.PACKAGED", packaged)
    (tmp_path / "here/workflow/studies").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return packaged


def write_own(name, text=MINIMAL):
    Path(f"workflow/studies/{name}.yaml").write_text(text, encoding="utf-8")


def test_a_configuration_may_have_some_of_the_keys(packaged):
    assert configuration() == {
        "studies": ["dtsl"],
        "datasets": [],
        "seed": 20,
        "mirror": "",
        "recorded": False,
        "parts": 1,
        "local": {},
    }
    Path("config.yaml").write_text("local: {mine: {train: mine.csv}}\n", encoding="utf-8")
    Path("mine.csv").write_text("0,1\n", encoding="utf-8")
    assert configuration()["seed"] == 20
    rows = {row["name"]: row["state"] for row in numbers("datasets --json")["datasets"]}
    assert (rows["mine"], rows["nltcs"]) == ("own", "absent")
    Path("config.yaml").write_text("colour: 3\n", encoding="utf-8")
    refuse("study demo --stale", "config.yaml: no option 'colour'; expected one of studies")


def test_an_own_study_is_found_and_goes_before_one_of_the_package(packaged):
    write_own("mine")
    write_own("dtsl", MINIMAL.replace("title: ", "title: My "))
    assert "title: My " in succeed("study dtsl --show").stdout
    assert succeed("study mine --stale").output == "11 of 11 records are not made yet\n"
    lines = succeed("study mine --dry-run --cores 1 --verbose").stdout.splitlines()
    assert lines[0].split()[::2] == ["data", "jobs", "seconds"]
    assert re.match(r"about \d+ minutes of one processor on 3 datasets; ", lines[-1])
    refuse("study zzz", "study zzz: expected one of acmn, demo, ")
    refuse("study zzz", "lem, mine, seeds.")
    write_own("mine", "title: 3\n")
    refuse("study mine", "workflow/studies/mine.yaml, title: expected a text, got 3.")


@pytest.mark.parametrize("mode", ["", "--dry-run", "--stale", "--recorded"])
def test_every_mode_refuses_what_a_run_would_refuse(packaged, mode):
    def is_refused(old, new, *sentences):
        write_own("mine", MINIMAL.replace(old, new))
        for sentence in sentences:
            refuse(f"study mine {mode}", sentence)

    if mode != "--recorded":
        is_refused("datasets: [", "datasets: [lost, ", "dataset lost: expected one of nltcs, ")
    is_refused("kappa:", "kapa:", "study mine, dn_tree, grid: parameter kapa: expected one of ")
    is_refused("kind: compare", "kind: compar", "study mine, table ", "compar")
    write_own("mine")
    Path("config.yaml").write_text("local: {grid: {train: d.csv}}\n", encoding="utf-8")
    Path("d.csv").write_text("0,1\n", encoding="utf-8")
    refuse(f"study mine {mode}", "config.yaml, local.grid: grid is the name of a public dataset; ")


def test_a_study_without_records_has_no_tables(packaged):
    sentence = "demo/cells has no record; `mnlearn study demo` computes them."
    progress = refuse("study demo --recorded", sentence)
    assert progress == [f"results: {Path.cwd() / 'results' / 'demo'}"]
    assert not Path("results").exists()


def test_snakemake_is_told_where_the_files_are(packaged):
    def command():
        return run._snakemake_command("dtsl", ["nltcs"], ["--cores", "all"], None)

    start = [sys.executable, "-m", "snakemake", "--cores", "all"]
    snakefile = ["--snakefile", str(packaged / "workflow/Snakefile")]
    files = [str(packaged / "config.yaml")]
    config = ["--config", "studies=[dtsl]", 'datasets=["nltcs"]']
    assert command() == [*start, *snakefile, "--configfile", *files, *config]
    Path("config.yaml").write_text("seed: 3\n", encoding="utf-8")
    own = str(Path.cwd() / "config.yaml")
    assert command() == [*start, *snakefile, "--configfile", *files, own, *config]


def test_the_mirror_of_the_configuration_is_used(packaged, monkeypatch):
    Path("config.yaml").write_text("mirror: here\n", encoding="utf-8")
    asked = []
    monkeypatch.setattr(run, "run_snakemake", lambda *given, **more: 0)
    monkeypatch.setattr(run, "fetch_many", lambda names, to, mirror: asked.append(mirror) or {})
    succeed("study dtsl --datasets nltcs")
    succeed("study dtsl --datasets nltcs --mirror there")
    assert asked == ["here", "there"]


@pytest.mark.parametrize(("ended", "status"), [(0, 2), (130, 130), (1, 1)])
def test_a_run_without_all_datasets_keeps_the_status_of_snakemake(
    packaged, monkeypatch, ended, status
):
    monkeypatch.setattr(run, "run_snakemake", lambda *given, **more: ended)
    fault = "nltcs: cannot be had."
    monkeypatch.setattr(run, "_fetch_missing", lambda *given: {"nltcs": fault})
    result = command("study dtsl --datasets nltcs,msnbc")
    assert result.exit_code == status
    assert fault in result.output


def test_a_full_disk_ends_the_command(packaged, monkeypatch):
    def fill(names, folder, mirror):
        raise FullDiskError("a: cannot be written: No space left on device.")

    monkeypatch.setattr(run, "fetch_many", fill)
    monkeypatch.setattr(run, "run_snakemake", lambda *given, **more: pytest.fail("was run"))
    result = command("study dtsl --datasets nltcs")
    assert result.exit_code == 1
    assert "going on without" not in result.output


def test_snakemake_finds_the_files_of_a_checkout_by_itself(monkeypatch):
    monkeypatch.chdir(ROOT / "docs")
    command = run._snakemake_command("dtsl", [], ["--cores", "2"], "m")
    assert command[3:] == ["--cores", "2", "--config", "studies=[dtsl]", "mirror=m"]


@pytest.mark.parametrize(
    ("sacct", "options"),
    [
        ("exit 0", []),
        ("echo 'Slurm accounting storage is disabled' >&2; exit 1", ["squeue"]),
        (None, ["squeue"]),
    ],
)
def test_snakemake_asks_squeue_where_slurm_keeps_no_accounts(tmp_path, monkeypatch, sacct, options):
    if sacct is not None:
        (tmp_path / "sacct").write_text(f"#!/bin/sh\n{sacct}\n")
        (tmp_path / "sacct").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(run, "_SLURM_PLUGIN", "json")
    settings = run._snakemake_settings(None, "slurm")
    expected = ["--slurm-status-command", *options] if options else []
    assert settings == ["--workflow-profile", str(ROOT / "workflow/profiles/slurm"), *expected]


def test_profiles(packaged, monkeypatch):
    folder = ROOT / "workflow/profiles/local"
    assert run._snakemake_settings(None, None) == ["--cores", "all"]
    assert run._snakemake_settings(None, "local") == ["--workflow-profile", str(folder)]
    settings = run._snakemake_settings("3", str(folder))
    assert settings == ["--workflow-profile", str(folder), "--cores", "3"]
    refuse("study demo --profile zzz", "--profile zzz: expected default, local, slurm, or a folder")
    monkeypatch.setattr(run, "_SLURM_PLUGIN", "snakemake_executor_plugin_slurm_absent")
    monkeypatch.setitem(sys.modules["mnlearn.cli.commands"]._EXTRAS, run._SLURM_PLUGIN, "slurm")
    refuse("study demo --profile slurm", "install it with `pip install 'mnlearn[slurm]'`")


def test_pages_link_to_the_documentation_of_a_checkout_only():
    linked = summarise("dn_tree", ROOT / "docs")
    assert "[`dtsl`](../../docs/methods/dtsl.md)" in linked
    plain = summarise("dn_tree", ROOT / "docs", linked=False)
    assert "](" not in plain
    assert "`dtsl` takes its features" in " ".join(plain.split())
