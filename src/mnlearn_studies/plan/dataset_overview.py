"""All known datasets: their sizes, what of them is here, and what the methods will need on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn.data.dataset import load_npz
from mnlearn.data.own_files import SPLITS
from mnlearn_studies.datasets.registry import load_datasets, registry_path
from mnlearn_studies.plan.costs import Laws, costs_path, estimate_cost, load_laws
from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.folders import own_file

# The study whose methods `mnlearn datasets` shows.
SHOWN_STUDY = "dtsl"


def dataset_rows(
    folder: Path, local: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return one record per known dataset: sizes, state of its files, estimates per method.

    Parameters
    ----------
    folder : Path
        The data folder.
    local : mapping, optional
        A person's own datasets, as the configuration gives them. Their sizes are None until a study
        has prepared them, and they have no estimates.

    """
    workflow = registry_path().parent
    shown = (costs_path(), workflow / "studies" / f"{SHOWN_STUDY}.yaml")
    laws: Laws = {}
    study = None
    if all(path.exists() for path in shown):
        laws, study = load_laws(), load_study(shown[1])
    local = local or {}
    rows = []
    for name, entry in load_datasets().items():
        if name in local:
            continue
        n_rows = dict(zip(SPLITS, entry.rows, strict=True)) if entry.rows else {}
        rows.append(
            {
                "name": name,
                "label": entry.label,
                "n_vars": entry.n_vars,
                **{f"n_{split}": n_rows.get(split) for split in SPLITS},
                "state": entry.state(folder) if entry.files else entry.recipe,
                "estimates": {} if study is None else _estimates(laws, study, name),
            }
        )
    return rows + [_own_row(name, entry, folder) for name, entry in local.items()]


def _own_row(name: str, entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record of a person's own dataset."""
    files = [own_file(entry[split]) for split in SPLITS if split in entry]
    prepared = {split: folder / name / f"{split}.npz" for split in SPLITS}
    sizes: dict[str, int | None] = dict.fromkeys(("n_vars", *(f"n_{split}" for split in SPLITS)))
    if all(path.exists() for path in prepared.values()):
        for split, path in prepared.items():
            data = load_npz(path)
            # The weights of examples may sum to any number.
            sizes |= {"n_vars": data.n_vars, f"n_{split}": round(data.n_examples)}
    state = "own" if all(path.exists() for path in files) else "own, missing"
    return {"name": name, "label": name, **sizes, "state": state, "estimates": {}}


def _estimates(laws: Laws, study: Study, dataset: str) -> dict[str, dict[str, float]]:
    """Return the seconds and MiB of the methods of a study on a dataset, grid and scores."""
    found = {}
    for method in study.methods:
        costs = [
            estimate_cost(laws, study, method, dataset, f"{unit}_{step}")
            for unit in ("seconds", "mib")
            for step in ("learn", "score")
        ]
        values = [cost.usual for cost in costs if cost is not None]
        if len(values) == len(costs):
            seconds, mib = sum(values[:2]), max(values[2:])
            found[method] = {"seconds": round(seconds, 1), "mib": round(mib, 1)}
    return found


def dataset_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the records of `dataset_rows` as the lines of a table."""
    methods = list(rows[0]["estimates"]) if rows else []
    head = ["name", "label", "vars", "train", "valid", "test", "state"]
    body = []
    for row in rows:
        counts = [row[key] for key in ("n_vars", *(f"n_{split}" for split in SPLITS))]
        sizes = ["?" if count is None else f"{count:,}" for count in counts]
        costs = [
            f"{row['estimates'][m]['seconds']:,.0f} s, {row['estimates'][m]['mib']:,.0f} MiB"
            if m in row["estimates"]
            else ""
            for m in methods
        ]
        body.append([row["name"], row["label"], *sizes, row["state"], *costs])
    lines = [[*head, *methods], *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = []
    for line in lines:
        words = [
            word.rjust(width) if 2 <= k <= 5 or k > 6 else word.ljust(width)
            for k, (word, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(words).rstrip())
    if methods:
        note = "Estimates: one thread, whole grid and scores, from the recorded study"
        shown += ["", f"{note} {SHOWN_STUDY}."]
    return shown


def unavailable_line(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on the datasets among the records that cannot be had."""
    missing = [row["name"] for row in rows if row["state"] == "unavailable"]
    return (
        f"{', '.join(missing)}: no public copy was found; name your own files under local in "
        "config.yaml."
    )
