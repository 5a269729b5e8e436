"""DN2MN: a dependency network, given or of probability trees, converted in closed form."""

import time
from dataclasses import dataclass

from mnlearn.learning.conversion import (
    BASES,
    ORDERS,
    base_named,
    consistency_gap,
    cpd_features,
    orders_named,
    to_markov_network,
)
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.methods.dn_tree import TreeWorkspace
from mnlearn.methods.dn_tree import learn as learn_trees
from mnlearn.methods.dn_tree import prepare as prepare_trees
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks

KAPPA_BY = ("source", "converted")


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dn2mn`; those of trees have no effect if a network is given."""

    base: str = parameter("marginals", f"base distribution: {', '.join(BASES)}")
    orders: str = parameter("both-rotations", f"orders averaged over: {', '.join(ORDERS)}")
    max_length: int = parameter(8, "longest CPD features that orders=all averages exactly")
    kappa_by: str = parameter("source", f"network that kappa is chosen by: {', '.join(KAPPA_BY)}")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("base", BASES), ("orders", ORDERS), ("kappa_by", KAPPA_BY)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"parameter {name}: expected one of {', '.join(known)}, "
                    f"got {getattr(self, name)!r}."
                )
        check_range("max_length", self.max_length, 1, 20)


@dataclass
class Workspace:
    """The network to convert, or the trees to grow it from."""

    trees: TreeWorkspace
    network: DependencyNetwork | None


def prepare(task: Task) -> Workspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    return Workspace(prepare_trees(task), task.network)


def learn_source(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network by whose validation score kappa is chosen."""
    if parameters.kappa_by == "converted":
        return learn(workspace, parameters, warm)
    return _source(workspace, parameters)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the Markov network of a dependency network (Lowd 2012, Sections 4 and 5)."""
    source = _source(workspace, parameters)
    assert isinstance(source.model, DependencyNetwork)
    train = workspace.trees.train
    began = time.perf_counter()
    network = to_markov_network(
        source.model,
        base_named(parameters.base, train),
        orders_named(parameters.orders, train.n_vars, parameters.max_length),
    )
    seconds = {**source.seconds, "weights": time.perf_counter() - began}
    details = {
        **source.details,
        "n_cpd_literals": len(cpd_features(source.model)[0].var),
        "consistency_gap": consistency_gap(source.model, network, train, workspace.trees.threads),
    }
    return Fitted(network, seconds, details)


def _source(workspace: Workspace, parameters: Parameters) -> Fitted:
    if workspace.network is not None:
        return Fitted(workspace.network, {}, {})
    return learn_trees(workspace.trees, parameters, None)


METHOD = Method(
    title="DN2MN",
    source="Lowd 2012",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn_source), Stage(("base", "orders"), learn)),
    scorer=networks,
    variant=("base", "orders"),
    network="optional",
)
