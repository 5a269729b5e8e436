"""Bagged feature trees and junction trees: mixtures with exact marginals."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.learning.junction_trees.search import SearchSettings, learn_junction_tree
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.learning.parameters import parameter
from mnlearn.models.circuit_building import mixture_circuit
from mnlearn.models.io import suffixes
from mnlearn.models.model import Model
from mnlearn.runtime.random_streams import stream


@dataclass(eq=False, kw_only=True)
class TreeBag(Learner):
    """The mean of the distributions of trees that are learned from bootstrap samples."""

    base: str = parameter("lem", "what the trees are", choices=("lem", "junction_tree"))
    n_bags: int = parameter(20, "bootstrap samples that trees are learned from", low=1, high=1e6)
    bag_seed: int = parameter(20, "seed of the bootstrap samples", low=0, high=2**63)
    delta: float = parameter(
        LemSettings.delta, "of `lem`: threshold of shared information, in nats", low=0, high=1e9
    )
    treewidth: int = parameter(
        SearchSettings.treewidth,
        "of `junction_tree`: cliques have at most one variable more",
        low=1,
        high=3,
    )
    pseudocount: float = parameter(1.0, "added to every count", low=1e-9, high=1e9)

    def learn(self, task: Task) -> Fitted:
        began = time.process_time()
        rng = stream(self.bag_seed, "bagging")
        trees = [self._tree(task.train.resample(rng)) for _ in range(self.n_bags)]
        learned = time.process_time()
        log_share = np.full(self.n_bags, -np.log(self.n_bags))
        model = mixture_circuit([tree.to_circuit() for tree in trees], log_share)
        seconds = {"structure": learned - began, "weights": time.process_time() - learned}
        return Fitted(model, seconds, {"n_edges": model.n_edges})

    def _tree(self, sample: Dataset) -> Model:
        """Return the tree of one sample; junction trees are greedy ones."""
        if self.base == "lem":
            settings = LemSettings(delta=self.delta, pseudocount=self.pseudocount)
            return learn_feature_tree(sample, settings)
        return learn_junction_tree(
            sample, SearchSettings(self.treewidth, "greedy"), self.pseudocount
        )

    title = "Bagged trees"
    citation = "for comparison; Breiman 1996"
    stages = (Stage(("base", "delta", "treewidth", "pseudocount"), learn, split="all"),)
    formats = suffixes.HIDDEN
    criterion = "ll"
