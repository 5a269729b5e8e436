"""GSSL: features by random generalisation of examples, selected by how often they are generated."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.features.generation import INITIAL, NestedFeatures, generate_features
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS
from mnlearn.learning.weights.paths import WeightPaths
from mnlearn.learning.weights.rewritten_likelihood import Likelihood, likelihood_of
from mnlearn.learning.weights.screening import ScreenedWeights
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks


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


@dataclass(frozen=True, eq=False)
class Generated:
    """The features of one initial set for the whole grid, arranged once.

    nested : features of the longest run and lowest threshold. seconds : of generating them.
    n_unique : how many distinct ones are generated, by the length of the run.
    roots : what was learned first of each run and threshold.
    """

    nested: NestedFeatures
    likelihood: Likelihood
    seconds: float
    n_unique: dict[int, int]
    roots: dict[tuple[int, int], ScreenedWeights] = field(default_factory=dict)


class Workspace:
    """The features that were generated last, and the weights of those of one run and threshold.

    The first weights of a run and threshold begin at those of fewer features: of the next higher
    threshold, under the highest of the next shorter run.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.generated: tuple[tuple[str, int], Generated] | None = None
        self.paths: tuple[Parameters, WeightPaths] | None = None

    def run(self, p: Parameters) -> Generated:
        """Return the features of one initial set for the whole grid."""
        key = p.initial, p.generation_seed
        if self.generated is None or self.generated[0] != key:
            self.generated = self.paths = None  # Two of them could be more than memory holds.
            began = time.perf_counter()
            grid, train = self.task.grid, self.task.train
            n_generated = max(grid["n_generated"])
            run = generate_features(train, n_generated, *key)
            seconds = time.perf_counter() - began
            nested = run.nested(n_generated, min(grid["threshold"]))
            likelihood = likelihood_of(nested.features, train, self.task.threads)
            n_unique = {n: len(run.distinct(n)[0]) for n in grid["n_generated"]}
            self.generated = key, Generated(nested, likelihood, seconds, n_unique)
        return self.generated[1]

    def weight_paths(self, p: Parameters) -> WeightPaths:
        """Return the weights of the features of one run and threshold."""
        key = replace(p, sd=None, l1=0.0)
        if self.paths is None or self.paths[0] != key:
            fewer = self._fewer(p)
            initial = None if fewer is None else self._root(fewer)
            generated = self.run(p)
            began = time.perf_counter()
            member = generated.nested.members(p.n_generated, p.threshold)
            features = generated.nested.features.select(member)
            likelihood = generated.likelihood.restricted(member)
            arranged = time.perf_counter() - began
            self.paths = (
                key,
                WeightPaths(
                    self.task,
                    features,
                    likelihood,
                    p.max_iterations,
                    None if initial is None else initial[member],
                    arranged,
                ),
            )
            root = generated.roots.get((p.n_generated, p.threshold))
            if root is not None:
                self.paths[1].learned[self.paths[1].strongest()] = root
        return self.paths[1]

    def _root(self, p: Parameters) -> NDArray[np.float64]:
        """Return the weights that are learned first, of all features of the longest run."""
        generated, key = self.run(p), (p.n_generated, p.threshold)
        if key not in generated.roots:
            paths = self.weight_paths(p)
            generated.roots[key] = paths.weights(paths.strongest())
        weight = np.zeros(len(generated.nested.features))
        weight[generated.nested.members(*key)] = generated.roots[key].weight
        return weight

    def _fewer(self, p: Parameters) -> Parameters | None:
        grid = self.task.grid
        thresholds, runs = sorted(grid["threshold"], reverse=True), sorted(grid["n_generated"])
        place = thresholds.index(p.threshold)
        if place > 0:
            return replace(p, threshold=thresholds[place - 1])
        place = runs.index(p.n_generated)
        return replace(p, n_generated=runs[place - 1]) if place > 0 else None


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of one feature set and weight prior (Van Haaren & Davis 2012).

    `warm` is not used: see `Workspace`.
    """
    generated = workspace.run(parameters)
    paths = workspace.weight_paths(parameters)
    fitted = paths.fitted(Penalty(parameters.sd, parameters.l1), generated.seconds)
    details = {"n_unique": generated.n_unique[parameters.n_generated], **fitted.details}
    return replace(fitted, details=details)


METHOD = Method(
    title="GSSL",
    source="Van Haaren & Davis 2012",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("initial", "n_generated", "threshold", "l1", "sd"), learn),),
    scorer=networks,
    variant=("initial", "n_generated", "threshold"),
)
