"""Take the costs in workflow/costs.tsv from recorded cells: `python workflow/costs.py`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from mnlearn.runtime.files import read_json, write_text
from mnlearn_studies.plan.resources import COLUMNS, QUANTITIES, growth, n_products
from mnlearn_studies.records.files import sum_seconds
from mnlearn_studies.study.definition import Study, load_study

ROOT = Path(__file__).parent.parent
# Times below this many seconds are taken for it: to start a job takes longer.
_SHORTEST = 1.0
# The most is this multiple of the largest recorded cost.
_RESERVE = 1.25


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
    """Return the studies of the record by name; what the demo took is of any machine."""
    studies = {path.stem: load_study(path) for path in sorted(root.glob("workflow/studies/*.yaml"))}
    return {name: study for name, study in studies.items() if study.content.get("listed", True)}


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


def fit_laws(costs: list[RecordedCost]) -> list[dict[str, Any]]:
    """Return the rows of the table: the usual and the largest cost for a million cells."""
    rows = []
    for learner in sorted({cost.learner for cost in costs}):
        for quantity in QUANTITIES:
            found = sorted(
                max(cost.value, _SHORTEST) / cost.n_points / growth(cost.dataset, quantity)
                for cost in costs
                if (cost.learner, cost.quantity) == (learner, quantity)
            )
            if found:
                usual, most = (f"{value:.4g}" for value in (median(found), _RESERVE * found[-1]))
                row = (learner, quantity, len(found), usual, most)
                rows.append(dict(zip(COLUMNS, row, strict=True)))
    return rows


def main() -> None:
    """Write the table."""
    rows = fit_laws(recorded_costs())
    lines = ["\t".join(COLUMNS), *("\t".join(map(str, row.values())) for row in rows)]
    write_text(ROOT / "workflow" / "costs.tsv", "\n".join(lines) + "\n")
    print(f"{len(rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
