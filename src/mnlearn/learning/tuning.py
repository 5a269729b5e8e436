"""Choosing hyperparameters on validation data, stage by stage."""

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.grid_order import WORSE_IN_A_ROW, Point, is_falling, order_points
from mnlearn.learning.learner import Fitted, Learner, Round, Stage, Start, Task, own_points
from mnlearn.learning.shares import Part, Shares
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say


@dataclass(frozen=True, eq=False)
class Candidate:
    """One grid point; `rank` is its place in the order of learning. The score may be NaN."""

    parameters: dict[str, Any]
    fitted: Fitted
    score: float
    rank: int

    @property
    def is_open(self) -> bool:
        """Whether more iterations of weight learning are needed, and allowed."""
        ended = self.fitted.details.get("stopped_by")
        return ended in ("iterations", "behind") and self.left > 0

    @property
    def left(self) -> float:
        """Iterations of weight learning that its hyperparameters allow beyond those made."""
        most = self.parameters.get("max_iterations", math.inf)
        return float(most - self.fitted.details["n_iterations"])

    def can_reach(self, n_examples: float) -> float:
        """Estimate the score at the optimum, at most: it gains no more than the objective falls."""
        may_fall = self.fitted.details["may_fall"]
        return math.inf if may_fall < 0 else self.score + may_fall / n_examples


# Scores of grid points that differ by less than this, in nats per example, are equal: learned
# weights are not more exact, and sums of counts round far below the smaller one.
EQUAL_WEIGHTS, EQUAL_COUNTS = 1e-4, 1e-9


def best_of(candidates: Sequence[Candidate], equal: float) -> Candidate:
    """Return the candidate of the best score; of equals, the one that is learned first.

    It has the stronger prior, or the smaller of two sets of features.
    """
    highest = max(candidates, key=lambda one: one.score).score
    # Without a criterion there is one candidate, and its score is not a number.
    equals = [one for one in candidates if not one.score < highest - equal]
    return min(equals, key=lambda one: one.rank)


def join(before: Fitted, after: Fitted) -> Fitted:
    """Return the result of going on, with the seconds and iterations of both parts."""
    details = dict(after.details)
    for name in ("n_iterations", "n_evaluations", "n_searches"):
        if name in details:
            details[name] += before.details[name]
    seconds = dict(after.seconds)
    seconds["weights"] += before.seconds["weights"]
    return replace(after, seconds=seconds, details=details)


def best_variants(
    names: Sequence[str], candidates: Sequence[Candidate], equal: float
) -> dict[str, Candidate]:
    """Return the best candidate of each combination of values of hyperparameters; none without."""
    variants: dict[str, list[Candidate]] = {}
    for candidate in candidates if names else ():
        name = "-".join(str(candidate.parameters[key]) for key in names)
        variants.setdefault(name, []).append(candidate)
    return {name: best_of(members, equal) for name, members in variants.items()}


# Iterations of weight learning after which the points of a family are compared.
FIRST_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class Tuned:
    """The outcome of a grid search.

    variants : the best candidate by the values of variant hyperparameters, joined with hyphens.
    trace : one row for each grid point that was tried. tuning_seconds : with those from
        checkpoints.
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
    **more: Any,
) -> Tuned:
    """Learn at every point of the grid and choose by the criterion; see `Search`."""
    return Search(learner, train, grid, criterion, **more).run()


@dataclass(eq=False)
class Search:
    """A search of a grid, stage by stage: values chosen in one stage are fixed in the next.

    criterion : may be None if the grid has a single point. last_criterion : used instead of it in
        the stage that yields the model. n_parts : processes that the variables are shared out to.
        left_out : points of the grid that are not tried, see `order_points`.
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
    left_out: Sequence[Mapping[str, Any]] = ()

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
        equal = search.equal
        best = best_of(candidates, equal)
        return Tuned(best, best_variants(self.learner.variant, candidates, equal), trace, seconds)

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
            search = _StageSearch(self, number, workspace, measure, chosen)
            yield search
            chosen = best_of(search.candidates, search.equal).parameters

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
    """The search of one stage; `chosen` has the values of the hyperparameters of other stages."""

    search: Search
    number: int
    workspace: Any
    measure: Criterion | None
    chosen: Mapping[str, Any]
    seconds: float = 0.0
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def stage(self) -> Stage:
        return self.search.learner.stages[self.number]

    @property
    def equal(self) -> float:
        """Scores that differ by no more than this are equal."""
        return EQUAL_COUNTS if self.stage.path is None else EQUAL_WEIGHTS

    def run(self, grid: Mapping[str, list[Any]], part: Part | None = None) -> list[Candidate]:
        """Learn at the points, or those of a part; return the candidates in their order."""
        stage = self.stage
        points = order_points(stage.parameters, grid, stage.order, self.search.left_out)
        ranks = {point.place: rank for rank, point in enumerate(points)}
        done: dict[int, Candidate] = {}
        chosen = points if part is None else own_points(stage, points, part)
        for _, family in itertools.groupby(chosen, key=lambda point: point.family):
            members = list(family)
            for point in members:
                if stage.until_worse and is_falling([one.score for one in done.values()]):
                    say(f"each of {WORSE_IN_A_ROW} values was worse than before; no more tried")
                    break
                scores = [done[each.place].score for each in members if each.place in done]
                start = self._start_of(point, done, max(scores, default=-math.inf))
                if len(points) == 1:
                    start = replace(start, iterations=sys.maxsize)
                done[point.place] = self._learn(point, start, ranks[point.place])
            if self.measure is not None and stage.path is not None:
                self._finish(members, done)
        self.candidates = [done[place] for place in sorted(done)]
        return self.candidates

    def _start_of(self, point: Point, done: Mapping[int, Candidate], best_score: float) -> Start:
        start = Start(best_score=best_score, iterations=FIRST_ITERATIONS)
        # The point to start at may be left out.
        if (before := done.get(-1 if point.start is None else point.start)) is None:
            return start
        return replace(
            start,
            learner=self.search.learner.choose(before.parameters),
            fitted=before.fitted,
            same_features=point.same_features,
        )

    def _finish(self, family: Sequence[Point], done: dict[int, Candidate]) -> None:
        """Go on with each point of a family, of the same features, that may become its best."""
        while True:
            best = max(done[point.place].score for point in family)
            may_win = [
                point
                for point in family
                if (one := done[point.place]).is_open
                and one.can_reach(self.search.train.n_examples) >= best
            ]
            if not may_win:
                return
            point = max(may_win, key=lambda point: done[point.place].score)
            one = done[point.place]
            others = (done[each.place].score for each in family if each is not point)
            start = Start(
                learner=self.search.learner.choose(one.parameters),
                fitted=one.fitted,
                same_features=True,
                best_score=max(others, default=-math.inf),
                goes_on=True,
                iterations=int(min(one.fitted.details["n_iterations"], one.left)),
            )
            done[point.place] = self._learn(point, start, one.rank)

    def _learn(self, point: Point, start: Start, rank: int) -> Candidate:
        """Learn at a point, or go on with it."""
        stage = self.stage
        values = dict(zip(stage.parameters, point.values, strict=True))
        parameters = {**self.chosen, **values}
        one = self.search.learner.choose(parameters)
        given = () if stage.path is None else (start,)
        key = {"stage": self.number, **parameters}
        if start.goes_on:
            key["iterations of weights"] = start.iterations
        fitted, spent = self.search.checkpoints.fit(
            key, lambda: stage.learn(one, self.workspace, *given)
        )
        score, seconds = self._score(key, fitted.model)
        self.seconds += spent + seconds
        if start.goes_on and start.fitted is not None:
            fitted = join(start.fitted, fitted)
        outcome = f"validation {score:.4f}" if self.measure else "learned"
        say(f"{', '.join(f'{name} {value}' for name, value in values.items())}: {outcome}")
        return Candidate(parameters, fitted, score, rank)

    def _score(self, key: Mapping[str, Any], model: Model) -> tuple[float, float]:
        """Return the score of a grid point, from disk if it was finished before; its seconds."""
        if self.measure is None:
            return math.nan, 0.0
        measure = self.measure

        def work() -> list[float | str]:
            began = time.process_time()
            # As text, because JSON has no infinities.
            return [repr(float(measure(model))), time.process_time() - began]

        score, seconds = self.search.checkpoints.record({"score": dict(key)}, work)
        return float(score), float(seconds)


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
