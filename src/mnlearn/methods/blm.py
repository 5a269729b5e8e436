"""BLM: features by bottom-up search, generalising examples to match their neighbours."""

import time
from dataclasses import dataclass, field, replace

from mnlearn.learning.features.bottom_up import BottomUpSearch, search_bottom_up
from mnlearn.learning.features.bottom_up_exact import search_exactly
from mnlearn.learning.features.generation import INITIAL
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS
from mnlearn.learning.weights.paths import WeightPaths, weight_paths
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks

RELEARN = ("pass", "candidate")


@dataclass(frozen=True)
class Parameters:
    """Parameters of `blm`."""

    initial: str = parameter("positive", f"what examples become at first: {', '.join(INITIAL)}")
    price: float = parameter(1.0, "nats that each literal of a feature must gain in the search")
    neighbours: int = parameter(10, "nearest examples that a feature is generalised to match")
    search_sd: float = parameter(1.0, "standard deviation of the weight prior in the search")
    search_l1: float = parameter(5.0, "L1 penalty on the weights in the search")
    max_passes: int = parameter(20, "passes over the features in the search")
    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(1.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")
    relearn: str = parameter(
        "pass", "when all weights are learned anew: after a pass, or for each candidate (slow)"
    )
    search_seed: int = parameter(20, "seed of the order in which the search takes features")

    def __post_init__(self) -> None:
        if self.initial not in INITIAL:
            raise InputError(
                f"parameter initial: expected one of {', '.join(INITIAL)}, got {self.initial!r}."
            )
        if self.relearn not in RELEARN:
            raise InputError(
                f"parameter relearn: expected one of {', '.join(RELEARN)}, got {self.relearn!r}."
            )
        check_range("price", self.price, 0, 1e9)
        check_range("neighbours", self.neighbours, 1, 1e6)
        check_range("max_passes", self.max_passes, 1, 1e6)
        Penalty(self.search_sd, self.search_l1)
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)
        check_range("search_seed", self.search_seed, 0, 2**63)


@dataclass
class Workspace:
    """The searches made so far, and the weights of the features of the last one used."""

    task: Task
    searches: dict[Parameters, tuple[BottomUpSearch, float]] = field(default_factory=dict)
    paths: tuple[Parameters, WeightPaths] | None = None

    def search(self, p: Parameters) -> tuple[BottomUpSearch, float]:
        """Return the outcome of a search, and its seconds."""
        key = replace(p, sd=None, l1=0.0)
        if key not in self.searches:
            began = time.perf_counter()
            found = self._search(p)
            self.searches[key] = found, time.perf_counter() - began
        return self.searches[key]

    def _search(self, p: Parameters) -> BottomUpSearch:
        train, penalty = self.task.train, Penalty(p.search_sd, p.search_l1)
        how = (p.initial, p.neighbours, p.price, p.max_passes, p.search_seed)
        if p.relearn == "candidate":
            return search_exactly(train, penalty, *how)
        return search_bottom_up(train, penalty, *how, threads=self.task.threads)

    def weight_paths(self, p: Parameters) -> WeightPaths:
        """Return the weights of the features of one search."""
        key = replace(p, sd=None, l1=0.0)
        if self.paths is None or self.paths[0] != key:
            self.paths = None  # Two arrangements could be more than memory holds.
            features = self.search(p)[0].features
            began = time.perf_counter()
            self.paths = key, weight_paths(self.task, features, p.max_iterations, began)
        return self.paths[1]


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of one search and weight prior (Davis & Domingos 2010).

    `warm` is not used: see `WeightPaths`.
    """
    search, seconds = workspace.search(parameters)
    fitted = workspace.weight_paths(parameters).fitted(
        Penalty(parameters.sd, parameters.l1), seconds
    )
    details = {"n_passes": len(search.replaced), "n_replaced": sum(search.replaced)}
    return replace(fitted, details={**details, **fitted.details})


METHOD = Method(
    title="BLM",
    source="Davis & Domingos 2010",
    parameters=Parameters,
    prepare=Workspace,
    stages=(Stage(("initial", "price", "l1", "sd"), learn),),
    scorer=networks,
    variant=("initial",),
)
