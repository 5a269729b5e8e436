"""Missing cells in the data of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.runtime.errors import name_data

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

        with name_data(path):
            data = complete(found.data, self.missing, seed=self.seed, threads=self.threads)
        self._tell(str(path), found.data)
        return data

    def complete_groups(
        self, groups: "Mapping[str, Dataset | IncompleteData]", paths: "Mapping[str, Path]"
    ) -> "dict[str, Dataset]":
        """Return the examples of groups, whose missing cells are dropped or filled in.

        paths : the file of each group.
        """
        from mnlearn.data.dataset import Dataset
        from mnlearn.learning.imputation import complete_groups

        how = {"seed": self.seed, "threads": self.threads}
        # Missing cells are filled in from all groups, and dropped in each.
        together = [list(groups)] if self.missing == "impute" else [[name] for name in groups]
        completed: dict[str, Dataset] = {}
        for names in together:
            with name_data(paths[names[0]]):
                parts = {name: groups[name] for name in names}
                completed |= complete_groups(parts, self.missing, **how)
        for name, data in groups.items():
            if not isinstance(data, Dataset):
                self._tell(f"{paths[name]}, group {name}", data)
        return completed

    def _tell(self, name: str, data: "IncompleteData") -> None:
        """Say what is done about the missing cells of a file or group."""
        from mnlearn.runtime.progress import say

        what = "dropped" if self.missing == "drop" else "filled in missing cells of"
        say(f"{name}: {what} {count_missing(data)}.")


def count_missing(data: "IncompleteData") -> str:
    """Return how many examples have missing cells, for a sentence."""
    return f"{data.n_with_missing} of {len(data.row_of)} examples"
