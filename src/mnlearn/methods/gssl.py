"""GSSL: features by random generalisation of examples, selected by how often they are generated."""

import time
from dataclasses import dataclass, field

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.feature_generation import INITIAL, GeneratedFeatures, generate_features
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.pseudo_likelihood import PseudoLikelihood, pseudo_likelihood
from mnlearn.weight_learning import MAX_ITERATIONS, Penalty, learn_weights


@dataclass(frozen=True)
class Parameters:
    """Parameters of `gssl`."""

    initial: str = parameter("positive", f"what examples become at first: {', '.join(INITIAL)}")
    n_generated: int = parameter(500_000, "features to generate")
    threshold: int = parameter(1, "features generated at most this often are dropped")
    sd: float | None = parameter(0.5, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(5.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")
    generation_seed: int = parameter(20, "seed of the generation")

    def __post_init__(self) -> None:
        if self.initial not in INITIAL:
            raise InputError(
                f"parameter initial: expected one of {', '.join(INITIAL)}, got {self.initial!r}."
            )
        check_range("n_generated", self.n_generated, 1, 1e8)
        check_range("threshold", self.threshold, 0, 1e9)
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)
        check_range("generation_seed", self.generation_seed, 0, 2**63)


@dataclass
class Workspace:
    """The longest run of generation of each kind, and the features arranged last."""

    task: Task
    generated: dict[tuple[str, int], tuple[GeneratedFeatures, float]] = field(default_factory=dict)
    key: tuple[str, int, int, int] | None = None
    features: FeatureSet | None = None
    likelihood: PseudoLikelihood | None = None

    @property
    def train(self) -> Dataset:
        """The training data."""
        return self.task.train

    def run(self, parameters: Parameters) -> tuple[GeneratedFeatures, float]:
        """Return the run for the largest number of the grid, and its seconds."""
        key = parameters.initial, parameters.generation_seed
        if key not in self.generated:
            began = time.perf_counter()
            number = max(self.task.grid["n_generated"])
            run = generate_features(self.train, number, *key)
            self.generated[key] = run, time.perf_counter() - began
        return self.generated[key]

    def arranged(self, parameters: Parameters) -> tuple[FeatureSet, PseudoLikelihood]:
        """Return the features that are kept, arranged for weight learning."""
        key = (
            parameters.initial,
            parameters.generation_seed,
            parameters.n_generated,
            parameters.threshold,
        )
        if self.key != key or self.features is None or self.likelihood is None:
            self.likelihood = None  # Two arrangements could be more than memory holds.
            run, _ = self.run(parameters)
            self.features = run.features(parameters.n_generated, parameters.threshold)
            self.likelihood = pseudo_likelihood(self.features, self.train, self.task.threads)
            self.key = key
        return self.features, self.likelihood


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of one feature set and weight prior (Van Haaren & Davis 2012)."""
    _, generation_seconds = workspace.run(parameters)
    began = time.perf_counter()
    features, likelihood = workspace.arranged(parameters)
    arranged_seconds = time.perf_counter() - began
    initial = None
    if warm is not None and isinstance(warm.model, MarkovNetwork):
        initial = warm.model.weight
    penalty = Penalty(parameters.sd, parameters.l1)
    learned = learn_weights(likelihood, penalty, initial, parameters.max_iterations)
    return Fitted(
        MarkovNetwork(workspace.train.n_vars, features, learned.weight, workspace.train.names),
        {"structure": generation_seconds, "weights": arranged_seconds + learned.seconds},
        {"n_candidates": len(features), "n_pairs": likelihood.n_pairs, **learned.summary()},
    )


METHOD = Method(
    title="GSSL",
    source="Van Haaren & Davis 2012",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("initial", "n_generated", "threshold", "l1", "sd"), learn),),
    variant=("initial", "n_generated", "threshold"),
)
