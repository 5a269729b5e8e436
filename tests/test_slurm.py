"""A study on a Slurm of one node: a job that needs more memory than it asked for, a controller that
is killed, and a node that dies."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from workflow import comparison

from workflow_tree import ROOT, TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.nightly, pytest.mark.long]

# One method, so that there are three jobs of the cluster: Slurm adds 17 processor seconds to each.
STUDY = {
    **TINY,
    "methods": {"atomic": {}},
    "tables": [{**TINY["tables"][0], "columns": TINY["tables"][0]["columns"][:1]}],
    "figures": [],
}
# Less than Snakemake and a job take together; twice as much is enough.
ESTIMATE = "return max(LEAST_MIB, SNAKEMAKE_MIB + math.ceil(cost.most))"
TOO_LITTLE = 'return 400 if record.kind == "models" else LEAST_MIB'
# Longer than Snakemake waits between two questions how jobs are.
OUTAGE_SECONDS = 100


@pytest.fixture
def slurm(tmp_path):
    """Start a Slurm, which is stopped at the end; return the folder with its files."""
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="Snakemake's plugin is missing")
    for name in ("sinfo", "slurmctld", "slurmd", "munged"):
        if shutil.which(name) is None:
            pytest.skip(
                f"{name} is missing: apt-get install --no-install-recommends slurm-wlm munge"
            )
    if os.geteuid() != 0:
        pytest.skip("only root may start the daemons of Slurm")
    if Path("/etc/slurm/slurm.conf").exists():
        pytest.skip("this machine has a Slurm already")
    command, folder = ROOT / ".ci/slurm", tmp_path / "slurm"
    try:
        subprocess.run([command, "start", folder], check=True)
        yield folder
    finally:
        subprocess.run([command, "stop", folder], check=True)


def jobs_of_rule(rule):
    """Return state, memory and number of the jobs of a rule, also of those that ended.

    While the controller does not answer there are none.
    """
    command = ["squeue", "--noheader", "--states=all", "--sort=i", "--format=%k %T %m %A"]
    said = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return [line.split()[1:] for line in said.splitlines() if line.startswith(f"rule_{rule}_")]


def wait_for(reached, what, run):
    """Wait until something is so while the study runs."""
    deadline = time.monotonic() + 1800
    while not reached():
        assert run.poll() is None, f"the run ended before: {what}"
        assert time.monotonic() < deadline, what
        time.sleep(1)


def runs(rule, memory=""):
    return any(s == "RUNNING" and m.startswith(memory) for s, m, _ in jobs_of_rule(rule))


def kill_daemon(folder, name):
    os.kill(int((folder / f"{name}.pid").read_text()), signal.SIGKILL)


def kill_node(folder, job):
    """Kill what a node runs: a job and the daemons, as when it loses its power."""
    kill_daemon(folder, "slurmd")
    processes = [*psutil.process_iter(["cmdline", "environ"])]
    # First those that would tell of the others.
    for process in processes:
        if " ".join(process.info["cmdline"] or ()).startswith(f"slurmstepd: [{job}."):
            process.kill()
    for process in processes:
        if (process.info["environ"] or {}).get("SLURM_JOB_ID") == job:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def test_a_study_ends_in_spite_of_too_little_memory_and_of_daemons_that_die(slurm, tmp_path):
    tree, local = (Tree(tmp_path / name, STUDY) for name in ("tree", "local"))
    tree.edit("src/mnlearn_studies/plan/resources.py", ESTIMATE, TOO_LITTLE)
    log = tree.results / "logs/tiny/run.log"
    run = subprocess.Popen(
        [sys.executable, "-m", "mnlearn", "study", "tiny", "--profile", "slurm"],
        cwd=tree.folder, env=tree.environment(), stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(lambda: runs("models", "800M"), "a job that failed asks for more", run)
        # Slurm writes down what it knows every few seconds.
        time.sleep(10)
        kill_daemon(slurm, "slurmctld")
        time.sleep(OUTAGE_SECONDS)
        subprocess.run(["slurmctld"], check=True)
        wait_for(lambda: runs("cells"), "the next job runs", run)
        ((_, memory, job),) = jobs_of_rule("cells")
        time.sleep(10)
        kill_node(slurm, job)
        wait_for(lambda: not runs("cells"), "the loss of the node is noticed", run)
        subprocess.run(["slurmd"], check=True)
        assert run.wait(1800) == 0, log.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    (first, *others) = jobs_of_rule("models")
    assert first[:2] == ["FAILED", "400M"]
    assert (
        f"[{first[2]}.batch] error: Exceeded job memory limit" in (slurm / "slurmd.log").read_text()
    )
    # A job that is just starting when the controller dies may fail, and doubles once more.
    assert [asked for _, asked, _ in others] == ["800M", "1600M"][: len(others)]
    assert others[-1][0] == jobs_of_rule("partitions")[-1][0] == "COMPLETED"
    # Slurm itself starts the job of a node that died again.
    assert jobs_of_rule("cells") == [["COMPLETED", memory, job]]
    local.study()
    made = [path for path in local.results.glob("tiny/**/*") if "@" in str(path) and path.is_file()]
    assert {path.suffix for path in made} == {".json", ".csv", ".npz"}
    for path in made:
        twin = tree.results / path.relative_to(local.results)
        if path.suffix == ".npz":
            assert twin.read_bytes() == path.read_bytes()
        else:
            found, expected = map(comparison.read_content, (twin, path))
            assert comparison.differences(expected, found) == []
    assert tree.scores() == local.scores()
