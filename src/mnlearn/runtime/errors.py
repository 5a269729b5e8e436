"""The exceptions for faults in what a person gave, and for a full disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class InputError(ValueError):
    """A fault in the input, in one sentence.

    The sentence names the file, the line, the column or the key, and says what was expected. The
    command line prints the sentence, writes nothing and exits with `exit_status`.
    """

    exit_status = 2


class FullDiskError(InputError):
    """A file does not fit on its disk, or into the quota of the user; the sentence names it."""

    exit_status = 1


@contextmanager
def name_data(where: Path | str) -> Iterator[None]:
    """Name the file or the argument in faults of data that are found while the data are used.

    Code that does not know where data come from calls them "data".
    """
    try:
        yield
    except InputError as error:
        fault = str(error).removeprefix("data: ")
        if fault == str(error):
            raise
        raise InputError(f"{where}: {fault}") from error
