"""Dependency networks with L1-penalised logistic regressions."""

import time
from dataclasses import dataclass, field
from typing import ClassVar

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Scorer
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.logistic import TOLERANCE, LogisticPath, learn_logistic_path
from mnlearn.learning.parameters import parameter
from mnlearn.scoring import networks

INTERCEPTS = ("free", "penalised")


@dataclass
class Regressions:
    """Logistic regressions for every penalty of a grid, learned once."""

    train: Dataset
    penalties: list[float]
    threads: int
    paths: dict[tuple[str, float], tuple[LogisticPath, float]] = field(default_factory=dict)

    def path(self, intercept: str, gap: float) -> tuple[LogisticPath, float]:
        """Return the path and the seconds it took."""
        key = (intercept, gap)
        if key not in self.paths:
            began = time.perf_counter()
            free = intercept == "free"
            path = learn_logistic_path(self.train, self.penalties, free, gap, threads=self.threads)
            self.paths[key] = path, time.perf_counter() - began
        return self.paths[key]


def regress(task: Task) -> Regressions:
    """Return a workspace for all penalties of the grid."""
    return Regressions(task.train, task.grid["lambda"], task.threads)


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


@dataclass(eq=False, kw_only=True)
class DNLR(LogisticLearner):
    """Dependency network whose CPDs are logistic regressions."""

    def learn(self, regressions: Regressions) -> Fitted:
        """Return the dependency network of one penalty (Lowd 2012, Section 6.2)."""
        path, seconds = regressions.path(self.intercept, self.gap)
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

    prepare = staticmethod(regress)
    title = "Dependency network, logistic regressions"
    citation = "Lowd 2012, Section 6.2; Ravikumar et al. 2010"
    stages = (Stage(("lambda",), learn),)
    scorer: ClassVar[Scorer] = networks
