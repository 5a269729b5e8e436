"""The one exception that is the user's to mend."""


class InputError(ValueError):
    """Bad input: one sentence that names the file, line or key and what was expected.

    The command line prints the sentence and exits with status 2; nothing is written.
    """
