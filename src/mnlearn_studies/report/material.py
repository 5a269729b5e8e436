"""What tables, figures, claims and pages of a study are made from, and its entries of these."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import pandas as pd

from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.embedded import DRAWN, build_true_network
from mnlearn_studies.datasets.prepare import label_datasets
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.kinds.structures import Structure, read_structure
from mnlearn_studies.study.content import Product
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import check_sources
from mnlearn_studies.study.published import Number, Source, load_published, numbers, tidy_scores
from mnlearn_studies.study.reading import place_name, read

Labels = Mapping[str, str]
# An entry as the YAML file has it.
Options = Mapping[str, Any]
# Numbers by dataset, and those of several columns, such as the variants of a method.
Column = Mapping[str, Number]
Columns = Mapping[str, Column]
Entry = TypeVar("Entry", bound=Product)
Part = TypeVar("Part")


@dataclass(frozen=True)
class Material:
    """What the products of a study are made from.

    scores, published : the study's own scores, tidy, and the numbers of papers. labels : names of
    the datasets for readers, in the order of the study. folder : of its results. truths : the
    networks that datasets were sampled from.
    """

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame
    labels: Labels
    folder: Path = Path()
    truths: Mapping[str, MarkovNetwork] = field(default_factory=dict)

    @classmethod
    def of(
        cls, study: Study, scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, *more: Any
    ) -> Self:
        """Return the material of a study; scores : of any studies. labels : of any datasets."""
        own = tidy_scores(scores[scores["study"] == study.name])
        return cls(study, own, published, study.labels(labels), *more)

    @property
    def datasets(self) -> list[str]:
        """Datasets with scores, in the order of the labels and then of the scores."""
        present = list(dict.fromkeys(self.scores["dataset"]))
        known = [dataset for dataset in self.labels if dataset in present]
        return known + [dataset for dataset in present if dataset not in self.labels]

    def in_any(self, columns: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the scored datasets that some of the columns have."""
        found = {dataset for column in columns for dataset in column}
        return [dataset for dataset in self.datasets if dataset in found]

    def in_all(self, columns: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the scored datasets that all columns have; none if there is no column."""
        found = [set(column) for column in columns]
        common = set.intersection(*found) if found else set()
        return [dataset for dataset in self.datasets if dataset in common]

    def label(self, dataset: str) -> str:
        """Return the name of a dataset for readers."""
        return self.labels.get(dataset, dataset)

    def numbers(self, source: Source) -> dict[str, Number]:
        """Return the numbers of a source by dataset, ours or published."""
        return numbers(self.scores, self.published, source)

    def ours(self, method: str, quantity: str, variant: str = "") -> dict[str, Number]:
        """Return our numbers by dataset; of the chosen models, if no variant is named."""
        return self.numbers(Source(method, quantity, variant))

    def variants(self, method: str, order: Sequence[str]) -> list[str]:
        """Return the variants of a method that have scores, in an order."""
        present = set(self.scores.loc[self.scores["method"] == method, "variant"])
        return [variant for variant in order if variant in present]

    def by_variant(self, method: str, quantity: str, variants: Iterable[str]) -> dict[str, Column]:
        """Return our numbers of variants of a method by variant and dataset."""
        return {variant: self.ours(method, quantity, variant) for variant in variants}

    def structure(self, dataset: str, method: str) -> Structure | None:
        """Return the couplings of a learned network; None if they are not recorded."""
        path = find_version(self.folder / "structures", dataset, method, ".json")
        return None if path is None else read_structure(path)

    def n_vars(self, dataset: str) -> int | None:
        """Return a dataset's number of variables, published or else recorded; None if unknown."""
        for frame in (self.published, self.scores):
            is_it = (frame["dataset"] == dataset) & (frame["quantity"] == "n_vars")
            if is_it.any():
                return int(frame.loc[is_it, "value"].iloc[0])
        return None

    def of_entry(
        self, list_name: str, product: Options, kinds: Mapping[str, type[Entry]]
    ) -> tuple[Entry, Self]:
        """Return an entry of the tables or figures, and the material of the datasets it shows.

        A quantity or a dataset that there is not is refused; see also `read_entry`.
        """
        study, entry = self.study, read_entry(self.study, list_name, product, kinds)
        check_sources(
            study.name, study.content, list_name, product,
            scores=self.scores, published=self.published,
            is_recorded=lambda quantity: any(kind.shows(quantity) for kind in KINDS.values()),
        )  # fmt: skip
        if entry.datasets is None:
            return entry, self
        for dataset in entry.datasets:
            if dataset not in self.labels:
                place = place_name(study.name, list_name, product, ["datasets"])
                raise InputError(f"no {dataset!r} in the study.", where=place)
        labels = {d: label for d, label in self.labels.items() if d in entry.datasets}
        scores = self.scores[self.scores["dataset"].isin(list(labels))]
        return entry, dataclasses.replace(self, scores=scores, labels=labels)


def load_material(plan: Plan, name: str) -> Material:
    """Return the material of a study that has run; networks behind embedded data have the seed."""
    study, folder = plan.studies[name], plan.results / name
    path = folder / "scores.csv"
    if not path.exists():
        raise InputError(f"{path}: no such file; run the study first.")
    truths = {d: build_true_network(d, plan.seed) for d in study.datasets if d in DRAWN}
    labels = label_datasets(plan.local)
    return Material.of(study, read_scores(path), load_published(), labels, folder, truths)


def best_variant(validation: Columns, dataset: str, variants: Iterable[str] | None = None) -> str:
    """Return the variant with the highest validation score; the first of equals wins.

    variants : to choose from; all, if not given. The result is empty if none has a score.
    """
    own = validation if variants is None else variants
    values = {v: validation[v][dataset].value for v in own if dataset in validation[v]}
    return max(values, key=lambda variant: values[variant], default="")


def chosen_products(study: Study, list_name: str, only: list[str] | None) -> list[dict[str, Any]]:
    """Return the entries of a study's list of tables or figures: all, or those named in `only`."""
    products = list(study.content[list_name])
    names = [product["name"] for product in products]
    for name in only or ():
        if name not in names:
            raise InputError(
                f"study {study.name}, {list_name}: no {name!r}; there are {', '.join(names)}."
            )
    return [product for product in products if only is None or product["name"] in only]


def read_entry(
    study: Study, list_name: str, entry: Options, kinds: Mapping[str, type[Part]]
) -> Part:
    """Return an entry of the tables, figures or claims of a study as the dataclass of its kind."""
    place = place_name(study.name, list_name, entry)
    if entry["kind"] not in kinds:
        raise InputError(f"kind {entry['kind']!r} is none of {', '.join(kinds)}.", where=place)
    return read(kinds[entry["kind"]], entry, place)
