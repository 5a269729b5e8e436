"""A study: one paper's datasets, methods, grids, metrics, tables, figures and claims."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn.methods import learner_names
from mnlearn.runtime.errors import InputError
from mnlearn.study.schemas import load_checked


@dataclass(frozen=True)
class Study:
    """The content of `workflow/studies/<name>.yaml`, checked against its schema."""

    name: str
    content: dict[str, Any]

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets, in the order of the paper."""
        return list(self.content["datasets"])

    @property
    def methods(self) -> list[str]:
        """Labels of the methods, in the order of the tables."""
        return list(self.content["methods"])

    def methods_on(self, dataset: str) -> list[str]:
        """Return the labels of the methods that are learned on a dataset."""
        entries = self.content["methods"].items()
        return [name for name, entry in entries if dataset in entry.get("datasets", [dataset])]

    def learner(self, method: str) -> str:
        """Return the learner behind a method label: its own name unless the study says other."""
        return str(self.content["methods"][method].get("learner", method))

    def network(self, method: str) -> str | None:
        """Return the label of the dependency network that a method builds on, or None."""
        label = self.content["methods"][method].get("network")
        return None if label is None else str(label)

    def cmll_of(self, method: str, dataset: str) -> str:
        """Return of which models of a method CMLL is computed: all, chosen or none."""
        entry = self.content["methods"][method]
        default = entry.get("cmll", "all")
        return str(entry.get("cmll_exceptions", {}).get(dataset, default))

    def grid(self, method: str, dataset: str) -> dict[str, list[Any]]:
        """Return the values to try for each parameter of a method on a dataset."""
        entry = self.content["methods"][method]
        exceptions = entry.get("exceptions", {}).get(dataset, {})
        return {**entry.get("grid", {}), **exceptions}

    def tuning_cmll(self, method: str, dataset: str) -> dict[str, Any]:
        """Return how validation CMLL is computed if a cell is tuned by it, else nothing."""
        if self.content["methods"][method].get("criterion", "pll") == "pll":
            return {}
        cmll = self.content["cmll"]
        settings = cmll.get("tuning", cmll["inference"])
        settings = cmll.get("tuning_exceptions", {}).get(dataset, settings)
        return {"groups": cmll["groups"], **settings}

    def n_partitions(self, dataset: str) -> int:
        """Return over how many partitions of the variables CMLL is reported."""
        partitions = self.content["cmll"]["partitions"]
        return int(partitions["exceptions"].get(dataset, partitions["default"]))

    def inference(self, dataset: str) -> dict[str, Any]:
        """Return how conditional marginals are computed on a dataset."""
        settings = dict(self.content["cmll"]["inference"])
        settings.update(self.content["cmll"].get("exceptions", {}).get(dataset, {}))
        return settings

    def further_inference(self, method: str, dataset: str) -> dict[str, dict[str, Any]]:
        """Return the other ways in which the chosen model of a cell is given a CMLL, by name."""
        return {
            name: dict(entry["inference"])
            for name, entry in self.content["cmll"].get("also", {}).items()
            if method in entry["methods"] and dataset in entry["datasets"]
        }


def load_study(path: Path | str) -> Study:
    """Read a study and check it.

    Raises
    ------
    InputError
        The file is missing, not YAML, or does not fit `workflow/schemas/study.schema.yaml`; or a
        method has an unknown learner or network.
    """
    path = Path(path)
    content = load_checked(path, path.parent.parent / "schemas" / "study.schema.yaml")
    study = Study(path.stem, content)
    for method in study.methods:
        if study.learner(method) not in learner_names():
            known = ", ".join(learner_names())
            raise InputError(
                f"{path}, methods.{method}: expected learner to be one of {known}, "
                f"got {study.learner(method)!r}."
            )
        network = study.network(method)
        if network is not None and (network == method or network not in study.methods):
            raise InputError(
                f"{path}, methods.{method}.network: expected another method of this study, "
                f"got {network!r}."
            )
    return study


def load_studies(names: Iterable[str], workflow: Path) -> dict[str, Study]:
    """Read studies, and after them those whose models they query, by name."""
    studies = {name: load_study(study_path(name, workflow)) for name in names}
    for study in list(studies.values()):
        sampled = study.content.get("queries", {}).get("sampled")
        if sampled and sampled["study"] not in studies:
            studies[sampled["study"]] = load_study(study_path(sampled["study"], workflow))
    return studies


def study_path(name: str, workflow: Path) -> Path:
    """Return the file of the study `name` in a workflow folder."""
    known = {path.stem: path for path in sorted((workflow / "studies").glob("*.yaml"))}
    if name not in known:
        raise InputError(f"study {name}: expected one of {', '.join(known)}.")
    return known[name]
