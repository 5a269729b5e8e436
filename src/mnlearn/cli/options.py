"""Options that several commands share."""

import json
import math
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from mnlearn.cli.examples import Reader
from mnlearn.inference.settings import AUTO, METHODS, SCHEDULES
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED
from mnlearn.runtime.threads import available_threads

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

# The largest limit of expanded data: an exabyte.
_MOST_GIGABYTES = 1e9

seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=SEED,
    show_default=True,
    help="Seed of all randomness.",
)


def _limit_memory(
    _context: click.Context, _option: click.Parameter, gigabytes: float | None
) -> None:
    if gigabytes is not None:
        from mnlearn.runtime.memory import limit_memory

        limit_memory(gigabytes)


memory_option = click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    callback=_limit_memory,
    expose_value=False,
    metavar="GB",
    help="Most memory for tables of exact answers, in gigabytes.  [default: 3.2]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=available_threads,
    help="Threads to use; the result does not depend on it. Default: all processors.",
)


def _make_limit(
    _context: click.Context, _option: click.Parameter, gigabytes: float | None
) -> ExpansionLimit:
    if gigabytes is not None and math.isnan(gigabytes):
        raise click.BadParameter("expected a number, got nan.", ctx=_context, param=_option)
    advice = "--max-expanded raises the limit"
    if gigabytes is None:
        return ExpansionLimit(advice=advice)
    return ExpansionLimit(int(gigabytes * 1e9), float("inf"), advice=advice)


def reading_options(command: F) -> F:
    """Add the options that say how files of examples are read, as one argument, `reader`."""

    @wraps(command)
    def run(*, limit: ExpansionLimit, **given: Any) -> Any:
        from mnlearn.data.rules import OPTION, Rules

        said = {name: given.pop(name) for name in _READING}
        return command(reader=Reader(Rules.said(said, OPTION), limit), **given)

    return cast(F, _with_options(_limit_option(run), _READING))


def _with_options(run: Any, options: dict[str, dict[str, Any]]) -> Any:
    """Return a command with options, in their order in its help."""
    for name, how in reversed(options.items()):
        run = click.option(f"--{name.replace('_', '-')}", **how)(run)
    return run


missing_option = click.option(
    "--missing",
    type=click.Choice(["refuse", "drop", "impute"]),
    default="refuse",
    show_default=True,
    help="What is done about missing cells: drop the rows, or fill the cells in.",
)


def tell_unused(names: Collection[str], reason: str) -> None:
    """Say which options of the running command were given although the answer ignores them."""
    from mnlearn.runtime.progress import say

    for option in _given(names):
        say(f"{option}: is not used, because {reason}.")


def _given(names: Collection[str]) -> list[str]:
    """Return the options of the running command that were given, among some parameters."""
    context = click.get_current_context()
    return [
        option.opts[0]
        for option in context.command.params
        if option.name in names
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]


def refuse_given(names: Collection[str], reason: str) -> None:
    """Refuse options of the running command that it would ignore, for a reason."""
    for option in _given(names):
        raise InputError(f"{option}: is not read {reason}.")


# The options of `reading_options` by the names of their parameters.
_READING: dict[str, dict[str, Any]] = {
    "states": {
        "multiple": True,
        "metavar": "COLUMN=STATE,...|FILE",
        "help": "All states of a column, in their order: sex=f,m. Several times. Or a .schema file "
        "of Libra for columns without names.",
    },
    "cut": {
        "multiple": True,
        "metavar": "[COLUMN=]NUMBER,...",
        "help": "Where the numbers of a column are cut into intervals, which are then the states: "
        "age=30,50 or age=median. Without COLUMN, all columns of more than two numbers. Several "
        "times.",
    },
    "columns": {
        "multiple": True,
        "metavar": "COLUMN,...",
        "help": "The columns that are variables; all others are left out.",
    },
    "leave_out": {"multiple": True, "metavar": "COLUMN", "help": "A column that is no variable."},
    "keep": {
        "multiple": True,
        "metavar": "COLUMN",
        "help": "A column that is a variable, though it looks as if it numbered the rows.",
    },
    "na": {
        "multiple": True,
        "metavar": "TEXT",
        "help": "A text of missing cells, beside empty cells, NA and NaN.",
    },
    "empty": {
        "multiple": True,
        "metavar": "[COLUMN=]STATE",
        "help": "What a missing cell of a column means: smokes=no where only ticks are written. "
        "Without COLUMN, of all columns. Several times.",
    },
    "weights": {"metavar": "COLUMN", "help": "The column of the weights of rows."},
    "baskets": {
        "is_flag": True,
        "help": "Each line lists the items that a row has, as files of purchases do.",
    },
}
# The parameters of `reading_options` and `missing_option` that only data have.
READING_NAMES = (*_READING, "missing")
_limit_option = click.option(
    "--max-expanded",
    "limit",
    type=click.FloatRange(min=0, min_open=True, max=_MOST_GIGABYTES),
    callback=_make_limit,
    metavar="GB",
    help="Largest size that compressed data may expand to, in gigabytes. Default: 4.3, and at "
    "most 200 times the compressed size if that is above 0.27.",
)


def inference_options(help_text: str, default: str | None = None) -> Callable[[F], F]:
    """Return what adds `inference` and `settings`, those that were given, to a command."""

    def add(command: F) -> F:
        @wraps(command)
        def run(**given: Any) -> Any:
            settings = {name: given.pop(name) for name in _INFERENCE}
            known = {name: value for name, value in settings.items() if value is not None}
            return command(settings=known, **given)

        choice: dict[str, Any] = {
            "type": click.Choice([AUTO, *METHODS], case_sensitive=False),
            "default": default,
            "show_default": True,
            "help": f"{help_text} {_METHODS_HELP}",
        }
        return cast(F, _with_options(run, {"inference": choice, **_INFERENCE}))

    return add


_METHODS_HELP = (
    "Gibbs sampling; enumeration of up to 2^20 states; MC-SAT; loopy belief propagation; mean "
    "field."
)
# The settings of `inference_options` by the names of their parameters.
_INFERENCE: dict[str, dict[str, Any]] = {
    "burn_in": {
        "type": click.IntRange(min=0),
        "help": "Samples not counted.  [default: 100; with mcsat 1000]",
    },
    "samples": {
        "type": click.IntRange(min=1),
        "help": "Samples counted.  [default: 1000; with mcsat 10000]",
    },
    "iterations": {
        "type": click.IntRange(min=1),
        "help": "Most iterations of bp and meanfield.  [default: 100]",
    },
    "tolerance": {
        "type": click.FloatRange(min=0.0),
        "help": "bp and meanfield end when log-odds change by at most this in an iteration.  "
        "[default: 1e-05]",
    },
    "damping": {
        "type": click.FloatRange(min=0.0, max=1.0, max_open=True),
        "help": "Share of the old message that an update of bp keeps.  [default: 0.5]",
    },
    "schedule": {
        "type": click.Choice(SCHEDULES),
        "help": "Whether bp computes messages one after the other, all from the last iteration's, "
        "or first those for which most has changed.  [default: sequential]",
    },
}
QUERY_NAMES = ("inference", *_INFERENCE)


def print_record(record: dict[str, Any], as_json: bool) -> None:
    """Print a flat record as one JSON object, or as a line for each item."""
    if as_json:
        # JSON has neither infinity nor NaN: null stands for both.
        finite = {
            name: None if isinstance(item, float) and not math.isfinite(item) else item
            for name, item in record.items()
        }
        click.echo(json.dumps(finite, sort_keys=True, allow_nan=False))
        return
    width = max(len(name) for name in record)
    for name, item in record.items():
        # Differences of log Z matter, not its share.
        digits = 12 if name.startswith("log_partition") else 6
        text = f"{item:.{digits}g}" if isinstance(item, float) else str(item)
        click.echo(f"{name.replace('_', ' '):<{width}}  {text}")


def parse_names(text: str | None) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return `key=value` arguments as a dictionary."""
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: expected key=value.")
        if name.strip() in out:
            raise InputError(f"--set {setting}: {name.strip()} is set twice.")
        out[name.strip()] = value.strip()
    return out


def parse_object(text: str, option: str) -> dict[str, Any]:
    """Return the JSON object of an option."""
    from mnlearn.runtime.files import decode_json

    try:
        value = decode_json(text, option)
    except json.JSONDecodeError as error:
        raise InputError(f"{option}: is not JSON: {error.msg}.") from error
    if not isinstance(value, dict):
        raise InputError(f"{option}: expected a JSON object, got {text}.")
    return value


def spell_option(name: str, value: Any = None) -> str:
    """Return the option of an argument of `mnlearn.score` or of a query, and its value."""
    if value == "ais" or name == "chains":
        return "--ais" if value is None else "--ais 100"
    option = f"--{name.replace('_', '-')}"
    return option if value is None else f"{option} {value}"
