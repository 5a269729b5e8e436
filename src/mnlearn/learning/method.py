"""What a learner is to the rest of the package."""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Scorer
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io.native import Model
from mnlearn.runtime.errors import InputError


@dataclass(frozen=True, eq=False)
class Fitted:
    """A learned model with its record.

    seconds : wall-clock seconds of one part of the learning each, such as "structure".
    details : counts and diagnostics worth keeping, such as the stopping rule that applied.
    """

    model: Model
    seconds: dict[str, float]
    details: dict[str, Any]


class Store(Protocol):
    """Keeps the state of long learning on disk, so that a killed run goes on near its end."""

    def load(self, key: Mapping[str, Any]) -> dict[str, NDArray] | None:
        """Return what was kept last under a key, or None."""

    def save(self, key: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> None:
        """Keep arrays under a key in place of what was kept before."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given to learn from.

    grid : values of every parameter, as from `Method.grid`.
    network : a dependency network learned before, for methods that build on one.
    criterion : what models will be compared by, higher is better, if it is quick to compute; a
        method may end the learning of one that falls behind.
    store : where a method that learns for long may keep its state, or None.
    """

    train: Dataset
    grid: Mapping[str, list[Any]]
    threads: int = 1
    network: DependencyNetwork | None = None
    criterion: Callable[[Model], float] | None = None
    store: Store | None = None


@dataclass(frozen=True)
class Stage:
    """Parameters chosen together on validation data, and how to learn at one choice.

    learn : called with the workspace, the parameters and, where only the last of `parameters`
        differs from the previous call, that call's result as a warm start, else None.
    """

    parameters: tuple[str, ...]
    learn: Callable[[Any, Any, Fitted | None], Fitted]


@dataclass(frozen=True)
class Method:
    """A learner: its parameters, and the stages in which a grid over them is searched.

    parameters : frozen dataclass; defaults are used where nothing is chosen, the `help` of each
        field's metadata says what it is. A field named by a keyword ends in an underscore.
    prepare : called once; returns the workspace in which stages share what they have in common.
    scorer : what scores its models.
    variant : parameters of which a study reports every combination beside the chosen one.
    source : paper and section that the method follows.
    network : whether it builds on a dependency network that was learned before.
    criterion : what its models are compared by on validation data unless something else is asked
        for: pseudo-likelihood, or log-likelihood where that is exact.
    """

    title: str
    source: str
    parameters: type
    prepare: Callable[[Task], Any]
    stages: tuple[Stage, ...]
    scorer: Scorer
    variant: tuple[str, ...] = ()
    network: Literal["none", "optional", "required"] = "none"
    criterion: Literal["pll", "ll"] = "pll"

    def fields(self) -> dict[str, Any]:
        """Return the dataclass field of every parameter by its name."""
        return {f.name.rstrip("_"): f for f in dataclasses.fields(self.parameters)}

    def defaults(self) -> dict[str, Any]:
        """Return the default of every parameter."""
        return {name: field.default for name, field in self.fields().items()}

    def choose(self, values: Mapping[str, Any]) -> Any:
        """Return the parameters with the given values, which are checked."""
        fields = self.fields()
        return self.parameters(**{fields[name].name: value for name, value in values.items()})

    def check_network(self, network: DependencyNetwork | None, n_vars: int) -> None:
        """Refuse a network that the method has no use for, lacks, or that is of other variables."""
        if network is None and self.network == "required":
            raise InputError(f"{self.title}: expected a dependency network to build on.")
        if network is not None and self.network == "none":
            raise InputError(f"{self.title}: does not build on a dependency network.")
        if network is not None and network.n_vars != n_vars:
            raise InputError(
                f"{self.title}: expected a dependency network of {n_vars} variables, got one of "
                f"{network.n_vars}."
            )

    def grid(self, chosen: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return a list of values for every parameter, defaults where `chosen` has none.

        Raises
        ------
        InputError
            A parameter is unknown, has no values, or values that it does not take; or several
            values are given for one that is in no stage.
        """
        grid = {name: [value] for name, value in self.defaults().items()}
        tunable = {name for stage in self.stages for name in stage.parameters}
        fields, types_of = self.fields(), typing.get_type_hints(self.parameters)
        for name, values in chosen.items():
            if name not in grid:
                raise InputError(f"parameter {name}: expected one of {', '.join(grid)}.")
            listed = list(values) if isinstance(values, list | tuple) else [values]
            if not listed:
                raise InputError(f"parameter {name}: expected at least one value.")
            if len(listed) > 1 and name not in tunable:
                raise InputError(f"parameter {name}: expected one value, it is not tuned.")
            grid[name] = [_convert(name, value, types_of[fields[name].name]) for value in listed]
        for name, values in grid.items():
            for value in values:
                self.choose({**self.defaults(), name: value})
        return grid


def _convert(name: str, value: Any, kind: Any) -> Any:
    """Return `value`, perhaps text from a command line, as the annotated type."""
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if value is None or (isinstance(value, str) and value.lower() in ("none", "null")):
        if type(None) in options:
            return None
        raise InputError(f"parameter {name}: expected a value, got {value}.")
    wanted = next(option for option in options if option is not type(None))
    if isinstance(value, bool) or (wanted is str and not isinstance(value, str)):
        raise InputError(f"parameter {name}: expected {wanted.__name__}, got {value!r}.")
    try:
        converted = wanted(value)
    except (TypeError, ValueError, OverflowError) as error:
        article = {"int": "a whole number", "float": "a number"}.get(wanted.__name__, "text")
        raise InputError(f"parameter {name}: expected {article}, got {value!r}.") from error
    if wanted is int and float(value) != converted:
        raise InputError(f"parameter {name}: expected a whole number, got {value!r}.")
    return converted


def parameter(default: Any, help_text: str) -> Any:
    """Return a dataclass field with a default and its one-line description."""
    return dataclasses.field(default=default, metadata={"help": help_text})


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse a parameter outside [low, high]."""
    if not low <= value <= high:
        raise InputError(f"parameter {name}: expected {low:g} to {high:g}, got {value:g}.")
