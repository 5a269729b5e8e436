"""DN2MN: a dependency network with probability trees, converted in closed form."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.conversion import Orders, smoothed_marginals, to_markov_network
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.method import Fitted, Method, Stage, parameter
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.methods.dn_tree import TreeWorkspace, prepare
from mnlearn.methods.dn_tree import learn as learn_trees
from mnlearn.models.dependency_network import DependencyNetwork

BASES = ("marginals", "uniform", "examples")
ORDERS = ("one", "pair", "rotations", "both-rotations")


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dn2mn`."""

    base: str = parameter("marginals", f"base distribution: {', '.join(BASES)}")
    orders: str = parameter("both-rotations", f"orders averaged over: {', '.join(ORDERS)}")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("base", BASES), ("orders", ORDERS)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"parameter {name}: expected one of {', '.join(known)}, "
                    f"got {getattr(self, name)!r}."
                )


def learn(workspace: TreeWorkspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the Markov network of the trees at one kappa (Lowd 2012, Sections 4 and 5)."""
    fitted = learn_trees(workspace, parameters, None)
    assert isinstance(fitted.model, DependencyNetwork)
    train = workspace.train
    began = time.perf_counter()
    bases: dict[str, NDArray[np.float64] | Dataset] = {
        "marginals": smoothed_marginals(train),
        "uniform": np.full(train.n_vars, 0.5),
        "examples": train,
    }
    orders = Orders(
        np.arange(train.n_vars),
        rotations=parameters.orders in ("rotations", "both-rotations"),
        reverse=parameters.orders in ("pair", "both-rotations"),
    )
    network = to_markov_network(fitted.model, bases[parameters.base], orders)
    seconds = {**fitted.seconds, "weights": time.perf_counter() - began}
    return Fitted(network, seconds, fitted.details)


METHOD = Method(
    title="DN2MN of probability trees",
    source="Lowd 2012",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn_trees), Stage(("base", "orders"), learn)),
)
