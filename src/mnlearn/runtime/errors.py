"""The exception for faults in what a person gave: files, arguments, settings."""


class InputError(ValueError):
    """A fault in the input, in one sentence.

    The sentence names the file, the line, the column or the key, and says what was expected. The
    command line prints the sentence, writes nothing and exits with status 2.
    """
