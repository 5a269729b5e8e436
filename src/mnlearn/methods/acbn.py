"""ACBN: a Bayesian network with tree CPDs and the circuit that computes it (LearnAC)."""

from dataclasses import dataclass

from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import EdgeBudgets, Prices
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.scoring import circuits


@dataclass(frozen=True)
class Parameters(Prices):
    """Parameters of `acbn`."""

    pseudocount: float = parameter(0.5, "added to the count of each value at a leaf")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("pseudocount", self.pseudocount, 1e-9, 1e9)


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
    stages=(Stage(("pseudocount", "search", "split_cost", "edge_cost", "max_edges"), learn),),
    scorer=circuits,
    variant=("max_edges",),
    criterion="ll",
)
