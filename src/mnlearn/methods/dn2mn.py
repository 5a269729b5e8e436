"""DN2MN: a dependency network, given or of probability trees, converted in closed form."""

import time
from dataclasses import dataclass

from mnlearn.learning.conversion import (
    BASES,
    ORDERS,
    choose_base,
    choose_orders,
    consistency_gap,
    cpd_features,
    to_markov_network,
)
from mnlearn.learning.learner import Fitted, Stage, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.trees import TreePath
from mnlearn.methods.dn_tree import TreeLearner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io import suffixes

KAPPA_BY = ("source", "converted")


@dataclass(eq=False, kw_only=True)
class DN2MN(TreeLearner):
    """Markov network converted from a dependency network (Lowd 2012).

    The hyperparameters of trees have no effect if a network is given.
    """

    base: str = parameter("marginals", "base distribution", choices=BASES)
    orders: str = parameter("both-rotations", "orders averaged over", choices=ORDERS)
    max_length: int = parameter(
        8, "longest CPD features that orders=all averages exactly", low=1, high=20
    )
    kappa_by: str = parameter("source", "network that kappa is chosen by", choices=KAPPA_BY)

    def learn_source(self, workspace: Workspace) -> Fitted:
        """Return the network by whose validation score kappa is chosen."""
        return self.learn(workspace) if self.kappa_by == "converted" else self._source(workspace)

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the Markov network of a dependency network (Lowd 2012, Sections 4 and 5)."""
        source = self._source(workspace)
        assert isinstance(source.model, DependencyNetwork)
        train = workspace.task.train
        began = time.process_time()
        network = to_markov_network(
            source.model,
            choose_base(self.base, train),
            choose_orders(self.orders, train.n_vars, self.max_length),
        )
        seconds = {**source.seconds, "weights": time.process_time() - began}
        threads = workspace.task.threads
        details = {
            **source.details,
            "n_cpd_literals": len(cpd_features(source.model)[0].var),
            "consistency_gap": consistency_gap(source.model, network, train, threads),
        }
        return Fitted(network, seconds, details)

    def _source(self, workspace: Workspace) -> Fitted:
        given = workspace.task.network
        return self.learn_trees(workspace) if given is None else Fitted(given, {}, {})

    prepare = staticmethod(Workspace[TreePath])
    title = "DN2MN"
    citation = "Lowd 2012"
    stages = (Stage(("kappa",), learn_source), Stage(("base", "orders"), learn, split="all"))
    formats = suffixes.NETWORK
    variant = ("base", "orders")
    network = "optional"
