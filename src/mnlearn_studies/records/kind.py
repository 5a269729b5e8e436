"""What every kind of record says of itself; `records.kinds` has one file for each kind."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

Row = tuple[str, str, str, str, str, float, float | None]


class Planned(Protocol):
    """What a kind asks the plan of a run."""

    studies: Mapping[str, Study]
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

    Attributes
    ----------
    name : str
        Name of the kind, of its folder in the results of a study, and of its rule.
    files : mapping of str to str
        The files of a record by name, below the results. The first is the record. The digest of the
        recipe is part of the name, so that a file that exists is current.
    is_asked : bool
        Whether a study asks for such records by themselves. Others are only made for these.
    quantities : str
        Pattern of the quantities that only such records have; empty for none.
    alone : bool
        Whether no other job runs on the machine meanwhile.
    seconds, mib : str
        Names of the cost laws of its jobs, see `plan.costs`; empty if nothing is recorded.
    """

    name: ClassVar[str]
    files: ClassVar[Mapping[str, str]]
    is_asked: ClassVar[bool] = True
    quantities: ClassVar[str] = ""
    alone: ClassVar[bool] = False
    seconds: ClassVar[str] = ""
    mib: ClassVar[str] = ""

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods of each record that a study asks for on a dataset, in its order."""
        raise NotImplementedError

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return everything that a record depends on."""
        raise NotImplementedError

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the files that a record is made from, by name."""
        raise NotImplementedError

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return what the job needs to know that changes no number."""
        return {}

    def make(self, job: Job) -> None:
        """Make a record."""
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
