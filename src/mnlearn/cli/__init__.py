"""The command line: it parses, calls the library and prints."""

from mnlearn.cli.commands import main

__all__ = ["main"]
