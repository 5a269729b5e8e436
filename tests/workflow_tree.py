"""A copy of the checkout with a tiny study, in which tests run the workflow."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

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
    "exports": {"dtsl": ["mn"]},
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
                {"name": "mn", "method": "dtsl", "quantity": "export_mn", "scientific": True},
            ],
        }
    ],
    "figures": [
        {
            "name": "beside",
            "kind": "scatter",
            "caption": "",
            "quantity": "PLL",
            "x": {"method": "atomic", "quantity": "pll", "head": "atomic"},
            "y": {"method": "dtsl", "quantity": "pll", "head": "DTSL"},
        }
    ],
    "claims": [],
}


class Tree:
    """A copy of the checkout with the study `tiny`, and Snakemake in it."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("workflow", "src", "profiles"):
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder / name)
        self.write_study(TINY)

    def write_study(self, study):
        path = self.folder / "workflow/studies/tiny.yaml"
        path.write_text(yaml.safe_dump(study, sort_keys=False))

    def environment(self):
        return self.environment_of(self.folder)

    @staticmethod
    def environment_of(folder):
        """Return the environment in which the code of a checkout is run."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PYTHONPATH": str(folder / "src"), "PATH": path}

    def command(self, *arguments, studies="[tiny]"):
        return [
            sys.executable, "-m", "snakemake", "--cores", "2",
            "--config", f"studies={studies}", "--", *arguments,
        ]  # fmt: skip

    def mnlearn(self, *arguments, **more):
        """Run the command `mnlearn` in the tree."""
        command = [sys.executable, "-m", "mnlearn.cli", *arguments]
        environment = {**self.environment(), **more}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def run(self, *arguments, studies="[tiny]", flags=()):
        command = self.command(*arguments, studies=studies)
        command[3:3] = flags
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def planned(self):
        """Jobs that a run would do, as rule: number."""
        return self.jobs_of(self.run(flags=["-n"]))

    @staticmethod
    def jobs_of(result):
        """Jobs that a run did or planned, as rule: number."""
        assert result.returncode == 0, result.stdout + result.stderr
        table = re.findall(r"^(\w+) +(\d+)$", result.stdout + result.stderr, re.MULTILINE)
        return {rule: int(n) for rule, n in table if rule not in ("total", "all")}

    def scores(self):
        """What does not depend on the clock or on memory."""
        lines = (self.folder / "results/tiny/scores.csv").read_text().splitlines()
        return [x for x in lines if not re.search(r",(seconds_|mean_seconds_|peak_)", x)]
