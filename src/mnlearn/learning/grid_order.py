"""The order in which grid points are learned, the point each starts at, and what they share."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# So many grid points in a row, each worse than the one before, end a stage that may end early.
WORSE_IN_A_ROW = 3


@dataclass(frozen=True)
class Step:
    """One hyperparameter along which each point starts at the one before; None: infinity."""

    name: str
    falling: bool


def rising(name: str) -> Step:
    """Take the values of a hyperparameter from the least to the greatest."""
    return Step(name, falling=False)


def falling(name: str) -> Step:
    """Take the values of a hyperparameter from the greatest to the least."""
    return Step(name, falling=True)


@dataclass(frozen=True)
class Path:
    """The hyperparameters along which weights are learned from one grid point to the next.

    A point starts at the point before it along the first of these steps of which it does not have
    the first value. Along `penalty` points have the same features, along `features` a part of them.
    """

    penalty: tuple[Step, ...] = (falling("l1"), rising("sd"))
    features: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, those of the penalty first."""
        return self.penalty + self.features


@dataclass(frozen=True, kw_only=True)
class Point:
    """A grid point; `place` and `start` are places in the product of the values as given."""

    values: tuple[Any, ...]
    place: int
    start: int | None
    same_features: bool
    family: tuple[Any, ...]


def order_points(
    names: Sequence[str],
    grid: Mapping[str, Sequence[Any]],
    path: Path | None,
    left_out: Sequence[Mapping[str, Any]] = (),
) -> list[Point]:
    """List the points of a grid, each after the one it starts at; `names` outermost first.

    left_out : values by name; points that have all the values of one of these are not listed.
    """
    steps = () if path is None else tuple(step for step in path.steps if step.name in names)
    ordered = {step.name: _in_order(grid[step.name], step) for step in steps}
    product = itertools.product(*(grid[name] for name in names))
    places = {values: place for place, values in reversed(list(enumerate(product)))}
    outside = [n for n in names if path is None or n not in {step.name for step in path.penalty}]
    points = []
    for values in itertools.product(*(ordered.get(name, grid[name]) for name in names)):
        point = dict(zip(names, values, strict=True))
        if any(each.items() <= point.items() for each in left_out):
            continue
        start, same_features = None, False
        for step in steps:
            place = ordered[step.name].index(point[step.name])
            if place > 0:
                before = {**point, step.name: ordered[step.name][place - 1]}
                start = places[tuple(before[name] for name in names)]
                same_features = path is not None and step in path.penalty
                break
        family = tuple(point[name] for name in outside)
        points.append(
            Point(
                values=values,
                place=places[values],
                start=start,
                same_features=same_features,
                family=family,
            )
        )
    return points


def _in_order(values: Sequence[Any], step: Step) -> list[Any]:
    def size(value: float | None) -> float:
        return math.inf if value is None else value

    return sorted(values, key=size, reverse=step.falling)


def is_falling(scores: Sequence[float]) -> bool:
    """Tell whether each of the last `WORSE_IN_A_ROW` scores is lower than the one before."""
    last = scores[-WORSE_IN_A_ROW - 1 :]
    return len(last) > WORSE_IN_A_ROW and all(b < a for a, b in itertools.pairwise(last))
