"""The command `mnlearn`, whose subcommands are loaded when they are asked for."""

import contextlib
import importlib
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from mnlearn.cli.progress import show_progress
from mnlearn.runtime.atomic import cannot_write, is_full
from mnlearn.runtime.errors import InputError

# The workflow sets it to a descriptor that shows a sentence if stderr, a log on disk, cannot.
ERRORS_DESCRIPTOR = "MNLEARN_ERRORS_DESCRIPTOR"

# The subcommands of each module in this folder, in the order of the help. A dash in the name of a
# command is an underscore in Python.
COMMANDS = {
    "fit": ("fit", "methods", "weights"),
    "score": ("score", "compare"),
    "query": ("query", "sample"),
    "convert": ("convert", "info", "impute"),
    "ising": ("ising",),
    "compile": ("compile",),
    "cite": ("cite",),
}
# Other packages add their commands here, as entry points.
ENTRY_POINTS = "mnlearn.commands"
# Packages that only some commands need, and the extra of mnlearn that brings each of them.
_EXTRAS = {
    **dict.fromkeys(
        ("filelock", "markdown", "psutil", "requests", "snakemake", "urllib3"),
        "study",
    ),
    "snakemake_executor_plugin_slurm": "slurm",
}
# Options of version 1.0, and what takes their place.
_GONE = {
    "--ones": "a column keeps its states; --cut divides numbers, --states orders states",
    "--categories": "a column of words is a variable, without an option",
    "--groups": "columns of 0 and 1 are variables each; give the column that they were made of",
}
_MODULES = {name: module for module, names in COMMANDS.items() for name in names}


class Commands(click.Group):
    """Loads the module of a subcommand when it is needed; puts faults of the user in one sentence.

    A command imports what compiles kernels or draws inside its function, for a quick `--help`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands in the order of the help."""
        return [*_MODULES, *_further_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; None if there is none of this name."""
        command: click.Command | None
        if cmd_name not in _MODULES:
            further = _further_commands().get(cmd_name)
            command = None if further is None else further.load()
            return command
        module = importlib.import_module(f"mnlearn.cli.{_MODULES[cmd_name]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; an `InputError` ends the program with status 2, a full disk with 1."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            _tell(f"mnlearn: {error}")
            ctx.exit(error.exit_status)
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            advice = f"install it with `pip install 'mnlearn[{extra}]'`"
            _tell(f"mnlearn: this needs the package {error.name}; {advice}.")
            ctx.exit(2)
        except click.UsageError as error:
            text = error.format_message().rstrip(".").replace("\n", " ")
            if isinstance(error, click.NoSuchOption) and error.option_name in _GONE:
                text = f"{error.option_name} is gone since version 1.0: {_GONE[error.option_name]}"
            path = error.ctx.command_path if error.ctx else "mnlearn"
            _tell(f"mnlearn: {text}; see {path} --help.")
            ctx.exit(2)
        except MemoryError:
            _tell("mnlearn: there is not enough memory for this; nothing was written.")
            ctx.exit(1)
        except KeyboardInterrupt as error:
            # Who asked for the end says so; click would print the word Aborted.
            by = error.args[0] if error.args else signal.SIGINT
            _tell(f"mnlearn: {'interrupted' if by == signal.SIGINT else 'terminated'}.")
            ctx.exit(128 + by)
        except BrokenPipeError:
            # The reader of our output has gone.
            _discard_stdout()
            ctx.exit(0)
        except OSError as error:
            if not is_full(error):
                raise
            _discard_stdout()
            _tell(f"mnlearn: {cannot_write(error.filename or 'output', error)}")
            ctx.exit(1)


@contextlib.contextmanager
def _terminated_in_a_sentence() -> Iterator[None]:
    """Raise an exception on SIGTERM, so that no file is left half written."""

    def terminate(number: int, _: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number))

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _further_commands() -> dict[str, EntryPoint]:
    """Return the commands of other packages by name."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


# What a terminal or a program may take for the end of a line, or for more than a character: names
# of files and texts inside them can have it.
_LINE_END = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _discard_stdout() -> None:
    """Discard what is not written to stdout yet: the interpreter would complain about it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(sentence: str) -> None:
    """Print a sentence to stderr, or where the workflow shows it if stderr cannot be written."""
    sentence = _LINE_END.sub(_escape, sentence)
    try:
        click.echo(sentence, err=True)
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.write(int(os.environ.get(ERRORS_DESCRIPTOR, "")), f"{sentence}\n".encode())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mnlearn", prog_name="mnlearn")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Learn the structure of Markov networks over discrete variables.

    \b
    mnlearn fit dtsl --train mine.csv --out mine.npz      learn a network
    mnlearn score mine.npz test.csv --metric pll          how good is it?
    mnlearn query mine.npz --evidence sex=f               what follows from what is known?
    mnlearn convert mine.npz mine.graphml                 use it elsewhere
    mnlearn study dtsl                                    a whole paper

    Data are tables with one example a row and one variable a column, of words or numbers: `.csv`
    and other text files, also compressed (`.gz`, `.xz`, `.bz2`), Parquet, and `.npz`. The file `-`
    is stdin or stdout; `-.bif`, after `--`, says its form.
    """
    ctx.with_resource(show_progress())
    is_main = threading.current_thread() is threading.main_thread()
    if ctx.invoked_subcommand in _MODULES and is_main:
        ctx.with_resource(_terminated_in_a_sentence())
