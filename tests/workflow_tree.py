"""A copy of the checkout with a tiny study, in which tests run the workflow."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from mnlearn.runtime.files import read_json

ROOT = Path(__file__).parent.parent
TINY = {
    "title": "Tiny",
    "paper": "none",
    "datasets": ["triples"],
    "methods": {
        "atomic": {},
        "dtsl": {
            "cmll": "chosen",
            "cmll_exceptions": {"triples": "all"},
            "grid": {"kappa": [0.01, 1.0], "feature_mode": ["prune-5", "nonzero"], "sd": [1]},
        },
    },
    "cmll": {
        "groups": 4,
        "partitions": {"default": 2, "exceptions": {}},
        "inference": {"method": "gibbs", "burn_in": 10, "samples": 200},
    },
    "tables": [
        {
            "name": "scores",
            "kind": "compare",
            "caption": "Scores",
            "columns": [
                {"name": "atomic", "method": "atomic", "quantity": "pll"},
                {"name": "DTSL", "method": "dtsl", "quantity": "pll"},
            ],
        }
    ],
    "figures": [
        {
            "name": "beside",
            "kind": "scatter",
            "caption": "",
            "x": {"method": "atomic", "quantity": "pll", "head": "atomic"},
            "y": {"method": "dtsl", "quantity": "pll", "head": "DTSL"},
        }
    ],
    "claims": [],
}


# What Snakemake says if no job is left.
NOTHING = "Nothing to be done"


class Tree:
    """A copy of the checkout with the study `tiny`, in which its own code runs."""

    def __init__(self, folder, study=TINY):
        self.folder, self.results = folder, folder / "results"
        for name in ("workflow", "src"):
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in ("config.yaml", ".gitignore"):
            shutil.copy(ROOT / name, folder / name)
        self.write_study(study)

    @classmethod
    def at(cls, folder):
        """Return a tree that is there already."""
        tree = cls.__new__(cls)
        tree.folder, tree.results = folder, folder / "results"
        return tree

    def write_study(self, study):
        path = self.folder / "workflow/studies/tiny.yaml"
        path.write_text(yaml.safe_dump(study, sort_keys=False))

    def edit(self, name, old, new):
        """Replace a text, which must be there, in a file of the tree."""
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def environment(self, **more):
        """Return the environment in which the code of the tree runs."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        source = str(self.folder / "src")
        return {**os.environ, "PYTHONPATH": source, "PATH": path, **more}

    def run(self, *command, **more):
        """Run Python with some arguments in the tree."""
        return subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=self.environment(**more),
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def mnlearn(self, *arguments, **more):
        """Run the command `mnlearn`."""
        return self.run("-m", "mnlearn", *arguments, **more)

    def snakemake(self, *arguments, config=("studies=[tiny]",), targets=()):
        """Run Snakemake."""
        options = ("--cores", "2", *arguments, "--config", *config)
        return self.run("-m", "snakemake", *options, "--", *targets)

    def study(self, *arguments, **more):
        """Run the study; return the jobs that were done, as rule: number."""
        done = self.mnlearn("study", "tiny", *arguments, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return jobs_of((self.results / "logs/tiny/run.log").read_text())

    def planned(self, *arguments):
        """Return the jobs that a run would do, as rule: number."""
        return self.jobs(self.snakemake("-n", *arguments))

    @staticmethod
    def jobs(done):
        """Return the jobs of a call of Snakemake that succeeded, as rule: number."""
        assert done.returncode == 0, done.stdout + done.stderr
        return jobs_of(done.stdout + done.stderr)

    def files(self, kind, place="triples/[!.]*"):
        """Return the files of the records of a kind, whatever their recipes.

        A name that begins with a dot is that of a file that is being written.
        """
        return sorted((self.results / "tiny" / kind).glob(f"{place}@*"))

    def record(self, kind, name, dataset="triples"):
        """Return the content of a record, of which there is one version."""
        (path,) = self.files(kind, f"{dataset}/{name}")
        return read_json(path)

    def scores(self):
        """Return the lines of the scores that do not depend on the clock or on memory."""
        lines = (self.results / "tiny/scores.csv").read_text().splitlines()
        return [line for line in lines if not re.search(r",(seconds_|mean_seconds_|peak_)", line)]


def jobs_of(output):
    """Return the jobs of each rule that Snakemake did or would do, by its own table."""
    if NOTHING in output:
        return {}
    table = re.search(r"^Job stats:\n(.*?)^total ", output, re.MULTILINE | re.DOTALL)
    assert table, output
    counts = re.findall(r"^(\w+) +(\d+)$", table[1], re.MULTILINE)
    return {rule: int(n) for rule, n in counts if rule != "all"}
