"""Two models on the same examples."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mnlearn.api.inputs import model_of
from mnlearn.api.scores import ALONE, ScoreResult, score
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import usual_metric

# Scores that differ by less, as a share of them, are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class Comparison:
    """The difference of the scores of two models, in nats per example.

    Attributes
    ----------
    metric : str
        The score.
    means : tuple of float
        The mean score of each model.
    difference : float
        Mean of the first score less the second, over examples to which both models give more than
        probability 0.
    stderr : float
        Standard error of the difference, from the differences of single examples.
    p_value : float
        Of a paired t-test, two-sided; NaN if all differences are equal.
    n_examples : float
        Total weight of the examples that both models can score: their number without weights.
    impossible : tuple of int
        Number of examples to which each model gives probability 0.
    """

    metric: str
    means: tuple[float, float]
    difference: float
    stderr: float
    p_value: float
    n_examples: float
    impossible: tuple[int, int]

    @property
    def p_text(self) -> str:
        """The p value as a text, which says why there is none."""
        if not math.isnan(self.p_value):
            return f"{self.p_value:.3g}"
        alike = "differ alike" if self.difference else "are equal"
        return f"none, the models {alike} on every example"

    def __repr__(self) -> str:
        found = f"{self.difference:+.4f} ± {self.stderr:.4f} nats, p = {self.p_text}"
        return f"<{self.metric}: {found}, {self.n_examples:,g} examples>"


def compare(
    model: Any, other: Any, X: Any, metric: str | None = None, **settings: Any
) -> Comparison:
    """Compare the scores of two models on the same examples.

    Parameters
    ----------
    model, other : model or estimator
        Models of the same variables.
    X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
        The examples.
    metric : {"pll", "cmll", "cll", "ll"}, optional
        See `mnlearn.score`. Default: "ll" if that is the usual score of both, else "pll".
    **settings
        Further arguments of `mnlearn.score`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        See `mnlearn.score`; or fewer than two examples are possible in both models.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [0, 1], [1, 1], [1, 1]] * 10
    >>> one, two = mn.ChowLiu().fit(X), mn.Atomic().fit(X)
    >>> mn.compare(one, two, X, "pll").difference > 0
    True
    """
    if metric is None:
        usual = {usual_metric(model_of(each)) for each in (model, other)}
        metric = usual.pop() if len(usual) == 1 else "pll"
    return difference_of(*(score(each, X, metric, **settings) for each in (model, other)))


def difference_of(one: ScoreResult, other: ScoreResult) -> Comparison:
    """Return the comparison of two scores of the same examples."""
    import scipy.stats

    scores = one.per_example, other.per_example
    # A row that is not scored has NaN.
    impossible = tuple(int(np.isneginf(values).sum()) for values in scores)
    possible = np.isfinite(scores[0]) & np.isfinite(scores[1])
    weight = one.weight[possible]
    n = float(weight.sum())
    if len(weight) < 2 or n <= ALONE:
        raise InputError(
            f"{one.metric}: expected two examples or more to which both models give more than "
            f"probability 0, got {min(n, len(weight)):g}."
        )
    differences = scores[0][possible] - scores[1][possible]
    mean = float(weight @ differences / n)
    error = math.sqrt(float(weight @ (differences - mean) ** 2) / (n - 1) / n)
    # The same model in two forms has the same scores but for rounding.
    noise = _ROUNDING * max(1.0, float(np.abs(scores[0][possible]).max()))
    if np.ptp(differences) <= noise:
        mean, error = (mean if abs(mean) > noise else 0.0), 0.0
    p = float(2 * scipy.stats.t.sf(abs(mean) / error, n - 1)) if error > 0.0 else math.nan
    return Comparison(
        one.metric, (one.mean, other.mean), mean, error, p, n, (impossible[0], impossible[1])
    )
