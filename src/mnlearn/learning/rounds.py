"""How the learning of a grid is shared out to processes: in rounds, one after the other.

They find what the rounds before have learned in the store of checkpoints.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnlearn.learning.grid_order import Point
from mnlearn.learning.learner import Learner, Stage
from mnlearn.learning.shares import Part

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
