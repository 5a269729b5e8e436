"""Mixtures of trees and of circuits, with exact marginals."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.learning.learner import Fitted, Learner, Stage, Task, Workspace
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.learning.parameters import parameter
from mnlearn.learning.tree_mixtures import TreeMixture, learn_circuit_mixture, learn_tree_mixture
from mnlearn.methods.acmn import ACMN
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import mixture_circuit
from mnlearn.models.io import suffixes
from mnlearn.runtime.random_streams import stream_seed

BASES = ("chow_liu", "lem", "acmn")


@dataclass(frozen=True, eq=False)
class LearnedMixture:
    """One mixture, and how it was learned; n_iterations : of EM. seconds : of the processor."""

    circuit: ArithmeticCircuit
    n_components: int
    n_iterations: int
    seconds: float


@dataclass(eq=False, kw_only=True)
class Mixture(Learner):
    """Mixture of Chow-Liu trees, or of circuits that start from its components."""

    base: str = parameter("chow_liu", "what the components are", choices=BASES)
    n_components: int = parameter(
        10,
        "components at first; those that become empty are dropped",
        low=1,
        high=1e4,
    )
    n_mixtures: int = parameter(
        1, "mixtures that are learned from other starts; the model is their mean", low=1, high=1e4
    )
    prior: float = parameter(
        4.0,
        "examples like all data that are added to each Chow-Liu tree",
        low=1e-3,
        high=1e9,
    )
    max_iterations: int = parameter(100, "iterations of EM at most", low=1, high=1e6)
    tolerance: float = parameter(
        1e-3,
        "EM ends when an iteration gains less, in nats per example",
        low=0,
        high=1e9,
    )
    mixture_seed: int = parameter(
        20, "seed of the first components and of draws", low=0, high=2**63
    )
    rounds: int = parameter(
        1, "of `lem` and `acmn`: how often the circuits are learned", low=1, high=1e4
    )
    delta: float = parameter(
        LemSettings.delta, "of `lem`: threshold of shared information, in nats", low=0, high=1e9
    )
    max_edges: int = parameter(
        10_000, "of `acmn`: edges of each circuit at most", low=1, high=2**31 - 1
    )

    def learn_first(self, workspace: Workspace) -> Fitted:
        """Return the first of the mixtures, by which the other hyperparameters are chosen."""
        return self._learn(workspace, 1)

    def learn(self, workspace: Workspace) -> Fitted:
        return self._learn(workspace, self.n_mixtures)

    def _learn(self, workspace: Workspace, n_mixtures: int) -> Fitted:
        key, task = self.values_but("n_mixtures"), workspace.task
        found: list[LearnedMixture] = workspace.get(key, list)[0]
        found += [self.learn_mixture(task, b) for b in range(len(found), n_mixtures)]
        found = found[:n_mixtures]
        began = time.process_time()
        parts = [one.circuit for one in found]
        log_share = np.full(n_mixtures, -np.log(n_mixtures))
        model = parts[0] if n_mixtures == 1 else mixture_circuit(parts, log_share)
        seconds = sum(one.seconds for one in found) + time.process_time() - began
        details = {
            "n_edges": model.n_edges,
            "n_components": sum(one.n_components for one in found),
            "n_iterations": sum(one.n_iterations for one in found),
        }
        return Fitted(model, {"structure": seconds, "weights": 0.0}, details)

    def learn_mixture(self, task: Task, number: int) -> LearnedMixture:
        """Return one of the mixtures; they differ by the shares they start from, and by draws."""
        began = time.process_time()
        trees = learn_tree_mixture(
            task.train,
            self.n_components,
            prior=self.prior,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            seed=stream_seed(self.mixture_seed, "mixture", str(number)),
            criterion=task.criterion,
            threads=task.threads,
        )
        circuit = self._circuit(task, trees, number)
        seconds = time.process_time() - began
        return LearnedMixture(circuit, len(trees.share), len(trees.objective), seconds)

    def _circuit(self, task: Task, trees: TreeMixture, number: int) -> ArithmeticCircuit:
        if self.base == "chow_liu":
            return trees.circuit()
        base: dict[str, Callable[[Dataset], ArithmeticCircuit]] = {
            "lem": self._learn_lem,
            "acmn": self._learn_acmn,
        }
        return learn_circuit_mixture(
            task.train,
            trees.log_probabilities(task.train, task.threads),
            base[self.base],
            rounds=self.rounds,
            seed=stream_seed(self.mixture_seed, "draws", str(number)),
            threads=task.threads,
        )

    def _learn_lem(self, data: Dataset) -> ArithmeticCircuit:
        return learn_feature_tree(data, LemSettings(delta=self.delta)).to_circuit()

    def _learn_acmn(self, data: Dataset) -> ArithmeticCircuit:
        learner = ACMN(max_edges=self.max_edges)
        task = Task(data, learner.grid({"max_edges": [self.max_edges]}))
        model = learner.learn(learner.prepare(task)).model
        assert isinstance(model, ArithmeticCircuit)
        return model

    prepare = staticmethod(partial(Workspace, most=1))
    title = "Mixture"
    citation = "Meila & Jordan 2000"
    stages = (
        Stage(
            (
                *("base", "n_components", "prior", "max_iterations", "tolerance"),
                *("mixture_seed", "rounds", "delta", "max_edges"),
            ),
            learn_first,
            split="all",
        ),
        Stage(("n_mixtures",), learn),
    )
    formats = suffixes.HIDDEN
    criterion = "ll"
