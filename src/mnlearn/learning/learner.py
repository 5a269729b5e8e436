"""What a learner is to the rest of the package."""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Scorer
from mnlearn.learning.grid_order import Path
from mnlearn.learning.parameters import check_value, convert, public_name
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
    """Keeps the state of long learning on disk, so that a killed run resumes near its end."""

    def load(self, key: Mapping[str, Any]) -> dict[str, NDArray] | None:
        """Return the arrays that were kept last under a key, or None."""

    def save(self, key: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> None:
        """Keep arrays under a key in place of what was kept before."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner is given to learn from.

    grid : values of every hyperparameter, as from `Learner.grid`.
    network : a dependency network learned before, for learners that build on one.
    criterion : scores a model on validation data, higher is better, if that is quick. A learner
        may stop learning a model that cannot become the best.
    store : where a learner that learns for long may keep its state, or None.
    """

    train: Dataset
    grid: Mapping[str, list[Any]]
    threads: int = 1
    network: DependencyNetwork | None = None
    criterion: Callable[[Model], float] | None = None
    store: Store | None = None


@dataclass(frozen=True, eq=False)
class Start:
    """What was learned before a grid point, and may be used to learn at it.

    learner, fitted : the grid point that this one starts at, and its result; None at the first.
    score : of that result by the criterion of the task; NaN without one.
    same_features : whether the two points differ in the penalty of the weights only.
    best_score : best score so far of a point with the same features; minus infinity if none.
    """

    learner: "Learner | None" = None
    fitted: Fitted | None = None
    score: float = float("nan")
    same_features: bool = False
    best_score: float = float("-inf")


@dataclass(frozen=True)
class Stage:
    """Hyperparameters chosen together on validation data, and how to learn at one choice.

    parameters : their names, that of the outermost loop of the grid first.
    learn : called with the learner, which holds the values, and with the workspace; where the
        stage has a path, also with the `Start` of the grid point.
    path : the order of grid points of which each starts at another one's result.
    """

    parameters: tuple[str, ...]
    learn: Callable[..., Fitted]
    path: Path | None = None


class Learner:
    """A learner: its constructor arguments are its hyperparameters.

    A subclass is a dataclass whose fields are declared by `parameter`. The command line, the grids
    of a study and Python share it. The constructor only stores values; `choose` and `grid` check
    them.

    title, citation : name of the learner; paper and section that it follows.
    stages : in which a grid over the hyperparameters is searched, the last one yields the model.
    scorer : module that scores its models.
    variant : hyperparameters of which a study reports every combination beside the chosen one.
    network : whether it builds on a dependency network that was learned before.
    criterion : by which its models are compared on validation data unless something else is asked
        for: pseudo-likelihood, or log-likelihood where that is exact.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    stages: ClassVar[tuple[Stage, ...]]
    scorer: ClassVar[Scorer]
    variant: ClassVar[tuple[str, ...]] = ()
    network: ClassVar[Literal["none", "optional", "required"]] = "none"
    criterion: ClassVar[Literal["pll", "ll"]] = "pll"

    @staticmethod
    def prepare(task: Task) -> Any:
        """Return the workspace in which grid points share what they have in common."""
        return task

    @classmethod
    def fields(cls) -> dict[str, dataclasses.Field]:
        """Return the dataclass field of every hyperparameter by its name."""
        return {public_name(field): field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of every hyperparameter."""
        return {name: field.default for name, field in cls.fields().items()}

    @classmethod
    def choose(cls, values: Mapping[str, Any]) -> Self:
        """Return the learner with the given values, which are checked.

        Raises
        ------
        InputError
            A value is outside of what its hyperparameter takes.
        """
        fields = cls.fields()
        for name, value in values.items():
            check_value(fields[name], value)
        return cls(**{fields[name].name: value for name, value in values.items()})

    def values_but(self, *left_out: str) -> tuple[Any, ...]:
        """Return the values of all hyperparameters but some, as a key."""
        kept = (field for name, field in self.fields().items() if name not in left_out)
        return tuple(getattr(self, field.name) for field in kept)

    @classmethod
    def check_network(cls, network: DependencyNetwork | None, n_vars: int) -> None:
        """Refuse a network that the learner has no use for, lacks, or that is of other variables.

        Raises
        ------
        InputError
            Says which of the three it is.
        """
        if network is None and cls.network == "required":
            raise InputError(f"{cls.title}: expected a dependency network to build on.")
        if network is not None and cls.network == "none":
            raise InputError(f"{cls.title}: does not build on a dependency network.")
        if network is not None and network.n_vars != n_vars:
            raise InputError(
                f"{cls.title}: expected a dependency network of {n_vars} variables, got one of "
                f"{network.n_vars}."
            )

    @classmethod
    def grid(cls, chosen: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return the distinct values of every hyperparameter, defaults where `chosen` has none.

        Raises
        ------
        InputError
            A hyperparameter is unknown, has no values, or values that it does not take; or several
            values are given for one that is in no stage.
        """
        grid = {name: [value] for name, value in cls.defaults().items()}
        tunable = {name for stage in cls.stages for name in stage.parameters}
        fields, types_of = cls.fields(), typing.get_type_hints(cls)
        for name, values in chosen.items():
            if name not in grid:
                raise InputError(f"parameter {name}: expected one of {', '.join(grid)}.")
            listed = list(values) if isinstance(values, list | tuple) else [values]
            if not listed:
                raise InputError(f"parameter {name}: expected at least one value.")
            if len(listed) > 1 and name not in tunable:
                raise InputError(f"parameter {name}: expected one value, it is not tuned.")
            converted = [convert(name, value, types_of[fields[name].name]) for value in listed]
            grid[name] = list(dict.fromkeys(converted))
        for name, values in grid.items():
            for value in values:
                check_value(fields[name], value)
        return grid
