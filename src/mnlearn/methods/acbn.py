"""ACBN: a Bayesian network with tree CPDs and the circuit that computes it (LearnAC)."""

from dataclasses import dataclass

from mnlearn.bayes_growth import BayesGrowth
from mnlearn.circuit_growth import EdgeBudgets
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter


@dataclass(frozen=True)
class Parameters:
    """Parameters of `acbn`."""

    pseudocount: float = parameter(0.5, "added to the count of each value at a leaf")
    split_cost: float = parameter(2.0, "nats of log-likelihood that a split must gain")
    edge_cost: float = parameter(
        0.1, "nats that each new edge must gain at first; halved when nothing gains that much"
    )
    max_edges: int = parameter(100_000, "edges of the circuit at most")
    max_seconds: float | None = parameter(None, "seconds to grow the circuit at most, or none")

    def __post_init__(self) -> None:
        check_range("pseudocount", self.pseudocount, 1e-9, 1e9)
        check_range("split_cost", self.split_cost, -1e9, 1e9)
        check_range("edge_cost", self.edge_cost, 0, 1e9)
        check_range("max_edges", self.max_edges, 1, 2**31 - 1)
        if self.max_seconds is not None:
            check_range("max_seconds", self.max_seconds, 0, 1e9)


class Workspace:
    """The growth that is under way."""

    def __init__(self, task: Task) -> None:
        self.train = task.train
        self.budgets: EdgeBudgets[BayesGrowth] = EdgeBudgets(task)


def learn(work: Workspace, p: Parameters, _warm: Fitted | None) -> Fitted:
    """Return the circuit of a budget of edges."""
    return work.budgets.fitted(lambda: BayesGrowth(work.train, p.pseudocount), p, p.pseudocount)


METHOD = Method(
    title="ACBN",
    source="Lowd & Domingos 2008, Section 4",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("pseudocount", "split_cost", "edge_cost", "max_edges"), learn),),
    criterion="ll",
)
