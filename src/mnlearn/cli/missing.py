"""Missing cells in the data of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.cli.files import name_file

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.examples import Examples
    from mnlearn.data.incomplete import IncompleteData


class Treatment(NamedTuple):
    """What is done about missing cells.

    missing : "refuse", "drop" or "impute".
    seed, threads : for filling in.
    """

    missing: str
    seed: int
    threads: int = 1

    def complete(self, found: "Examples", path: Path) -> "Dataset":
        """Return the examples of a file, whose missing cells are refused, dropped or filled in."""
        from mnlearn.data.dataset import Dataset

        if self.missing == "refuse" or isinstance(found.data, Dataset):
            return found.complete(path)
        from mnlearn.learning.imputation import complete

        with name_file(path):
            data = complete(found.data, self.missing, seed=self.seed, threads=self.threads)
        self._tell(str(path), found.data)
        return data

    def complete_groups(
        self, groups: "Mapping[str, Dataset | IncompleteData]", path: Path
    ) -> "dict[str, Dataset]":
        """Return the examples of groups, whose missing cells are dropped or filled in."""
        from mnlearn.data.dataset import Dataset
        from mnlearn.learning.imputation import complete_groups

        with name_file(path):
            completed = complete_groups(groups, self.missing, seed=self.seed, threads=self.threads)
        for name, data in groups.items():
            if not isinstance(data, Dataset):
                self._tell(f"{path}, group {name}", data)
        return completed

    def _tell(self, name: str, data: "IncompleteData") -> None:
        """Say what is done about the missing cells of a file or group."""
        from mnlearn.runtime.progress import say

        what = "dropped" if self.missing == "drop" else "filled in missing cells of"
        say(f"{name}: {what} {count_missing(data)}.")


def count_missing(data: "IncompleteData") -> str:
    """Return how many examples have missing cells, for a sentence."""
    return f"{data.n_with_missing} of {len(data.row_of)} examples"
