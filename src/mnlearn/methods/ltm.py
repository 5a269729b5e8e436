"""Latent tree models: trees of observed and hidden binary variables."""

import time
from dataclasses import dataclass

from mnlearn.learning.latent_trees.search import GROUPINGS, learn_latent_tree
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import circuits


@dataclass(frozen=True)
class Parameters:
    """Parameters of `ltm`."""

    grouping: str = parameter(
        "joining", "how trees behind distances are found: joining (of neighbours) or recursive"
    )
    pseudocount: float = parameter(1.0, "added to each cell of the table of each edge")
    trial_iterations: int = parameter(20, "iterations of EM before a change of the tree is judged")
    max_iterations: int = parameter(100, "iterations of EM on the tree chosen")
    tolerance: float = parameter(1e-5, "EM stops at smaller relative gains in log-likelihood")

    def __post_init__(self) -> None:
        if self.grouping not in GROUPINGS:
            raise InputError(
                f"parameter grouping: expected one of {', '.join(GROUPINGS)}, "
                f"got {self.grouping!r}."
            )
        check_range("pseudocount", self.pseudocount, 1e-9, 1e9)
        check_range("trial_iterations", self.trial_iterations, 1, 1e6)
        check_range("max_iterations", self.max_iterations, 1, 1e6)
        check_range("tolerance", self.tolerance, 0, 1)


def learn(task: Task, p: Parameters, _warm: Fitted | None) -> Fitted:
    """Return the latent tree as a circuit."""
    began = time.monotonic()
    tree = learn_latent_tree(
        task.train, p.grouping, p.pseudocount, p.trial_iterations, p.max_iterations, p.tolerance
    )
    model = tree.circuit(task.train.names)
    seconds = {"structure": time.monotonic() - began, "weights": 0.0}
    details = {
        "n_edges": model.n_edges,
        "n_hidden": tree.n_hidden,
        "log_likelihood": tree.log_likelihood,
    }
    return Fitted(model, seconds, details)


METHOD = Method(
    title="LTM",
    source="Choi, Tan, Anandkumar & Willsky 2011, Sections 4 and 5",
    parameters=Parameters,
    prepare=lambda task: task,
    stages=(Stage(("grouping", "pseudocount"), learn),),
    scorer=circuits,
    criterion="ll",
)
