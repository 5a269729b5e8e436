"""The rows of the bench in a file, which is written after each step."""

import csv
from collections.abc import Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import benchmarks
import mnlearn
from benchmarks.measure import Figure
from mnlearn.runtime.digest_cache import digest_file
from mnlearn.runtime.files import write_csv
from mnlearn.runtime.provenance import machine

# A step of a dataset.
Unit = tuple[str, str]
# What makes a row another one.
_KEY = ("task", "dataset", "scope", "peer", "size")


class Rows:
    """The rows of a file, or of none. A row names its step, the code and the machine.

    out : the file, or None.
    """

    def __init__(self, out: Path | None) -> None:
        sources = [Path(package.__path__[0]) for package in (mnlearn, benchmarks)]
        self.out = out
        self.context = {"code_digest": digest_file(sources).stem[:16], "machine": machine()}
        self.rows: list[dict[str, Any]] = []
        if out is not None and out.exists():
            with out.open(encoding="utf-8", newline="") as file:
                self.rows = list(csv.DictReader(file))

    def has(self, unit: Unit) -> bool:
        """Tell whether a step of a dataset has rows of this code and machine."""
        return any(_unit(row) == unit and row.items() >= self.context.items() for row in self.rows)

    def replace(self, unit: Unit, figures: Iterable[Figure]) -> None:
        """Take the figures of a step in place of its rows, and write the file."""
        step, _ = unit
        new = [{"step": step, **_cells(asdict(figure)), **self.context} for figure in figures]
        keys = {_key(row) for row in new}
        self.rows = [row for row in self.rows if _unit(row) != unit and _key(row) not in keys]
        self.rows += new
        self._write()

    def keep_only(self, units: Collection[Unit], datasets: Collection[str]) -> None:
        """Drop the rows of all other steps of datasets, of all if none is named; write the file."""
        self.rows = [
            row
            for row in self.rows
            if _unit(row) in units or (datasets and row["dataset"] not in datasets)
        ]
        self._write()

    def _write(self) -> None:
        if self.out is not None:
            write_csv(self.out, self.rows)


def _unit(row: dict[str, Any]) -> Unit:
    return row.get("step", ""), row["dataset"]


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(name, "")) for name in _KEY)


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in row.items()}
