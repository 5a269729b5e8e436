"""Scores of a model on data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.inputs import (
    Dataset,
    IncompleteData,
    data_for,
    model_of,
    to_count,
    to_threads,
    to_whole_seed,
    warn_user,
)
from mnlearn.api.settings import (
    SETTINGS,
    Spell,
    annealing_of,
    refusal,
    settings_of,
    spell_argument,
)
from mnlearn.data.incomplete import MISSING
from mnlearn.inference.evidence import find_variable
from mnlearn.inference.plan import LIKELIHOOD, MARGINALS, TooWideError, plan
from mnlearn.inference.query_groups import Groups, random_partition
from mnlearn.inference.score import Score
from mnlearn.inference.settings import ANNEALED, AUTO, EXACT, Annealing, Inference
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED, stream, stream_seed
from mnlearn.scoring.metrics import Metric, Request, find_metric, usual_metric
from mnlearn.variables.schema import Schema

if TYPE_CHECKING:
    from mnlearn.learning.tuning import Criterion

# Query groups of cmll and cll, unless a person asks for others.
FOLDS = 4
# Weights that add up to this have no standard error: 1, and what rounding adds to it.
ALONE = 1 + 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ScoreResult:
    """A score of examples, in nats.

    Attributes
    ----------
    metric : {"pll", "cmll", "cll", "ll"}
        What is scored.
    mean : float
        Mean over examples; minus infinity if an example has probability 0.
    stderr : float
        Standard error of the mean, over the draw of examples; NaN if the mean is minus infinity, or
        if the weights of the examples add up to 1 at most.
    per_example : ndarray of float64, shape (n_samples,)
        Score of each example; NaN for an example that is not scored, because its weight is 0 or
        `missing="drop"` leaves it out.
    weight : ndarray of float64, shape (n_samples,)
        Weight of each example; 0 for an example that is not scored.
    monte_carlo_error : float
        Standard error of the mean due to sampling in inference; 0 without sampling.
    converged : float, optional
        Share of the queries in which belief propagation or mean field converged.
    """

    metric: str
    mean: float
    stderr: float
    per_example: NDArray[np.float64]
    weight: NDArray[np.float64]
    monte_carlo_error: float = 0.0
    converged: float | None = None

    def __float__(self) -> float:
        return self.mean

    def __repr__(self) -> str:
        n = int((~np.isnan(self.per_example)).sum())
        return f"<{self.metric}: {self.mean:.4f} ± {self.stderr:.4f} nats, {n:,} examples>"


def score(
    model: Any,
    X: Any,
    metric: str | None = None,
    *,
    folds: int | None = None,
    groups: Sequence[Sequence[str | int]] | None = None,
    inference: str | None = None,
    sample_weight: Any = None,
    random_state: Any = SEED,
    n_jobs: int | None = None,
    **settings: Any,
) -> ScoreResult:
    """Score a model on examples, in nats per example; higher is better.

    Parameters
    ----------
    model : model or estimator
        A model, or an estimator that learned one.
    X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
        The examples. "ll" sums missing cells (NaN) out; for others, see `missing` of a learner.
    metric : {"pll", "cmll", "cll", "ll"}, optional
        See Notes. Default: "pll" for Markov and dependency networks, "ll" for all other models.
    folds : int, optional
        Number of query groups, drawn at random, of "cmll" and "cll"; default: 4.
    groups : sequence of sequence of str or int, optional
        The query groups, by names or numbers of variables. A variable in none is evidence only.
    inference : {"auto", "gibbs", "exact", "mcsat", "bp", "meanfield", "ais"}, optional
        How "cmll" gets its marginals; default: "auto", exact or else "gibbs"; not "ais". How "ll"
        gets the partition function: "exact" (the default), "bp", "meanfield" or "ais".
    sample_weight : array-like of float, shape (n_samples,), optional
        Weight 2 counts as two examples, so survey weights have to add up to their number.
    random_state : int, generator or None
        Seed of query groups and samplers, as `--seed` on the command line; None draws one.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    **settings
        `burn_in` and `samples` of "gibbs" and "mcsat"; `iterations` and `tolerance` of "bp" and
        "meanfield"; `damping` and `schedule` of "bp"; `chains` and `samples` (steps) of "ais".

    Raises
    ------
    InputError
        An argument is not as expected, or the metric does not read it.

    Notes
    -----
    "pll" is the log-pseudo-likelihood: each variable given all others. "cmll" is the conditional
    marginal log-likelihood: each variable given those of other query groups. "cll" is the
    log-likelihood of each group given the others. A variable of several states counts once.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> mn.score(mn.Atomic().fit(X), X, "pll")
    <pll: -1.2616 ± 0.2118 nats, 4 examples>
    """
    how = How(folds, groups, inference, settings, to_whole_seed(random_state), to_threads(n_jobs))
    return _score_weighted(model, X, sample_weight, metric, how)


def _model_and_data(model: Any, X: Any, sample_weight: Any) -> tuple[Any, Dataset | IncompleteData]:
    if hasattr(model, "fit"):
        # An estimator checks its own input, and knows a threshold for it.
        data = model.read_examples(X, sample_weight)
        return model_of(model), data
    model = model_of(model)
    return model, data_for(model, X, sample_weight, missing=True)


@dataclass(frozen=True)
class How:
    """The other arguments of `score`; where groups are from, and how a person writes arguments."""

    folds: int | None
    groups: Sequence[Sequence[str | int]] | None
    inference: str | None
    settings: Mapping[str, Any]
    seed: int
    threads: int
    groups_from: str = "groups"
    spell: Spell = spell_argument


def _score_weighted(
    model: Any, X: Any, sample_weight: Any, metric: str | None, how: How
) -> ScoreResult:
    """Return a score that has a place for each example, also for those that are not scored."""
    own, data = _model_and_data(model, X, sample_weight)
    scored = np.ones(len(data.row_of), bool)
    if sample_weight is not None:
        scored = np.asarray(sample_weight, np.float64) > 0.0
    asked = find_metric(usual_metric(own) if metric is None else metric)
    sums_missing = asked.sums_missing(how.inference)
    if isinstance(data, IncompleteData) and hasattr(model, "fit") and not sums_missing:
        treated = model.complete_examples(data)
        if len(treated.row_of) < len(data.row_of):
            scored[scored] = (data.values != MISSING).all(axis=1)
        data = treated
    found = measure(own, data, asked, how)
    note = describe_sampling(own, data, asked, how)
    if note is not None:
        warn_user(note)
    if scored.all():
        return found
    per_example, weight = np.full(len(scored), np.nan), np.zeros(len(scored))
    per_example[scored], weight[scored] = found.per_example, found.weight
    return replace(found, per_example=per_example, weight=weight)


def describe_sampling(
    model: Model, data: Dataset | IncompleteData, metric: Metric, how: How
) -> str | None:
    """Return what to know of a score: a method that is not used, or samples that may be stuck."""
    method = how.inference or next(iter(metric.methods), None)
    if method is None:
        return None
    from mnlearn.inference.sampling import describe_barriers

    if method == AUTO:
        unknown = np.zeros((data.n_rows, len(model.schema)), bool)
        unknown[:, max(_request(model, metric, how).groups, key=len)] = True
        chosen = plan(model, MARGINALS, unknown)
        if chosen.is_exact or not model.has_joint:
            return None
        note = f"{metric.name} is estimated, by one Gibbs chain for each row: {chosen.why}"
        return " ".join(filter(None, (note, describe_barriers(model, "gibbs"))))
    if how.inference not in (None, EXACT):
        is_likelihood = not metric.by_group
        if model.is_exact or (is_likelihood and plan(model, LIKELIHOOD, method=method).is_exact):
            return f"{how.spell('inference', method)}: not used, because {model.title} is exact."
    return describe_barriers(model, method)


def _request(model: Model, metric: Metric, how: How) -> Request:
    """Return what a metric reads, as it takes it."""
    inference: Inference | Annealing | None = None
    method = how.inference or next(iter(metric.methods), None)
    if method == ANNEALED:
        inference = annealing_of(how.settings)
    elif method is not None:
        inference = settings_of(method, how.settings)
    seed = stream_seed(how.seed, ANNEALED if method == ANNEALED else "gibbs")
    request = Request(inference=inference, seed=seed, threads=how.threads)
    if not metric.by_group:
        return request
    schema: Schema = model.schema
    if how.groups is not None:
        groups = find_groups(how.groups, schema, how.groups_from)
    else:
        folds = FOLDS if how.folds is None else to_count(how.folds, "folds")
        groups = random_partition(len(schema), folds, stream(how.seed, "query groups"))
    return replace(request, groups=groups)


def check_arguments(metric: Metric, how: How) -> None:
    """Refuse an argument that a metric, or its method of inference, does not read."""
    which = f"the metric {metric.name}"
    read = ["folds", "groups"] if metric.by_group else []
    if metric.methods:
        method = metric.methods[0] if how.inference is None else how.inference
        if method not in metric.methods:
            # On the command line, annealed importance sampling is an option of its own.
            expected = ", ".join(how.spell(m) if m == ANNEALED else m for m in metric.methods)
            raise InputError(
                f"expected one of {expected} for {which}, got {method!r}.",
                where=how.spell("inference"),
            )
        read += ["inference", *SETTINGS[method]]
        which += f" with inference {method}"
    options = {"folds": how.folds, "groups": how.groups, "inference": how.inference}
    given = [name for name, value in options.items() if value is not None]
    for name in (*given, *how.settings):
        if name not in read:
            raise refusal(name, which, read, how.spell)
    if how.folds is not None and how.groups is not None:
        raise InputError(
            f"{how.spell('folds')}: expected none with {how.spell('groups')}, which are the query "
            "groups."
        )


def measure(model: Model, data: Dataset | IncompleteData, metric: Metric, how: How) -> ScoreResult:
    """Return the score of a model of `mnlearn.models` on examples; see `score`."""
    check_arguments(metric, how)
    try:
        found = _found(model, data, metric, how)
    except TooWideError as error:
        complete = "" if isinstance(data, Dataset) else "without missing cells, "
        estimates = " or ".join(how.spell("inference", name) for name in (ANNEALED, "bp"))
        error.advice = f"{complete}{estimates} estimates {metric.name}" if metric.methods else None
        raise
    return ScoreResult(
        metric.name,
        found.mean,
        found.standard_error if data.n_examples > ALONE else np.nan,
        found.per_row[data.row_of],
        (data.weight / np.bincount(data.row_of, minlength=data.n_rows))[data.row_of],
        found.monte_carlo_error,
        found.converged,
    )


def validation_criterion(metric: str, valid: Dataset, how: How) -> "Criterion":
    """Return what compares the models of a grid: their mean score on validation data."""
    asked = find_metric(metric, "criterion")
    check_arguments(asked, how)
    return lambda model: measure(model, valid, asked, how).mean


def _found(model: Model, data: Dataset | IncompleteData, metric: Metric, how: How) -> Score:
    """Return the score of a model by one metric; refuse missing cells unless it sums them out."""
    if isinstance(data, Dataset):
        return metric.measure(model, data, _request(model, metric, how))
    if metric.sum_out is None or not metric.sums_missing(how.inference):
        row, v = np.argwhere(data.values == MISSING)[0].tolist()
        label = data.schema.names[data.schema.variable_of[v]]
        raise InputError(
            f"X, row {row}, column {label!r}: is missing (NaN); only the exact metric ll sums "
            "missing cells out."
        )
    return metric.sum_out(model, data, how.threads)


def find_groups(given: Any, schema: Schema, where: str) -> Groups:
    """Return the query groups that a person gives by names or numbers, from `where`."""
    lists = _lists_of(given, where)
    groups = [[find_variable(schema, v, where) for v in names] for names in lists]
    group_of: dict[int, int] = {}
    for k, group in enumerate(groups):
        for v in group:
            if v in group_of:
                place = "twice in one group" if group_of[v] == k else "in two groups"
                raise InputError(f"{where}: the variable {schema.names[v]!r} is {place}.")
            group_of[v] = k
    return groups


def _lists_of(given: Any, where: str) -> list[list[Any]]:
    """Return query groups as lists, each of at least one variable."""
    groups = list(given) if _is_list(given) else []
    if all(map(_is_list, groups)):
        lists = [list(group) for group in groups]
        if lists and all(lists):
            return lists
    raise InputError(f"{where}: expected lists of variables, at least one in each, got {given!r}.")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)
