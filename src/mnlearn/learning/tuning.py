"""Choosing hyperparameters on validation data, stage by stage."""

import itertools
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Groups, Scorer
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.method import Fitted, Method, Stage, Task
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io.native import Model
from mnlearn.runtime.progress import say


@dataclass(frozen=True, eq=False)
class Candidate:
    """One grid point: its parameters, model, what learning it took, and the validation score.

    score : higher is better; NaN without a criterion.
    """

    parameters: dict[str, Any]
    fitted: Fitted
    score: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """The outcome of a grid search.

    best : the candidate chosen. variants : the best candidate of each combination of values of
    the method's variant parameters, the values joined by hyphens. trace : one row per grid point
    visited, in order.
    tuning_seconds : time spent on all grid points, those restored from checkpoints included.
    """

    best: Candidate
    variants: dict[str, Candidate]
    trace: list[dict[str, Any]]
    tuning_seconds: float


Criterion = Callable[[Model], float]


def validation_score(method: Method, valid: Dataset, threads: int = 1) -> Criterion:
    """Return the method's own criterion, a mean over validation data."""
    score = {"pll": method.scorer.pll, "ll": method.scorer.ll}[method.criterion]
    return lambda model: score(model, valid, threads).mean


def validation_cmll(
    scorer: Scorer,
    valid: Dataset,
    groups: Groups,
    inference: Inference,
    seed: int,
    threads: int = 1,
) -> Criterion:
    """Return the conditional marginal log-likelihood on validation data as a criterion."""
    return lambda model: (
        scorer.cmll(model, valid, groups, inference, seed=seed, threads=threads).mean
    )


def tune(
    method: Method,
    train: Dataset,
    grid: Mapping[str, list[Any]],
    criterion: Criterion | None,
    threads: int = 1,
    checkpoints: Checkpoints | None = None,
    last_criterion: Criterion | None = None,
    network: DependencyNetwork | None = None,
) -> Tuned:
    """Learn at every point of the grid and choose by the criterion; the first of equals wins.

    grid : values of every parameter, as from `Method.grid`. Stages are searched in order, with
        the values chosen in one stage fixed in the next.
    criterion : higher is better. May be None if the grid has a single point.
    last_criterion : used instead in the last stage, the one that yields the model.
    network : what a method that builds on a dependency network is given.

    Raises
    ------
    InputError
        The method needs a network that is not given, or has no use for the one that is.
    """
    kept = checkpoints or Checkpoints(None)
    method.check_network(network, train.n_vars)
    judge = None if last_criterion else criterion
    workspace = method.prepare(Task(train, grid, threads, network, judge, kept))
    chosen = {name: values[0] for name, values in grid.items()}
    trace: list[dict[str, Any]] = []
    candidates: list[Candidate] = []
    seconds = 0.0
    for number, stage in enumerate(method.stages):
        last = number == len(method.stages) - 1
        if not last and all(len(grid[name]) == 1 for name in stage.parameters):
            continue
        candidates = []
        measure = (last_criterion or criterion) if last else criterion
        previous: Fitted | None = None
        for values, warm in _points(stage, grid):
            parameters = {**chosen, **dict(zip(stage.parameters, values, strict=True))}
            key = {"stage": number, **parameters}
            previous, spent = kept.fitted(
                key, _work(method, stage, workspace, parameters, previous if warm else None)
            )
            began = time.perf_counter()
            score = measure(previous.model) if measure else math.nan
            seconds += spent + time.perf_counter() - began
            candidates.append(Candidate(parameters, previous, score))
            trace.append(_trace_row(number, parameters, previous, score))
            outcome = f"validation {score:.4f}" if measure else "learned"
            say(f"{_text(parameters, stage)}: {outcome}")
        chosen = max(candidates, key=lambda c: c.score).parameters
    best = max(candidates, key=lambda c: c.score)
    variants: dict[str, Candidate] = {}
    if method.variant:
        for candidate in candidates:
            name = "-".join(str(candidate.parameters[key]) for key in method.variant)
            if name not in variants or candidate.score > variants[name].score:
                variants[name] = candidate
    return Tuned(best, variants, trace, seconds)


def _points(stage: Stage, grid: Mapping[str, list[Any]]) -> list[tuple[tuple[Any, ...], bool]]:
    """Return the grid points of a stage, and whether each differs only in the last parameter."""
    points = list(itertools.product(*(grid[name] for name in stage.parameters)))
    return [(point, i > 0 and point[:-1] == points[i - 1][:-1]) for i, point in enumerate(points)]


def _work(
    method: Method, stage: Stage, workspace: Any, parameters: dict[str, Any], warm: Fitted | None
) -> Callable[[], Fitted]:
    return lambda: stage.learn(workspace, method.choose(parameters), warm)


def _text(parameters: dict[str, Any], stage: Stage) -> str:
    return ", ".join(f"{name} {parameters[name]}" for name in stage.parameters)


def _trace_row(
    stage: int, parameters: dict[str, Any], fitted: Fitted, score: float
) -> dict[str, Any]:
    # In the order of their names, in which a checkpoint returns them too.
    details = dict(sorted(fitted.details.items()))
    return {
        "stage": stage,
        **parameters,
        **size(fitted.model),
        **details,
        "seconds_weights": round(fitted.seconds.get("weights", 0.0), 4),
        "validation": score,
    }


def size(model: Model) -> dict[str, float]:
    """Return the number and mean length of a model's features with weights other than 0."""
    if isinstance(model, BayesianNetwork):
        return {"n_features": int(model.trees.is_leaf.sum())}
    if isinstance(model, DependencyNetwork):
        return {"n_features": model.trees.n_informative_leaves + len(model.features)}
    if isinstance(model, ArithmeticCircuit) and model.features is None:
        return {"n_features": len(model.weight)}
    assert model.features is not None
    length = model.features.length[model.weight != 0]
    return {
        "n_features": len(length),
        "mean_length": float(np.round(length.mean(), 6)) if len(length) else 0.0,
    }
