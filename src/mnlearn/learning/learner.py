"""What a learner is to the rest of the package."""

import dataclasses
import math
import sys
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from mnlearn.data.dataset import Dataset
from mnlearn.learning.grid_order import Path, Point, Step
from mnlearn.learning.parameters import check_value, convert, public_name
from mnlearn.learning.shares import Part, Shares, Store
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError


@dataclass(frozen=True, eq=False)
class Fitted:
    """A learned model, the processor seconds of each part, and counts and diagnostics."""

    model: Model
    seconds: dict[str, float]
    details: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner is given to learn from.

    grid : values of every hyperparameter, as from `Learner.grid`.
    network : a network learned before, for learners that build on one.
    criterion : scores a model on validation data, higher is better; only if it is fast. A learner
        may stop learning a model that cannot become the best.
    store : where a learner that learns for long may keep its state.
    shares : for a learner that learns variable by variable: whose share this process has.
    """

    train: Dataset
    grid: Mapping[str, list[Any]]
    _: KW_ONLY
    threads: int = 1
    network: DependencyNetwork | None = None
    criterion: Callable[[Model], float] | None = None
    store: Store = field(default_factory=Store)
    shares: Shares = field(default_factory=Shares)


T = TypeVar("T")


class Workspace(Generic[T]):
    """What grid points of a task share: results by key, each with the seconds that it took.

    At most so many are kept; the others are freed before a new one is made.
    """

    def __init__(self, task: Task, most: float = math.inf) -> None:
        self.task, self._most = task, most
        self._kept: dict[Hashable, tuple[T, float]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> tuple[T, float]:
        """Return the result of a key and its seconds; it is made once."""
        if key not in self._kept:
            if len(self._kept) >= self._most:
                self.forget()
            began = self.task.shares.clock()
            made = make()
            self._kept[key] = made, self.task.shares.clock() - began
        return self._kept[key]

    def forget(self) -> None:
        """Free the memory of all results."""
        self._kept.clear()


@dataclass(frozen=True, eq=False, kw_only=True)
class Start:
    """What was learned before a grid point, and may be used to learn at it.

    learner, fitted : the grid point that this one starts at, and its result; None at the first.
    same_features : whether the two points differ in the penalty of the weights only.
    best_score : best score so far of a point with the same features.
    goes_on : whether the two points are one, of which weights were learned in too few iterations.
    iterations : of weight learning that are made now at most.
    """

    learner: "Learner | None" = None
    fitted: Fitted | None = None
    same_features: bool = False
    best_score: float = float("-inf")
    goes_on: bool = False
    iterations: int = sys.maxsize


@dataclass(frozen=True)
class Stage:
    """Hyperparameters chosen together on validation data, and how to learn at one choice.

    parameters : their names; the first is that of the outermost loop of the grid.
    learn : called with the learner, the workspace and, if there is a path, the `Start` of the
        point.
    path : the order of grid points, in which each point starts at the result of another.
    until_worse : the only hyperparameter of the stage, whose values are tried until
        `WORSE_IN_A_ROW` of them have scored lower than the one before.
    split : those of the parameters by which the grid can be shared out to processes, or "all".
    """

    parameters: tuple[str, ...]
    learn: Callable[..., Fitted]
    path: Path | None = None
    until_worse: Step | None = None
    split: tuple[str, ...] | Literal["all"] = ()

    @property
    def split_by(self) -> tuple[str, ...]:
        """Return the parameters by which the grid can be shared out, one by one."""
        return self.parameters if self.split == "all" else self.split

    @property
    def order(self) -> Path | None:
        """The path of the grid points, or the order in which they are tried."""
        return Path(penalty=(self.until_worse,)) if self.until_worse else self.path


class Learner:
    """A learner: its constructor arguments are its hyperparameters.

    A subclass is a dataclass whose fields are declared by `parameter`. The constructor only stores
    values; `choose` and `grid` check them.

    title, citation : name of the learner; paper and section that it follows.
    stages : the stages in which a grid is searched; the last one yields the model.
    formats : suffixes of the files that can hold its models, see `models.io.suffixes`.
    variant : hyperparameters of which a study reports every combination beside the chosen one.
    network : whether it builds on a dependency network that was learned before.
    criterion : the score in `scoring.metrics` that compares its models on validation data.
    by_variable : whether `learn_share` shares its variables out to processes.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    stages: ClassVar[tuple[Stage, ...]]
    formats: ClassVar[tuple[str, ...]]
    variant: ClassVar[tuple[str, ...]] = ()
    network: ClassVar[Literal["none", "optional", "required"]] = "none"
    criterion: ClassVar[str] = "pll"
    by_variable: ClassVar[bool] = False

    @staticmethod
    def prepare(task: Task) -> Any:
        """Return the workspace in which grid points share what they have in common."""
        return task

    @classmethod
    def learn_share(cls, task: Task) -> None:
        """Learn this process's share of the variables, which `task.shares` keeps."""

    @classmethod
    def first(cls, task: Task) -> Self:
        """Return the learner with the first value of each hyperparameter of the grid."""
        return cls.choose({name: values[0] for name, values in task.grid.items()})

    @classmethod
    def fields(cls) -> dict[str, dataclasses.Field]:
        """Return the dataclass field of every hyperparameter by its name."""
        return {public_name(field): field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of every hyperparameter."""
        return {name: field.default for name, field in cls.fields().items()}

    @classmethod
    def seeds(cls, seed: int) -> dict[str, int]:
        """Return a seed as the value of every hyperparameter that is one."""
        fields = {name: one for name, one in cls.fields().items() if name.endswith("_seed")}
        for one in fields.values():
            check_value(one, seed)
        return dict.fromkeys(fields, seed)

    @classmethod
    def choose(cls, values: Mapping[str, Any]) -> Self:
        """Return the learner with the given values, which are checked."""
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
        """Refuse a network that is missing, not used by the learner, or of other variables."""
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
        """Return the distinct values of every hyperparameter, defaults where `chosen` has none."""
        grid = {name: [value] for name, value in cls.defaults().items()}
        tunable = {name for stage in cls.stages for name in stage.parameters}
        fields, types_of = cls.fields(), typing.get_type_hints(cls)
        for name, values in chosen.items():
            if name not in grid:
                raise InputError(f"expected one of {', '.join(grid)}.", where=f"parameter {name}")
            listed = list(values) if isinstance(values, list | tuple) else [values]
            if not listed:
                raise InputError("expected at least one value.", where=f"parameter {name}")
            if len(listed) > 1 and name not in tunable:
                raise InputError("expected one value, it is not tuned.", where=f"parameter {name}")
            converted = [convert(name, value, types_of[fields[name].name]) for value in listed]
            grid[name] = list(dict.fromkeys(converted))
        for name, values in grid.items():
            for value in values:
                check_value(fields[name], value)
        return grid


# How the learning of a grid is shared out to processes: in rounds, one after the other. They find
# what the rounds before have learned in the store of checkpoints.
VARIABLES = "variables"


@dataclass(frozen=True)
class Round:
    """One round of learning: of variables, or of the grid points of a stage.

    n_units : the pieces that the work can be cut into; None: variables.
    """

    name: str
    stage: int | None = None
    n_units: int | None = None

    def n_parts(self, wanted: int) -> int:
        """Return the number of processes of this round if so many are wanted."""
        return wanted if self.n_units is None else min(wanted, self.n_units)


def list_rounds(
    learner: type[Learner], grid: Mapping[str, Sequence[Any]], *, with_network: bool
) -> list[Round]:
    """Return the rounds that come before the search itself; none if it cannot be shared out."""
    rounds = []
    if learner.by_variable and not (with_network and learner.network == "optional"):
        rounds.append(Round(VARIABLES))
    for number, stage in enumerate(learner.stages):
        n_units = math.prod(len(grid[name]) for name in stage.split_by)
        if n_units > 1:
            rounds.append(Round(f"stage{number}", number, n_units))
    return rounds


def own_points(stage: Stage, points: Sequence[Point], part: Part) -> list[Point]:
    """Return the grid points of a stage that one process learns, in their order."""
    split = [stage.parameters.index(name) for name in stage.split_by]
    units = [tuple(point.values[k] for k in split) for point in points]
    number = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
    return [p for p, unit in zip(points, units, strict=True) if part.takes(number[unit])]
