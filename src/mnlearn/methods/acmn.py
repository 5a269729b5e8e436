"""ACMN: a Markov network with arbitrary conjunctive features and the circuit that computes it."""

from dataclasses import dataclass

from mnlearn.learning.circuits.growth import CircuitLearner, EdgeBudgets
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.learner import Fitted, Stage
from mnlearn.learning.weights.arrangement import l1_penalty, standard_deviation
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class ACMN(CircuitLearner):
    """Markov network with conjunctive features, and the circuit that computes it."""

    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(1.0)

    def learn(self, budgets: EdgeBudgets) -> Fitted:
        penalty = Penalty(self.sd, self.l1)
        return budgets.fit(
            lambda: MarkovGrowth(budgets.task.train, penalty), self, self.sd, self.l1
        )

    prepare = staticmethod(EdgeBudgets)
    title = "ACMN"
    citation = "Lowd & Rooshenas 2013, Section 3"
    stages = (
        Stage(
            ("sd", "l1", "search", "split_cost", "edge_cost", "max_edges"),
            learn,
            split=("sd", "l1", "search", "split_cost", "edge_cost"),
        ),
    )
    formats = suffixes.CIRCUIT_OF_FEATURES
    variant = ("max_edges",)
    criterion = "ll"
