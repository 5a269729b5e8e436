"""The exceptions for faults in what a person gave, and for a full disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What code that does not know where data come from names as their place; see `name_data`.
DATA = "data"


class InputError(ValueError):
    """A fault in the input, in one sentence.

    The sentence names the file, the line, the column or the key, and says what was expected. The
    command line prints the sentence, writes nothing and exits with `exit_status`. Code that knows
    more than the code that raised the error sets its attributes; nothing takes the sentence apart.

    Parameters
    ----------
    fault : str
        What is wrong and what was expected; or the whole sentence, with its full stop.
    where : path-like, optional
        The file, the argument or the option.
    line, row : int, optional
        Line of a text file, or row of other data, from 1.
    column : int or str, optional
        Number of the column from 1, or its name as it is printed.
    advice : str, optional
        The remedy, without a full stop, which ends the sentence.
    """

    exit_status = 2

    def __init__(
        self,
        fault: str,
        *,
        where: Path | str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: int | str | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(fault)
        self.fault = fault
        self.where = where
        self.line = line
        self.row = row
        self.column = column
        self.advice = advice

    def __str__(self) -> str:
        numbered = {"line": self.line, "row": self.row, "column": self.column}
        places = [] if self.where is None else [str(self.where)]
        places += [f"{name} {place}" for name, place in numbered.items() if place is not None]
        sentence = f"{', '.join(places)}: {self.fault}" if places else self.fault
        return sentence if self.advice is None else f"{sentence.removesuffix('.')}; {self.advice}."


class FullDiskError(InputError):
    """A file does not fit on its disk, or into the quota of the user; the sentence names it."""

    exit_status = 1


@contextmanager
def name_file(path: Path | str) -> Iterator[None]:
    """Begin the sentences on what a file holds with its name."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


@contextmanager
def name_data(where: Path | str) -> Iterator[None]:
    """Name the file or the argument in faults of data that are found while the data are used."""
    try:
        yield
    except InputError as error:
        if error.where == DATA:
            error.where = where
        raise


@contextmanager
def at(where: Path | str) -> Iterator[None]:
    """Name the place of whatever fault is found in the block."""
    try:
        yield
    except InputError as error:
        error.where = where
        raise
