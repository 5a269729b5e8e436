"""The exceptions for faults in what a person gave, and for a full disk."""


class InputError(ValueError):
    """A fault in the input, in one sentence.

    The sentence names the file, the line, the column or the key, and says what was expected. The
    command line prints the sentence, writes nothing and exits with `exit_status`.
    """

    exit_status = 2


class FullDiskError(InputError):
    """A file does not fit on its disk, or into the quota of the user; the sentence names it."""

    exit_status = 1
