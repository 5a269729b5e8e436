"""ACMN: a Markov network with arbitrary conjunctive features and the circuit that computes it."""

from dataclasses import dataclass

from mnlearn.learning.circuits.growth import EdgeBudgets, Prices
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.method import Fitted, Method, Stage, Task, parameter
from mnlearn.learning.penalty import Penalty
from mnlearn.scoring import circuits


@dataclass(frozen=True)
class Parameters(Prices):
    """Parameters of `acmn`."""

    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(1.0, "L1 penalty on the weights")

    def __post_init__(self) -> None:
        super().__post_init__()
        Penalty(self.sd, self.l1)


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
    source="Lowd & Rooshenas 2013, Section 3",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("sd", "l1", "search", "split_cost", "edge_cost", "max_edges"), learn),),
    scorer=circuits,
    variant=("max_edges",),
    criterion="ll",
)
