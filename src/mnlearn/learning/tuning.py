"""Choosing hyperparameters on validation data, stage by stage."""

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.score import Groups, Scorer
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.grid_order import order_points
from mnlearn.learning.learner import Fitted, Learner, Start, Task
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.native import Model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say

# So many grid points in a row, each worse than the one before, end a stage that may end early.
WORSE_IN_A_ROW = 3


@dataclass(frozen=True, eq=False)
class Candidate:
    """One grid point: its hyperparameters, its result, and its validation score.

    score : higher is better; NaN without a criterion.
    """

    parameters: dict[str, Any]
    fitted: Fitted
    score: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """The outcome of a grid search.

    Attributes
    ----------
    best : Candidate
        The candidate chosen.
    variants : dict
        The best candidate of each combination of values of the learner's variant hyperparameters.
        The keys are the values joined with hyphens.
    trace : list of dict
        One row for each grid point that was tried, in the order of the grid.
    tuning_seconds : float
        Seconds spent on all grid points, including those restored from checkpoints.
    """

    best: Candidate
    variants: dict[str, Candidate]
    trace: list[dict[str, Any]]
    tuning_seconds: float


Criterion = Callable[[Model], float]


def validation_score(learner: type[Learner], valid: Dataset, threads: int = 1) -> Criterion:
    """Return the learner's own criterion, a mean over validation data."""
    score = {"pll": learner.scorer.pll, "ll": learner.scorer.ll}[learner.criterion]
    return lambda model: score(model, valid, threads).mean


def validation_cmll(
    scorer: Scorer,
    valid: Dataset,
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Criterion:
    """Return the conditional marginal log-likelihood on validation data as a criterion."""
    return lambda model: (
        scorer.cmll(model, valid, groups, inference, seed=seed, threads=threads).mean
    )


def tune(
    learner: type[Learner],
    train: Dataset,
    grid: Mapping[str, list[Any]],
    criterion: Criterion | None,
    *,
    threads: int = 1,
    checkpoints: Checkpoints | None = None,
    last_criterion: Criterion | None = None,
    network: DependencyNetwork | None = None,
) -> Tuned:
    """Learn at every point of the grid and choose by the criterion; the first of equals wins.

    Parameters
    ----------
    learner : type of Learner
        Its stages are searched in order. Values chosen in one stage are fixed in the next.
    train : Dataset
        The training data.
    grid : mapping
        Values of every hyperparameter, as from `Learner.grid`.
    criterion : callable or None
        Scores a model, higher is better. May be None if the grid has a single point.
    threads : int
        Threads that learning may use.
    checkpoints : Checkpoints, optional
        Where finished grid points are kept.
    last_criterion : callable, optional
        Used instead of `criterion` in the last stage, the one that yields the model.
    network : DependencyNetwork, optional
        Given to a learner that builds on one.

    Raises
    ------
    InputError
        Several points have no criterion, or the learner needs a network or has no use for one.
    """
    kept = checkpoints or Checkpoints(None)
    _check_criteria(learner, grid, criterion, last_criterion)
    learner.check_network(network, train.n_vars)
    judge = None if last_criterion else criterion
    workspace = learner.prepare(
        Task(train, grid, threads=threads, network=network, criterion=judge, store=kept)
    )
    chosen = {name: values[0] for name, values in grid.items()}
    trace: list[dict[str, Any]] = []
    candidates: list[Candidate] = []
    seconds = 0.0
    for number, stage in enumerate(learner.stages):
        last = number == len(learner.stages) - 1
        if not last and all(len(grid[name]) == 1 for name in stage.parameters):
            continue
        measure = (last_criterion or criterion) if last else criterion
        search = _StageSearch(learner, number, workspace, kept, measure=measure, chosen=chosen)
        candidates = search.run(grid)
        seconds += search.seconds
        trace += [_trace_row(number, each) for each in candidates]
        chosen = max(candidates, key=lambda c: c.score).parameters
    best = max(candidates, key=lambda c: c.score)
    return Tuned(best, _best_variants(learner, candidates), trace, seconds)


def _check_criteria(
    learner: type[Learner],
    grid: Mapping[str, list[Any]],
    criterion: Criterion | None,
    last_criterion: Criterion | None,
) -> None:
    """Refuse a stage with several points and nothing that compares them."""
    for number, stage in enumerate(learner.stages):
        last = number == len(learner.stages) - 1
        several = [name for name in stage.parameters if len(grid[name]) > 1]
        if several and ((last_criterion if last else None) or criterion) is None:
            raise InputError(
                f"criterion: expected one that chooses between the values of {', '.join(several)}."
            )


@dataclass(eq=False)
class _StageSearch:
    """The search of one stage.

    chosen : values of the hyperparameters of other stages. seconds : of all points so far.
    """

    learner: type[Learner]
    number: int
    workspace: Any
    checkpoints: Checkpoints
    _: KW_ONLY
    measure: Criterion | None
    chosen: Mapping[str, Any]
    seconds: float = 0.0

    def run(self, grid: Mapping[str, list[Any]]) -> list[Candidate]:
        """Learn at the points; return the candidates in the order of the grid."""
        stage = self.learner.stages[self.number]
        done: dict[int, Candidate] = {}
        best: dict[tuple[Any, ...], float] = {}
        for point in order_points(stage.parameters, grid, stage.order):
            if stage.until_worse and _is_falling([one.score for one in done.values()]):
                say(f"each of {WORSE_IN_A_ROW} values was worse than the one before; no more tried")
                break
            values = dict(zip(stage.parameters, point.values, strict=True))
            start = Start(best_score=best.get(point.family, -math.inf))
            if point.start is not None:
                before = done[point.start]
                start = replace(
                    start,
                    learner=self.learner.choose(before.parameters),
                    fitted=before.fitted,
                    score=before.score,
                    same_features=point.same_features,
                )
            candidate = self._learn({**self.chosen, **values}, start)
            done[point.place] = candidate
            if candidate.score > best.get(point.family, -math.inf):
                best[point.family] = candidate.score
            outcome = f"validation {candidate.score:.4f}" if self.measure else "learned"
            say(f"{', '.join(f'{name} {value}' for name, value in values.items())}: {outcome}")
        return [done[place] for place in sorted(done)]

    def _learn(self, parameters: dict[str, Any], start: Start) -> Candidate:
        stage = self.learner.stages[self.number]
        one = self.learner.choose(parameters)
        given = () if stage.path is None else (start,)
        fitted, spent = self.checkpoints.fit(
            {"stage": self.number, **parameters}, lambda: stage.learn(one, self.workspace, *given)
        )
        began = time.perf_counter()
        score = self.measure(fitted.model) if self.measure else math.nan
        self.seconds += spent + time.perf_counter() - began
        return Candidate(parameters, fitted, score)


def _is_falling(scores: Sequence[float]) -> bool:
    """Tell whether each of the last `WORSE_IN_A_ROW` scores is lower than the one before."""
    last = scores[-WORSE_IN_A_ROW - 1 :]
    return len(last) > WORSE_IN_A_ROW and all(b < a for a, b in itertools.pairwise(last))


def _best_variants(learner: type[Learner], candidates: list[Candidate]) -> dict[str, Candidate]:
    """Return the best candidate of each variant; the first of equals."""
    variants: dict[str, Candidate] = {}
    for candidate in candidates if learner.variant else ():
        name = "-".join(str(candidate.parameters[key]) for key in learner.variant)
        if name not in variants or candidate.score > variants[name].score:
            variants[name] = candidate
    return variants


def _trace_row(stage: int, candidate: Candidate) -> dict[str, Any]:
    fitted = candidate.fitted
    # Sorted by name, because a checkpoint returns them sorted.
    details = dict(sorted(fitted.details.items()))
    return {
        "stage": stage,
        **candidate.parameters,
        **size(fitted.model),
        **details,
        "seconds_weights": round(fitted.seconds.get("weights", 0.0), 4),
        "validation": candidate.score,
    }


def size(model: Model) -> dict[str, float]:
    """Return the number and mean length of a model's features with weights other than 0."""
    if isinstance(model, BayesianNetwork):
        return {"n_features": int(model.trees.is_leaf.sum())}
    if isinstance(model, DependencyNetwork):
        return {"n_features": model.trees.n_informative_leaves + len(model.features)}
    if isinstance(model, FeatureTree):
        return {"n_features": model.n_leaves}
    if isinstance(model, JunctionTree):
        return {"n_features": len(model.log_prob)}
    if isinstance(model, HiddenTree):
        return {"n_features": model.n_parameters}
    if isinstance(model, ArithmeticCircuit) and model.features is None:
        return {"n_features": len(model.weight)}
    assert model.features is not None
    length = model.features.length[model.weight != 0]
    return {
        "n_features": len(length),
        "mean_length": float(np.round(length.mean(), 6)) if len(length) else 0.0,
    }
