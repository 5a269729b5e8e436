"""Fit the laws in workflow/costs.tsv to the costs of recorded cells: `python workflow/costs.py`.

A law is fitted to the logarithms of recorded costs by least squares. A small penalty draws the
powers of a method to those of its learner, and those of a learner to powers that hold for most.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mnlearn.runtime.files import read_json, write_text
from mnlearn_studies.plan.costs import COLUMNS, QUANTITIES, Law, dataset_size, n_products
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.study.definition import Study, load_study

ROOT = Path(__file__).parent.parent
# Powers of examples, variables and density that are assumed where little is recorded.
_TIME_POWERS = (1.0, 1.5, 0.5)
_MEMORY_POWERS = (0.0, 0.3, 0.0)
_PENALTY = 0.1
# Times below this many seconds are taken for it: to start a job takes longer.
_SHORTEST = 1.0
# A limit is this multiple of the largest recorded cost relative to the law, and at least twice it.
_RESERVE = 1.25
_MARGIN = 2.0


class RecordedCost(NamedTuple):
    """One recorded cost, in total: seconds or MiB. n_points : of the grid that was searched."""

    study: str
    method: str
    learner: str
    dataset: str
    quantity: str
    value: float
    n_points: int = 1


def load_all_studies(root: Path = ROOT) -> dict[str, Study]:
    """Return all studies of the checkout by name."""
    return {path.stem: load_study(path) for path in sorted(root.glob("workflow/studies/*.yaml"))}


def recorded_costs() -> list[RecordedCost]:
    """Return the costs of all records of methods that their study still has."""
    studies = load_all_studies()
    costs = []
    for kind, read in (("cells", _of_cell), ("times", _of_time), ("curves", _of_curve)):
        for path in sorted(ROOT.glob(f"results/*/{kind}/*/*.json")):
            record, study = read_json(path), studies.get(path.parts[-4])
            # A record of times is of several methods.
            for method, of_method in record.get("methods", {record.get("method"): record}).items():
                owner = study
                if study is not None and method not in study.methods:
                    owner = _sampled(study, studies)
                if owner is None or method not in owner.methods:
                    continue
                head = (path.parts[-4], method, owner.learner(method), record["dataset"])
                costs += [RecordedCost(*head, *cost) for cost in read(of_method, owner)]
    return costs


def _sampled(study: Study, studies: dict[str, Study]) -> Study | None:
    """Return the study whose models a study queries by sampling."""
    sampled = study.content.get("queries", {}).get("sampled")
    return studies[sampled["study"]] if sampled else None


def _of_cell(record: dict[str, Any], study: Study) -> Iterator[tuple[Any, ...]]:
    # The oldest records do not say by which grid they were learned.
    grid = record.get("learned_from", {}).get("grid")
    if grid is None:
        grid = study.grid(record["method"], record["dataset"])
    yield "seconds_learn", record["seconds_tuning"], n_products(grid)
    yield "seconds_score", sum_seconds([record])[1]
    yield "mib_learn", record["peak_memory_mib_learn"]
    yield "mib_score", record["peak_memory_mib_score"]


def _of_time(record: dict[str, Any], _study: Study) -> Iterator[tuple[Any, ...]]:
    # Older records have the fastest of their runs.
    runs = record["runs"] if "runs" in record else [record["seconds"]] * record["n_runs"]
    yield "seconds_time", sum(sum(run.values()) for run in runs)


def _of_curve(record: dict[str, Any], _study: Study) -> Iterator[tuple[Any, ...]]:
    seconds = 0.0
    for point in record["points"]:
        each = point["seconds_per_query"] + point.get("seconds_beliefs_per_query", 0.0)
        single = point.get("seconds_single_per_query", 0.0) * record.get("n_queries_single", 0)
        seconds += each * record["n_queries"] + single
    yield "seconds_curve", seconds


def fit_law(costs: list[RecordedCost], powers: tuple[float, float, float]) -> Law:
    """Return the law of costs of one quantity, drawn to given powers."""
    x = np.array([[1.0, *dataset_size(cost.dataset).logarithms] for cost in costs])
    y = np.log([max(cost.value / cost.n_points, _SHORTEST / cost.n_points) for cost in costs])
    prior = np.array([0.0, *powers])
    penalty = np.diag([1e-9, _PENALTY, _PENALTY, _PENALTY])
    found = prior + np.linalg.solve(x.T @ x + penalty, x.T @ (y - x @ prior))
    margin = max(_MARGIN, _RESERVE * float(np.exp((y - x @ found).max())))
    constant, examples, variables, density = (round(float(value), 3) for value in found)
    return Law(constant, examples, variables, density, math.ceil(10 * margin) / 10)


def fit_laws(costs: list[RecordedCost]) -> list[dict[str, Any]]:
    """Return the rows of the table: of each learner and quantity, then of its methods."""
    rows = []
    for learner in sorted({cost.learner for cost in costs}):
        for quantity in QUANTITIES:
            own = [cost for cost in costs if (cost.learner, cost.quantity) == (learner, quantity)]
            if not own:
                continue
            prior = _MEMORY_POWERS if quantity.startswith("mib") else _TIME_POWERS
            law = fit_law(own, prior)
            rows.append(_row(("", "", learner, quantity, len(own)), law))
            powers = (law.examples, law.variables, law.density)
            for study, method in sorted({(cost.study, cost.method) for cost in own}):
                some = [cost for cost in own if (cost.study, cost.method) == (study, method)]
                fitted = fit_law(some, powers)
                rows.append(_row((study, method, learner, quantity, len(some)), fitted))
    return rows


def _row(names: tuple[str, str, str, str, int], law: Law) -> dict[str, Any]:
    powers = (law.constant, law.examples, law.variables, law.density, law.margin)
    return dict(zip(COLUMNS, (*names, *powers), strict=True))


def main() -> None:
    """Write the table."""
    rows = fit_laws(recorded_costs())
    lines = ["\t".join(COLUMNS), *("\t".join(map(str, row.values())) for row in rows)]
    write_text(ROOT / "workflow" / "costs.tsv", "\n".join(lines) + "\n")
    print(f"{len(rows)} laws", file=sys.stderr)


if __name__ == "__main__":
    main()
