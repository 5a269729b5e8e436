"""The jobs that a plan of the workflow shows, and what their commands write, in this process.

The study has what those of other tests lack: query curves, divergences and an appendix.
"""

import re
import shlex

import pytest

from command import succeed
from mnlearn.runtime.files import read_json
from mnlearn_studies.plan.configuration import plan_of
from mnlearn_studies.records.gather import read_scores
from workflow_tree import TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("rules")]

QUERIED = {
    **TINY,
    "methods": {
        "chow_liu": {},
        "smooth": {"learner": "chow_liu", "grid": {"pseudocount": [2.0, 5.0]}},
    },
    "exports": {},
    "tables": [],
    "figures": [],
    "paired": [["smooth", "chow_liu"]],
    "divergences": [["chow_liu", "smooth"]],
    "appendix": ["smooth"],
    "queries": {
        "examples": 6,
        "percentages": [50, 90],
        "methods": ["smooth", "chow_liu"],
        # A method that this study does not have.
        "sampled": {"study": "demo", "methods": ["atomic"], "examples": 4, "beliefs": True},
    },
}
SEED = "7"
# The rules that make records and the appendix, each after those whose files it reads.
ORDER = (
    *("prepare", "partition", "tune", "queries", "query_curve", "divergence", "score", "pair"),
    *("gather", "appendix"),
)


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A tree, and the inputs and the words of the command of each job that a run of it would do."""
    tree = Tree(tmp_path_factory.mktemp("commands"))
    tree.write_study(QUERIED)
    config = (tree.folder / "config.yaml").read_text("utf-8")
    (tree.folder / "config.yaml").write_text(re.sub("seed: 20", f"seed: {SEED}", config), "utf-8")
    result = tree.run(flags=["-n", "-p"])
    assert result.returncode == 0, result.stderr
    shown = r"^rule (\w+):\n    input: (.*?)\n    output: (.*?)\n.*?^Shell command:(.*?)\n\n"
    jobs = {rule: [] for rule in ORDER}
    for rule, given, made, command in re.findall(
        shown, result.stdout + result.stderr, re.MULTILINE | re.DOTALL
    ):
        words = shlex.split(command.partition("&>")[0].replace("\\\n", ""))
        jobs.setdefault(rule, []).append((given.split(", "), made.split(", "), words))
    return tree, jobs


def files(jobs, rule):
    """Return what the jobs of a rule read beside their orders, by the file that each makes."""
    return {
        made[0]: [path.removeprefix("results/") for path in given if "/orders/" not in path]
        for given, made, _ in jobs[rule]
    }


def test_a_plan_has_the_jobs_of_curves_divergences_and_the_appendix(planned):
    _, jobs = planned
    curves = files(jobs, "query_curve")
    also = ["tiny/queries/triples.npz", "data/triples/test.npz"]
    assert curves == {
        f"results/tiny/curves/triples/{method}.json": [f"{study}/models/triples/{method}", *also]
        for study, method in (("tiny", "smooth"), ("tiny", "chow_liu"), ("demo", "atomic"))
    }
    assert files(jobs, "divergence") == {
        "results/tiny/divergences/triples/chow_liu-smooth.json": [
            "tiny/models/triples/chow_liu",
            "tiny/models/triples/smooth",
        ]
    }
    assert files(jobs, "appendix") == {
        "results/tiny/appendix/smooth.html": ["tiny/scores.csv", "tiny/tuning/triples/smooth.csv"]
    }
    made = [made[0] for rule in ("query_curve", "divergence", "pair") for _, made, _ in jobs[rule]]
    for rule in ("gather", "study_page"):
        ((given, *_),) = jobs[rule]
        assert set(made) <= set(given)
    words = [words for of_rule in jobs.values() for *_, words in of_rule]
    assert {each[each.index("--seed") + 1] for each in words if "--seed" in each} == {SEED}


def test_the_commands_of_a_plan_make_its_records(planned, monkeypatch):
    tree, jobs = planned
    monkeypatch.chdir(tree.folder)
    for rule in ORDER:
        assert jobs[rule], rule
        for _, made, (program, *words) in jobs[rule]:
            assert program == "mnlearn"
            succeed("", *words)
            assert all((tree.folder / path).exists() for path in made)
    plan = plan_of("tiny", [])
    for kind in ("cells", "curves", "divergences", "paired"):
        records = plan.records("tiny", kind)
        assert len(records) == {"cells": 2, "curves": 3}.get(kind, 1)
        assert {record: plan.stale(record) for record in records if plan.stale(record)} == {}
    results = tree.folder / "results/tiny"
    check_curves(results / "curves/triples")
    check_two_methods(jobs)
    found = set(read_scores(results / "scores.csv")[["method", "quantity"]].itertuples(index=False))
    shown = ("smooth", "cll_q90"), ("atomic", "cmll_beliefs_q50"), ("chow_liu", "kl_to_smooth")
    assert {*shown, ("smooth", "pll_less_chow_liu")} <= found
    page = (results / "appendix/smooth.html").read_text("utf-8")
    assert all(f"<td>{count}</td>" in page for count in (2, 5))
    assert "<h2>Chosen models</h2>" in page


def check_curves(folder):
    """Circuits answer all queries exactly; the model of the other study a part, in two ways."""
    for method, exact in (("smooth", True), ("chow_liu", True), ("atomic", False)):
        curve = read_json(folder / f"{method}.json")
        assert [point["percentage"] for point in curve["points"]] == [50, 90]
        assert curve["n_queries"] == (6 if exact else 4)
        assert all(("cll_sampled" in point) == exact for point in curve["points"])
        assert all(("cmll_beliefs" in point) == (not exact) for point in curve["points"])
        if not exact:
            settings = TINY["cmll"]["inference"]
            assert {key: curve["inference"][key] for key in settings} == settings


def check_two_methods(jobs):
    """The files of two methods that are compared are those of their names."""
    for rule in ("divergence", "pair"):
        ((_, _, words),) = jobs[rule]
        for option in ("--first", "--second"):
            name, path = words[words.index(option) + 1 :][:2]
            assert name in re.split(r"[/.]", path)
