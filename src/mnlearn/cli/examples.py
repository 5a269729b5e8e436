"""Examples in the files of a command: how they are read, and what is done about missing cells."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import name_data

if TYPE_CHECKING:
    from mnlearn.cli.files import ModelFile
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.examples import Examples
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.data.reading import Reading


# Missing cells are an error.
REFUSE = "refuse"


class Reader(NamedTuple):
    """What a person says about values and columns, and how far compressed data may expand."""

    reading: "Reading"
    limit: ExpansionLimit

    def load(self, path: Path) -> "Examples":
        """Read the examples in a file."""
        from mnlearn.data.examples import load_examples

        return load_examples(path, self.limit, self.reading)

    def like(self, examples: "Examples") -> "Reader":
        """Return what reads other files like one that was read: a value may be known from there."""
        return self._replace(reading=examples.reading)

    def of_model(self, opened: "ModelFile") -> "Reader":
        """Return what reads data for a model also by the values of its data."""
        from mnlearn.data.coding import codes_by_column

        by_column = codes_by_column(opened.model, opened.codes)
        return self._replace(reading=self.reading.for_model(opened.model, by_column))


class Treatment(NamedTuple):
    """What is done about missing cells.

    missing : "refuse", "drop" or "impute".
    seed, threads : for filling in.
    """

    missing: str
    seed: int
    threads: int = 1

    def complete(self, found: "Examples", path: Path, groups: str | None = None) -> "Dataset":
        """Return the examples of a file, whose missing cells are refused, dropped or filled in.

        groups : the columns that are one variable; None for those of the file.
        """
        from mnlearn.data.dataset import Dataset
        from mnlearn.data.own_files import declare_groups

        if self.missing == REFUSE or isinstance(found.data, Dataset):
            data = found.complete(path)
        else:
            data = self.complete_groups({"": found.data}, {"": path})[""]
        if groups is None:
            return data
        name_row = partial(found.name_row, path, complete=self.missing == "drop")
        return declare_groups(data, groups, str(path), name_row)

    def complete_groups(
        self, groups: "Mapping[str, Dataset | IncompleteData]", paths: Mapping[str, Path]
    ) -> "dict[str, Dataset]":
        """Return the examples of groups, whose missing cells are dropped or filled in.

        paths : the file of each group.
        """
        from mnlearn.data.dataset import Dataset
        from mnlearn.learning.imputation import complete_groups
        from mnlearn.runtime.progress import say

        # Missing cells are filled in from all groups, and dropped in each.
        parts: Sequence[Sequence[str]] = [[name] for name in groups]
        if self.missing == "impute":
            parts = [list(groups)]
        completed: dict[str, Dataset] = {}
        for names in parts:
            cells = {name: groups[name] for name in names}
            with name_data(paths[names[0]]):
                completed |= complete_groups(
                    cells, self.missing, seed=self.seed, threads=self.threads
                )
        what = "dropped" if self.missing == "drop" else "filled in missing cells of"
        for name, data in groups.items():
            if not isinstance(data, Dataset):
                place = f"{paths[name]}, group {name}" if name else paths[name]
                say(f"{place}: {what} {count_missing(data)}.")
        return completed


def count_missing(data: "IncompleteData") -> str:
    """Return how many examples have missing cells, for a sentence."""
    return f"{data.n_with_missing} of {len(data.row_of)} examples"
