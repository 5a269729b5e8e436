"""The estimators of all learners; `make readme` writes this file."""

from typing import Any

from mnlearn.api.learner_estimators import LearnerEstimator

class ACBN(LearnerEstimator):
    """Bayesian network with tree CPDs, and the circuit that computes it."""

    def __init__(
        self,
        *,
        split_cost: float = 2.0,
        edge_cost: float = 10.0,
        max_edges: int = 100000,
        search: str = "quick",
        max_seconds: float | None = None,
        pseudocount: float = 0.5,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class ACMN(LearnerEstimator):
    """Markov network with conjunctive features, and the circuit that computes it."""

    def __init__(
        self,
        *,
        split_cost: float = 2.0,
        edge_cost: float = 10.0,
        max_edges: int = 100000,
        search: str = "quick",
        max_seconds: float | None = None,
        sd: float | None = 1.0,
        l1: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Atomic(LearnerEstimator):
    """The product of smoothed marginals as a network of atomic features."""

    def __init__(
        self,
        *,
        pseudocount: float = 0.5,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class BLM(LearnerEstimator):
    """Markov network of features found bottom-up (Davis & Domingos 2010)."""

    def __init__(
        self,
        *,
        initial: str = "positive",
        price: float = 1.0,
        neighbours: int = 10,
        search_sd: float = 1.0,
        search_l1: float = 5.0,
        max_passes: int = 20,
        sd: float | None = 1.0,
        l1: float = 1.0,
        max_iterations: int = 10000,
        search_seed: int = 20,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class ChowLiu(LearnerEstimator):
    """The tree of most mutual information, as a circuit."""

    def __init__(
        self,
        *,
        pseudocount: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DN2MN(LearnerEstimator):
    """Markov network converted from a dependency network (Lowd 2012)."""

    def __init__(
        self,
        *,
        kappa: float = 0.01,
        min_leaf_examples: float = 0.0,
        pseudocount: float = 1.0,
        base: str = "marginals",
        orders: str = "both-rotations",
        max_length: int = 8,
        kappa_by: str = "source",
        network: Any = None,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DNBag(LearnerEstimator):
    """Dependency network whose CPDs are geometric means of trees of bootstrap samples."""

    def __init__(
        self,
        *,
        kappa: float = 0.01,
        min_leaf_examples: float = 0.0,
        pseudocount: float = 1.0,
        n_bags: int = 10,
        bag_seed: int = 20,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DNBoost(LearnerEstimator):
    """Dependency network whose CPDs are sums of trees, each fitted to what the others leave."""

    def __init__(
        self,
        *,
        n_rounds: int = 100,
        max_depth: int = 4,
        rate: float = 0.1,
        leaf_penalty: float = 1.0,
        min_curvature: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DNLR(LearnerEstimator):
    """Dependency network whose CPDs are logistic regressions."""

    def __init__(
        self,
        *,
        lambda_: float = 10.0,
        intercept: str = "free",
        gap: float = 1e-05,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DNMixed(LearnerEstimator):
    """Dependency network whose CPDs are geometric means of trees and a given network."""

    def __init__(
        self,
        *,
        kappa: float = 0.01,
        min_leaf_examples: float = 0.0,
        pseudocount: float = 1.0,
        share: float = 0.5,
        network: Any = None,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DNTree(LearnerEstimator):
    """Dependency network whose CPDs are probability trees."""

    def __init__(
        self,
        *,
        kappa: float = 0.01,
        min_leaf_examples: float = 0.0,
        pseudocount: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DTSL(LearnerEstimator):
    """Markov network of the features of probability trees (Lowd & Davis 2010)."""

    def __init__(
        self,
        *,
        kappa: float = 0.01,
        min_leaf_examples: float = 0.0,
        pseudocount: float = 1.0,
        feature_mode: str = "prune",
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int = 10000,
        stopping: str = "gap",
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class DellaPietra(LearnerEstimator):
    """Markov network of induced features (Della Pietra, Della Pietra & Lafferty 1997)."""

    def __init__(
        self,
        *,
        objective: str = "pseudo_likelihood",
        min_gain: float = 10.0,
        min_support: float = 1.0,
        expectations: str = "gibbs",
        chains: int = 10000,
        sweeps: int = 5,
        search: str = "quick",
        max_features: int | None = None,
        max_seconds: float | None = None,
        search_sd: float | None = 1.0,
        search_l1: float = 0.0,
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int = 10000,
        search_seed: int = 20,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class GSSL(LearnerEstimator):
    """Markov network of features generated at random (Van Haaren & Davis 2012)."""

    def __init__(
        self,
        *,
        initial: str = "positive",
        n_generated: int = 500000,
        threshold: int = 1,
        sd: float | None = 0.5,
        l1: float = 5.0,
        max_iterations: int = 10000,
        stopping: str = "gap",
        generation_seed: int = 20,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class HCLT(LearnerEstimator):
    """Chow-Liu tree of hidden variables with several values, each with one observed variable."""

    def __init__(
        self,
        *,
        n_states: int = 64,
        pseudocount: float = 1.0,
        batch_rows: int = 1024,
        batch_epochs: int = 20,
        max_iterations: int = 100,
        tolerance: float = 1e-05,
        patience: int = 3,
        holdout: float = 0.1,
        em_seed: int = 20,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class JunctionTree(LearnerEstimator):
    """Junction tree of bounded treewidth."""

    def __init__(
        self,
        *,
        treewidth: int = 2,
        search: str = "lpac",
        threshold: float = 0.0,
        subset_size: int = 2,
        pseudocount: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class L1(LearnerEstimator):
    """Pairwise Markov network of neighbourhoods (Ravikumar, Wainwright & Lafferty 2010)."""

    def __init__(
        self,
        *,
        lambda_: float = 10.0,
        intercept: str = "free",
        gap: float = 1e-05,
        merge: str = "or",
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int = 10000,
        stopping: str = "gap",
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LEM(LearnerEstimator):
    """Feature tree: features divide the examples, and the variables fall apart."""

    def __init__(
        self,
        *,
        delta: float = 0.05,
        subset_size: int = 3,
        max_feature_length: int = 3,
        search: str = "greedy",
        side_score: str = "joint",
        small_side: str = "one-block",
        min_rows: int = 10,
        pseudocount: float = 1.0,
        bias_correction: bool = False,
        table_below: int = 5,
        similar: float = 0.0,
        balance: bool = True,
        literals: str = "positive",
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LTM(LearnerEstimator):
    """A tree of observed and hidden variables with as many states each."""

    def __init__(
        self,
        *,
        grouping: str = "joining",
        pseudocount: float = 1.0,
        trial_iterations: int = 20,
        max_iterations: int = 100,
        tolerance: float = 1e-05,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class LW(LearnerEstimator):
    """Markov network of the features of a dependency network, its weights learned."""

    def __init__(
        self,
        *,
        features: str = "cpds",
        start: str = "previous",
        stopping: str = "gap",
        sd: float | None = 1.0,
        l1: float = 0.0,
        max_iterations: int = 10000,
        network: Any = None,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class Mixture(LearnerEstimator):
    """Mixture of Chow-Liu trees, or of circuits that start from its components."""

    def __init__(
        self,
        *,
        base: str = "chow_liu",
        n_components: int = 10,
        n_mixtures: int = 1,
        prior: float = 4.0,
        max_iterations: int = 100,
        tolerance: float = 0.001,
        mixture_seed: int = 20,
        rounds: int = 1,
        delta: float = 0.05,
        max_edges: int = 10000,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...

class TreeBag(LearnerEstimator):
    """The mean of the distributions of trees that are learned from bootstrap samples."""

    def __init__(
        self,
        *,
        base: str = "lem",
        n_bags: int = 20,
        bag_seed: int = 20,
        delta: float = 0.05,
        treewidth: int = 2,
        pseudocount: float = 1.0,
        missing: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
