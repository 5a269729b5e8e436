"""Dependency networks with L1-penalised logistic regressions."""

import time
from dataclasses import dataclass, field

from mnlearn.data.dataset import Dataset
from mnlearn.learning.logistic import TOLERANCE, LogisticPath, learn_logistic_path
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks

INTERCEPTS = ("free", "penalised")


@dataclass(frozen=True)
class Parameters:
    """Parameters of `dn_lr`."""

    lambda_: float = parameter(10.0, "L1 penalty on the weights, against the loss of all examples")
    intercept: str = parameter("free", f"whether it is penalised, too: {', '.join(INTERCEPTS)}")
    gap: float = parameter(TOLERANCE, "duality gap to stop at, share of the best constant's loss")

    def __post_init__(self) -> None:
        check_range("lambda", self.lambda_, 1e-6, 1e15)
        check_range("gap", self.gap, 1e-9, 1.0)
        if self.intercept not in INTERCEPTS:
            raise InputError(
                f"parameter intercept: expected one of {', '.join(INTERCEPTS)}, "
                f"got {self.intercept!r}."
            )


@dataclass
class LogisticWorkspace:
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
            path = learn_logistic_path(self.train, self.penalties, free, gap, self.threads)
            self.paths[key] = path, time.perf_counter() - began
        return self.paths[key]


def prepare(task: Task) -> LogisticWorkspace:
    """Return a workspace for all penalties of the grid."""
    return LogisticWorkspace(task.train, task.grid["lambda"], task.threads)


def learn(workspace: LogisticWorkspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the dependency network of one penalty (Lowd 2012, Section 6.2)."""
    path, seconds = workspace.path(parameters.intercept, parameters.gap)
    k = path.place(parameters.lambda_)
    loss = path.constant_loss.sum()
    return Fitted(
        path.network(parameters.lambda_),
        {"structure": seconds},
        {
            "n_coefficients": int(path.coefficient[k].nnz),
            "gap": float(path.gap[k].sum() / loss) if loss else 0.0,
        },
    )


METHOD = Method(
    title="Dependency network, logistic regressions",
    source="Lowd 2012, Section 6.2; Ravikumar et al. 2010",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("lambda",), learn),),
    scorer=networks,
)
