"""Examples in the files of a command: how they are read, and what is done about missing cells."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import name_data

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.examples import Examples
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.data.rules import Rules
    from mnlearn.models.model import Model
    from mnlearn.variables.schema import Schema


# Missing cells are an error.
REFUSE = "refuse"


class Reader(NamedTuple):
    """What a person says about columns, how far data may expand, and the variables to read by."""

    rules: "Rules"
    limit: ExpansionLimit
    schema: "Schema | None" = None

    def load(self, path: Path) -> "Examples":
        """Read the examples in a file."""
        from mnlearn.data.examples import load_examples

        return load_examples(path, self.limit, self.rules, self.schema)

    def like(self, source: "Model | Dataset | IncompleteData") -> "Reader":
        """Return what reads data of the variables of a model or of other data."""
        return self._replace(schema=source.schema)


class Treatment(NamedTuple):
    """What is done about missing cells: "refuse", "drop" or "impute"."""

    missing: str
    seed: int
    threads: int = 1

    def complete(self, found: "Examples", path: Path) -> "Dataset":
        """Return the examples of a file, whose missing cells are refused, dropped or filled in."""
        from mnlearn.data.dataset import Dataset

        if self.missing == REFUSE or isinstance(found.data, Dataset):
            return found.complete(path)
        return self.complete_groups({"": found.data}, {"": path})[""]

    def complete_groups(
        self, groups: "Mapping[str, Dataset | IncompleteData]", paths: Mapping[str, Path]
    ) -> "dict[str, Dataset]":
        """Return the examples of groups, whose missing cells are dropped or filled in."""
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
