"""DTSL: features read off probability trees, weighted by pseudo-likelihood."""

import time
from dataclasses import dataclass

from mnlearn.errors import InputError
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.methods.dn_tree import TreeWorkspace
from mnlearn.methods.dn_tree import learn as learn_trees
from mnlearn.methods.dn_tree import prepare as prepare_trees
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_features import FEATURE_MODES, tree_features
from mnlearn.pseudo_likelihood import PseudoLikelihood, pseudo_likelihood
from mnlearn.weight_learning import MAX_ITERATIONS, Penalty, learn_weights


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dtsl`."""

    feature_mode: str = parameter("prune", f"features of a tree: {', '.join(FEATURE_MODES)}")
    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(0.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_mode not in FEATURE_MODES:
            raise InputError(
                f"parameter feature_mode: expected one of {', '.join(FEATURE_MODES)}, "
                f"got {self.feature_mode!r}."
            )
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)


@dataclass
class Workspace:
    """The trees, and the features and their arrangement that were used last."""

    trees: TreeWorkspace
    key: tuple[float, float, float, str] | None = None
    features: FeatureSet | None = None
    likelihood: PseudoLikelihood | None = None

    def arranged(self, parameters: Parameters) -> tuple[FeatureSet, PseudoLikelihood]:
        """Return the features of the trees at `parameters`, arranged for weight learning."""
        key = (
            parameters.kappa,
            parameters.min_leaf_examples,
            parameters.pseudocount,
            parameters.feature_mode,
        )
        if self.key != key or self.features is None or self.likelihood is None:
            # Two arrangements together could be more than memory holds.
            self.likelihood = None
            trees, _ = self.trees.trees(parameters)
            self.features = tree_features(trees, parameters.feature_mode)
            self.likelihood = pseudo_likelihood(self.features, self.trees.train, self.trees.threads)
            self.key = key
        return self.features, self.likelihood


def prepare(task: Task) -> Workspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    return Workspace(prepare_trees(task))


def learn_structure(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the trees alone, as a dependency network: kappa is chosen by their log-loss."""
    return learn_trees(workspace.trees, parameters, warm)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the Markov network of one feature mode and weight prior."""
    train = workspace.trees.train
    _, structure_seconds = workspace.trees.trees(parameters)
    began = time.perf_counter()
    features, likelihood = workspace.arranged(parameters)
    arranged_seconds = time.perf_counter() - began
    initial = None
    if warm is not None and isinstance(warm.model, MarkovNetwork):
        initial = warm.model.weight
    learned = learn_weights(
        likelihood, Penalty(parameters.sd, parameters.l1), initial, parameters.max_iterations
    )
    return Fitted(
        MarkovNetwork(train.n_vars, features, learned.weight, train.names),
        {"structure": structure_seconds, "weights": arranged_seconds + learned.seconds},
        {"n_pairs": likelihood.n_pairs, **learned.summary()},
    )


METHOD = Method(
    title="DTSL",
    source="Lowd & Davis 2010",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn_structure), Stage(("feature_mode", "l1", "sd"), learn)),
    variant=("feature_mode",),
)
