"""What every kind of record says of itself; `records.kinds` has one file for each kind."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.files import model_digest, read_models
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study

# The key under which a job is given the records that stay and are about its models.
BESIDE = "beside"

Row = tuple[str, str, str, str, str, float, float | None]


class Planned(Protocol):
    """What a kind asks the plan of a run."""

    studies: Mapping[str, Study]
    results: Path
    seed: int
    local: Mapping[str, Any]
    mirror: str
    n_parts: int

    def recipe(self, record: Record) -> Recipe:
        """Return the recipe of a record."""
        ...

    def digest(self, record: Record) -> str:
        """Return the digest of the recipe of a record."""
        ...

    def file(self, record: Record, name: str = "record") -> str:
        """Return a file of a record, current or as it is used."""
        ...

    def is_made(self, record: Record) -> bool:
        """Whether a record is used as it is."""
        ...


class Kind:
    """One kind of record: which there are, what each depends on, how it is made, what it shows.

    files : by name, below the results, the record first; with the digest of the recipe in the name,
    a file that exists is current. roots, splits : the code and the data that make it. is_asked :
    whether a study asks for it by itself. quantities : pattern of those that only it has. alone,
    is_local : whether no other job runs meanwhile, and where it is made. seconds, mib : costs, see
    `plan.costs`.
    """

    name: ClassVar[str]
    files: ClassVar[Mapping[str, str]]
    roots: ClassVar[tuple[str, ...]] = ()
    splits: ClassVar[tuple[str, ...]] = ()
    is_asked: ClassVar[bool] = True
    quantities: ClassVar[str] = ""
    alone: ClassVar[bool] = False
    is_local: ClassVar[bool] = False
    seconds: ClassVar[str] = ""
    mib: ClassVar[str] = ""

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods of each record that a study asks for on a dataset, in its order.

        By default one record of each method that the study names under this kind in `records`.
        """
        named = study.content.get("records", {}).get(self.name, ())
        yield from ((method,) for method in study.methods_on(dataset) if method in named)

    def learned(self, plan: Planned, record: Record) -> list[Record]:
        """Return the models that a record is about, which it names by their digests."""
        return [record.of("models", name) for name in record.names]

    def based_on(self, plan: Planned, record: Record) -> dict[str, Record]:
        """Return the records whose recipes are part of this one: of one model, two, or the data."""
        learned = self.learned(plan, record)
        keys = ("learning",) if len(learned) == 1 else ("first", "second")
        return dict(zip(keys, learned, strict=True)) if learned else {"data": record.data}

    def settings(self, plan: Planned, record: Record) -> Recipe:
        """Return what the record depends on beside other records and code."""
        return {}

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return everything that a record depends on."""
        based_on = self.based_on(plan, record).items()
        digests = {name: recipe_digest(plan.recipe(each)) for name, each in based_on}
        return {**digests, "code": code_digest(*self.roots), **self.settings(plan, record)}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the files that a record is made from, by name."""
        models = [plan.file(each) for each in self.learned(plan, record)]
        splits = {split: plan.file(record.data, split) for split in self.splits}
        return {"models": models, **splits} if models else splits

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return what the job needs to know that changes no number."""
        return {}

    def digests(self, job: Job) -> dict[str, str]:
        """Return the digest of the chosen model of each method that the record is about.

        The models are inputs, or the cells that were scored with them are.
        """
        if "cells" in job.inputs:
            cells = map(read_models, job.paths("cells"))
            return {name: said for cell in cells for name, said in cell.items()}
        return dict(zip(job.record.names, map(model_digest, job.all_chosen()), strict=False))

    def make(self, job: Job) -> None:
        """Make a record."""
        made_by = {"made_by": provenance(*self.roots)}
        write_json(job.out, {**job.identity, **self.measure(job), **made_by})

    def measure(self, job: Job) -> dict[str, Any]:
        """Return what a record in JSON says beside what it is of and made by.

        A kind writes this or `make`.
        """
        raise NotImplementedError

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the rows of `scores.csv` that come from a record, which `path` holds."""
        yield from ()

    def shows(self, quantity: str) -> bool:
        """Whether a quantity comes from such records."""
        return bool(self.quantities) and re.match(self.quantities, quantity) is not None


def json_of(name: str) -> dict[str, str]:
    """Return the files of a kind that leaves one JSON file for one or several methods."""
    return {"record": f"{{study}}/{name}/{{dataset}}/{{names}}@{{digest}}.json"}


def head(record: Mapping[str, Any], variant: str = "") -> tuple[str, str, str, str]:
    """Return the first cells of a row: study, dataset, method, variant."""
    return record["study"], record["dataset"], record["method"], variant
