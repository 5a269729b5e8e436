"""ACBN: a Bayesian network with tree CPDs and the circuit that computes it (LearnAC)."""

from dataclasses import dataclass

from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitLearner, EdgeBudgets
from mnlearn.learning.learner import Fitted, Stage
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class ACBN(CircuitLearner):
    """Bayesian network with tree CPDs, and the circuit that computes it."""

    pseudocount: float = parameter(
        0.5, "added to the count of each value at a leaf", low=1e-9, high=1e9
    )

    def learn(self, budgets: EdgeBudgets) -> Fitted:
        return budgets.fit(
            lambda: BayesGrowth(budgets.task.train, self.pseudocount), self, self.pseudocount
        )

    prepare = staticmethod(EdgeBudgets)
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
