"""ACBN: a Bayesian network with tree CPDs and the circuit that computes it (LearnAC)."""

from dataclasses import dataclass

from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitLearner, EdgeBudgets
from mnlearn.learning.learner import Fitted, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


class Workspace:
    """The growth that is under way."""

    def __init__(self, task: Task) -> None:
        self.train = task.train
        self.budgets: EdgeBudgets[BayesGrowth] = EdgeBudgets(task)


@dataclass(eq=False, kw_only=True)
class ACBN(CircuitLearner):
    """Bayesian network with tree CPDs, and the circuit that computes it."""

    pseudocount: float = parameter(
        0.5, "added to the count of each value at a leaf", low=1e-9, high=1e9
    )

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the circuit of a budget of edges."""
        return workspace.budgets.fit(
            lambda: BayesGrowth(workspace.train, self.pseudocount), self, self.pseudocount
        )

    prepare = staticmethod(Workspace)
    title = "ACBN"
    citation = "Lowd & Domingos 2008, Section 4"
    stages = (
        Stage(
            ("pseudocount", "search", "split_cost", "edge_cost", "max_edges"),
            learn,
            split=("pseudocount", "search", "split_cost", "edge_cost"),
        ),
    )
    formats = suffixes.CIRCUIT_OF_CPDS
    variant = ("max_edges",)
    criterion = "ll"
