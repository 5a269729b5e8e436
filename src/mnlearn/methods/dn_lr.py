"""Dependency networks with L1-penalised logistic regressions."""

from dataclasses import dataclass, field

import numpy as np

from mnlearn.learning.grid_order import falling, is_falling
from mnlearn.learning.learner import Fitted, Learner, Stage, Task, Workspace
from mnlearn.learning.logistic import TOLERANCE, LogisticPath, Regressions
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes

INTERCEPTS = ("free", "penalised")


@dataclass
class GrownPath:
    """The regressions down to the least penalty that was asked for, and the seconds to each."""

    regressions: Regressions
    path: LogisticPath | None = None
    seconds: dict[float, float] = field(default_factory=dict)


class PenaltyPaths(Workspace[GrownPath]):
    """Logistic regressions for the penalties of a grid, learned down to where they are needed.

    Those of each penalty start at those of the next greater one of the grid.
    """

    def path(self, intercept: str, gap: float, penalty: float) -> tuple[LogisticPath, float]:
        """Return the path down to a penalty or further, and the seconds down to it."""
        task, total = self.task, 0.0
        shared = Regressions(task.train, intercept == "free")
        own, _ = self.get((intercept, gap), lambda: GrownPath(shared))
        for following in sorted(task.grid["lambda"], reverse=True):
            if following not in own.seconds:
                began = task.shares.clock()
                own.path = own.regressions.all_paths(
                    np.array([following]), gap, after=own.path, threads=task.threads,
                    shares=task.shares,
                )  # fmt: skip
                own.seconds[following] = total + task.shares.clock() - began
            total = own.seconds[following]
            if following == penalty:
                break
        assert own.path is not None
        return own.path, total


@dataclass(eq=False, kw_only=True)
class LogisticLearner(Learner):
    """The hyperparameters of every learner that learns logistic regressions."""

    lambda_: float = parameter(
        10.0, "L1 penalty on the weights, against the loss of all examples", low=1e-6, high=1e15
    )
    intercept: str = parameter("free", "whether it is penalised, too", choices=INTERCEPTS)
    gap: float = parameter(
        TOLERANCE, "duality gap to stop at, share of the best constant's loss", low=1e-9, high=1.0
    )

    by_variable = True

    @classmethod
    def learn_share(cls, task: Task) -> None:
        learner, paths = cls.first(task), PenaltyPaths(task)
        ends_early = cls.stages[0].until_worse is not None and task.criterion is not None
        scores: list[float] = []
        for penalty in sorted(task.grid["lambda"], reverse=True):
            path, _ = paths.path(learner.intercept, learner.gap, penalty)
            if ends_early:
                assert task.criterion is not None
                scores.append(task.criterion(path.network(penalty)))
            if is_falling(scores):
                break


@dataclass(eq=False, kw_only=True)
class DNLR(LogisticLearner):
    """Dependency network whose CPDs are logistic regressions."""

    def learn(self, paths: PenaltyPaths) -> Fitted:
        """Return the dependency network of one penalty (Lowd 2012, Section 6.2)."""
        path, seconds = paths.path(self.intercept, self.gap, self.lambda_)
        k = path.place(self.lambda_)
        loss = path.constant_loss.sum()
        return Fitted(
            path.network(self.lambda_),
            {"structure": seconds},
            {
                "n_coefficients": int(path.coefficient[k].nnz),
                "gap": float(path.gap[k].sum() / loss) if loss else 0.0,
            },
        )

    prepare = staticmethod(PenaltyPaths)
    title = "Dependency network, logistic regressions"
    citation = "Lowd 2012, Section 6.2; Ravikumar et al. 2010"
    stages = (Stage(("lambda",), learn, until_worse=falling("lambda")),)
    formats = suffixes.DEPENDENCY_NETWORK
