"""Choosing hyperparameters on validation data, stage by stage."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.grid_order import WORSE_IN_A_ROW, is_falling, order_points
from mnlearn.learning.learner import Fitted, Learner, Start, Task
from mnlearn.learning.rounds import Round, own_points
from mnlearn.learning.shares import Part, Shares
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say


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

    The arguments are the fields of `Search`.
    """
    return Search(
        learner,
        train,
        grid,
        criterion,
        threads=threads,
        checkpoints=checkpoints or Checkpoints(None),
        last_criterion=last_criterion,
        network=network,
    ).run()


@dataclass(eq=False)
class Search:
    """A search of a grid: what is learned from, and how grid points are compared.

    Attributes
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
    checkpoints : Checkpoints
        Where finished grid points are kept.
    last_criterion : callable, optional
        Used instead of `criterion` in the last stage, the one that yields the model.
    network : DependencyNetwork, optional
        Given to a learner that builds on one.
    n_parts : int
        The number of processes that the variables are shared out to.

    Raises
    ------
    InputError
        Several points have no criterion, or the learner needs a network or has no use for one.
    """

    learner: type[Learner]
    train: Dataset
    grid: Mapping[str, list[Any]]
    criterion: Criterion | None
    _: KW_ONLY
    threads: int = 1
    checkpoints: Checkpoints = field(default_factory=lambda: Checkpoints(None))
    last_criterion: Criterion | None = None
    network: DependencyNetwork | None = None
    n_parts: int = 1

    def __post_init__(self) -> None:
        _check_criteria(self.learner, self.grid, self.criterion, self.last_criterion)
        self.learner.check_network(self.network, self.train.n_vars)

    def run(self) -> Tuned:
        """Learn at every point of the grid and choose by the criterion."""
        trace: list[dict[str, Any]] = []
        candidates: list[Candidate] = []
        seconds = 0.0
        for search in self._stages():
            candidates = search.run(self.grid)
            seconds += search.seconds
            trace += [_trace_row(search.number, each) for each in candidates]
        best = max(candidates, key=lambda c: c.score)
        return Tuned(best, _best_variants(self.learner, candidates), trace, seconds)

    def run_part(self, round_: Round, part: Part) -> None:
        """Do the work of one process in a round, and keep it in the checkpoints."""
        if round_.stage is None:
            self.learner.learn_share(self._task(part, self.criterion))
            return
        for search in self._stages():
            if search.number == round_.stage:
                search.run(self.grid, part)
                return
            search.run(self.grid)

    def _stages(self) -> Iterator["_StageSearch"]:
        """Yield the search of each stage; it has to run before the next one is asked for."""
        last = len(self.learner.stages) - 1
        workspace = self.learner.prepare(
            self._task(None, None if self.last_criterion else self.criterion)
        )
        chosen = {name: values[0] for name, values in self.grid.items()}
        for number, stage in enumerate(self.learner.stages):
            if number != last and all(len(self.grid[name]) == 1 for name in stage.parameters):
                continue
            measure = (self.last_criterion or self.criterion) if number == last else self.criterion
            search = _StageSearch(
                self.learner, number, workspace, self.checkpoints, measure=measure, chosen=chosen
            )
            yield search
            chosen = max(search.candidates, key=lambda c: c.score).parameters

    def _task(self, own: Part | None, judge: Criterion | None) -> Task:
        return Task(
            self.train,
            self.grid,
            threads=self.threads,
            network=self.network,
            criterion=judge,
            store=self.checkpoints,
            shares=Shares(self.checkpoints, self.n_parts, own),
        )


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
    candidates : the points learned, in the order of the grid.
    """

    learner: type[Learner]
    number: int
    workspace: Any
    checkpoints: Checkpoints
    _: KW_ONLY
    measure: Criterion | None
    chosen: Mapping[str, Any]
    seconds: float = 0.0
    candidates: list[Candidate] = field(default_factory=list)

    def run(self, grid: Mapping[str, list[Any]], part: Part | None = None) -> list[Candidate]:
        """Learn at the points, or those of a part; return the candidates in their order."""
        stage = self.learner.stages[self.number]
        done: dict[int, Candidate] = {}
        best: dict[tuple[Any, ...], float] = {}
        points = order_points(stage.parameters, grid, stage.order)
        for point in points if part is None else own_points(stage, points, part):
            if stage.until_worse and is_falling([one.score for one in done.values()]):
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
        self.candidates = [done[place] for place in sorted(done)]
        return self.candidates

    def _learn(self, parameters: dict[str, Any], start: Start) -> Candidate:
        stage = self.learner.stages[self.number]
        one = self.learner.choose(parameters)
        given = () if stage.path is None else (start,)
        fitted, spent = self.checkpoints.fit(
            {"stage": self.number, **parameters}, lambda: stage.learn(one, self.workspace, *given)
        )
        score, seconds = self._score(parameters, fitted.model)
        self.seconds += spent + seconds
        return Candidate(parameters, fitted, score)

    def _score(self, parameters: dict[str, Any], model: Model) -> tuple[float, float]:
        """Return the score of a grid point, from disk if it was finished before; its seconds."""
        if self.measure is None:
            return math.nan, 0.0
        measure = self.measure

        def work() -> list[float | str]:
            began = time.process_time()
            # As text, because JSON has no infinities.
            return [repr(float(measure(model))), time.process_time() - began]

        score, seconds = self.checkpoints.record(
            {"score of stage": self.number, **parameters}, work
        )
        return float(score), float(seconds)


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
        **fitted.model.size(),
        **details,
        "seconds_weights": round(fitted.seconds.get("weights", 0.0), 4),
        "validation": candidate.score,
    }
