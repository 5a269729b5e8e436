"""ACMN: a Markov network with arbitrary conjunctive features and the circuit that computes it."""

from dataclasses import dataclass

from mnlearn.circuit_growth import EdgeBudgets
from mnlearn.markov_growth import MarkovGrowth
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.weight_learning import Penalty


@dataclass(frozen=True)
class Parameters:
    """Parameters of `acmn`."""

    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(1.0, "L1 penalty on the weights")
    split_cost: float = parameter(2.0, "nats of log-likelihood that a split must gain")
    edge_cost: float = parameter(
        0.1, "nats that each new edge must gain at first; halved when nothing gains that much"
    )
    max_edges: int = parameter(100_000, "edges of the circuit at most")
    max_seconds: float | None = parameter(None, "seconds to grow the circuit at most, or none")

    def __post_init__(self) -> None:
        Penalty(self.sd, self.l1)
        check_range("split_cost", self.split_cost, -1e9, 1e9)
        check_range("edge_cost", self.edge_cost, 0, 1e9)
        check_range("max_edges", self.max_edges, 1, 2**31 - 1)
        if self.max_seconds is not None:
            check_range("max_seconds", self.max_seconds, 0, 1e9)


class Workspace:
    """The growth that is under way."""

    def __init__(self, task: Task) -> None:
        self.train = task.train
        self.budgets: EdgeBudgets[MarkovGrowth] = EdgeBudgets(task)


def learn(work: Workspace, p: Parameters, _warm: Fitted | None) -> Fitted:
    """Return the circuit of a budget of edges, its weights learned to the end."""
    return work.budgets.fitted(lambda: MarkovGrowth(work.train, Penalty(p.sd, p.l1)), p, p.sd, p.l1)


METHOD = Method(
    title="ACMN",
    source="Lowd & Rooshenas 2013, Section 4",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("sd", "l1", "split_cost", "edge_cost", "max_edges"), learn),),
    criterion="ll",
)
