"""A study: one paper's datasets, methods, grids, metrics, tables, figures and claims."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mnlearn.methods import learner_names
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.yaml_files import read_yaml
from mnlearn_studies.datasets.sample_names import (
    base_of,
    expand_names,
    label_samples,
    list_samples,
    parse_sample,
)
from mnlearn_studies.study.content import Content
from mnlearn_studies.study.folders import source_folder
from mnlearn_studies.study.mentions import check_methods
from mnlearn_studies.study.reading import read


@dataclass(frozen=True)
class Study:
    """The content of `workflow/studies/<name>.yaml`, see `content.Content`."""

    name: str
    content: dict[str, Any]

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets, in the order of the paper; the samples of a study that has any."""
        return list(self._datasets)

    @cached_property
    def _datasets(self) -> tuple[str, ...]:
        bases, samples = self.content["datasets"], self.content.get("samples")
        if samples is None:
            return tuple(bases)
        return tuple(one.name for base in bases for one in list_samples(base, samples))

    @property
    def bases(self) -> list[str]:
        """Names of the datasets; samples are drawn from them if the study has any."""
        return list(self.content["datasets"])

    def expand(self, names: Iterable[str]) -> list[str]:
        """Return the datasets that names stand for.

        BASE stands for all its samples, BASE-nSIZE for the folds of this size.
        """
        return expand_names(names, self.datasets, keep_means=False)

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the names for readers: of datasets, of samples, of means over folds."""
        missing = {name: labels.get(name, name) for name in self.content.get("unavailable", [])}
        return label_samples(self.datasets, labels) | missing

    @property
    def methods(self) -> list[str]:
        """Labels of the methods, in the order of the tables."""
        return list(self.content["methods"])

    def methods_on(self, dataset: str) -> list[str]:
        """Return the labels of the methods that are learned on a dataset."""
        names, sample = {dataset, base_of(dataset)}, parse_sample(dataset)
        return [
            method
            for method, entry in self.content["methods"].items()
            if names & set(entry.get("datasets", names))
            and (sample is None or sample.size in entry.get("sizes", [sample.size]))
        ]

    def is_timed(self, dataset: str) -> bool:
        """Whether chosen models are learned again alone on a dataset, to time them."""
        sample, timed = parse_sample(dataset), self.content.get("samples", {}).get("timed")
        if sample is None or sample.fold is None or timed is None:
            return True
        return sample.size in timed["sizes"] and sample.fold < timed["folds"]

    def learner(self, method: str) -> str:
        """Return the learner behind a method label: its own name unless the study says other."""
        return str(self.content["methods"][method].get("learner", method))

    def network(self, method: str) -> str | None:
        """Return the label of the dependency network that a method builds on, or None."""
        label = self.content["methods"][method].get("network")
        return None if label is None else str(label)

    def cmll_of(self, method: str, dataset: str) -> str:
        """Return of which models of a method CMLL is computed: all, chosen or none.

        "first" is the chosen model over the first partition only.
        """
        entry = self.content["methods"][method]
        default = entry.get("cmll", "all")
        return str(_exception(entry.get("cmll_exceptions", {}), dataset, default))

    def grid(self, method: str, dataset: str) -> dict[str, list[Any]]:
        """Return the values to try for each parameter of a method on a dataset."""
        entry = self.content["methods"][method]
        return {**entry.get("grid", {}), **_exception(entry.get("exceptions", {}), dataset, {})}

    def tuning_cmll(self, method: str, dataset: str) -> dict[str, Any]:
        """Return how the score is computed that a cell is tuned by; nothing for the usual one.

        The score is CMLL if there is no key `metric`.
        """
        criterion = self.content["methods"][method].get("criterion", "pll")
        if criterion == "pll":
            return {}
        cmll = self.content["cmll"]
        settings = cmll.get("tuning", cmll["inference"])
        settings = _exception(cmll.get("tuning_exceptions", {}), dataset, settings)
        metric = {} if criterion == "cmll" else {"metric": criterion}
        return {"groups": cmll["groups"], **settings, **metric}

    def n_partitions(self, dataset: str) -> int:
        """Return over how many partitions of the variables CMLL is reported."""
        partitions = self.content["cmll"]["partitions"]
        return int(_exception(partitions.get("exceptions", {}), dataset, partitions["default"]))

    def inference(self, dataset: str) -> dict[str, Any]:
        """Return how conditional marginals are computed on a dataset."""
        settings = dict(self.content["cmll"]["inference"])
        settings.update(_exception(self.content["cmll"].get("exceptions", {}), dataset, {}))
        return settings

    def further_inference(self, method: str, dataset: str) -> dict[str, dict[str, Any]]:
        """Return the other ways in which the chosen model of a cell is given a CMLL, by name.

        Beside the arguments of `Inference` there may be `examples`, the number of test examples.
        """
        return {
            name: {**entry["inference"], **{k: entry[k] for k in ("examples",) if entry.get(k)}}
            for name, entry in self.content["cmll"].get("also", {}).items()
            if method in entry["methods"] and {dataset, base_of(dataset)} & set(entry["datasets"])
        }


def _exception(exceptions: Mapping[str, Any], dataset: str, usual: Any) -> Any:
    """Return what holds for a dataset, or for the one it is a sample of, instead of the usual."""
    return exceptions.get(dataset, exceptions.get(base_of(dataset), usual))


def load_study(path: Path | str) -> Study:
    """Read a study and check it."""
    path = Path(path)
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise InputError("expected the keys of a study.", where=path)
    read(Content, content, str(path))
    study = Study(path.stem, content)
    samples = content.get("samples", {"sizes": [], "folds": []})
    if isinstance(samples["folds"], list) and len(samples["folds"]) != len(samples["sizes"]):
        raise InputError(f"{path}, samples.folds: expected one number for each size.")
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
    for method in study.methods:
        _check_chain(path, study, method)
    content = _expanded(study)
    check_methods(study.name, content)
    return Study(study.name, content)


def _check_chain(path: Path, study: Study, method: str) -> None:
    """Refuse methods whose networks are built on each other."""
    chain = [method]
    while (network := study.network(chain[-1])) is not None:
        if network in chain:
            names = ", ".join(chain[chain.index(network) :])
            raise InputError(f"{path}, methods: the networks of {names} are built on each other.")
        chain.append(network)


def _expanded(study: Study) -> dict[str, Any]:
    """Return the content with the samples that short names in products and claims stand for."""
    content = dict(study.content)
    for kind in ("tables", "figures", "claims"):
        content[kind] = [
            {**entry, "datasets": expand_names(entry["datasets"], study.datasets, keep_means=True)}
            if "datasets" in entry
            else entry
            for entry in content[kind]
        ]
    return content


def load_studies(names: Iterable[str], *workflows: Path) -> dict[str, Study]:
    """Read studies, and after them those whose models they query; see `study_path`."""
    studies = {name: load_study(study_path(name, *workflows)) for name in names}
    for study in list(studies.values()):
        sampled = study.content.get("queries", {}).get("sampled")
        if sampled and sampled["study"] not in studies:
            studies[sampled["study"]] = load_study(study_path(sampled["study"], *workflows))
    return studies


def study_path(name: str, *workflows: Path) -> Path:
    """Return the file of the study `name` in the first workflow folder that has it."""
    found = (path for folder in workflows for path in sorted(folder.glob("studies/*.yaml")))
    known: dict[str, Path] = {}
    for path in found:
        known.setdefault(path.stem, path)
    if name not in known:
        raise InputError(f"study {name}: expected one of {', '.join(sorted(known))}.")
    return known[name]


def shipped_studies() -> dict[str, Study]:
    """Return the studies with records, by name: those of papers by year, then the others."""
    files = sorted((source_folder() / "workflow" / "studies").glob("*.yaml"))
    studies = {path.stem: load_study(path) for path in files}
    recorded = [name for name, study in studies.items() if study.content.get("listed", True)]
    return {name: studies[name] for name in sorted(recorded, key=lambda name: _rank(studies[name]))}


def _rank(study: Study) -> tuple[float, str]:
    paper = study.content.get("reproduces")
    return (float("inf") if paper is None else paper["year"], study.name)


def studies_of_papers() -> dict[str, Study]:
    """Return the studies that reproduce a paper, by name, in the order of their years."""
    studies = shipped_studies().items()
    return {name: study for name, study in studies if "reproduces" in study.content}


def paper_title(study: Study) -> str:
    """Return authors, year and subject of the paper that a study reproduces."""
    paper = study.content["reproduces"]
    return f"{paper['authors']} {paper['year']}, {paper['subject']}"
