"""Ising networks as psychometrics estimates them, as an estimator."""

import warnings
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mnlearn.api.estimators import Estimator
from mnlearn.api.inputs import Dataset, labels_of, to_threads, to_whole_seed
from mnlearn.api.models import public
from mnlearn.learning.ising import GAMMA, IsingNetwork, bootstrap, learn_ising
from mnlearn.runtime.arrays import read_only

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False, repr=False, kw_only=True)
class Ising(Estimator):
    """Ising network with penalties by EBIC (van Borkulo et al. 2014), as in R's IsingFit.

    A variable that never varies gets no edges, and a warning names it.

    Parameters
    ----------
    gamma : float, default=0.25
        Gamma of the EBIC, at least 0; larger values find fewer edges.
    rule : {"and", "or"}, default="and"
        Whether an edge needs both regressions or one.
    binarize : float | None, default=None
        Numbers above this threshold count as 1; None refuses all but 0 and 1.
    missing : {"drop", "impute"} | None, default=None
        What is done about missing cells (NaN) in `fit`; None refuses them.
    random_state : int | None, default=None
        Seed of the bootstrap, if it is given none.
    n_jobs : int | None, default=None
        Threads; -1 for all processors; no effect on results.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (n_features, n_features)
        Weights of the edges, symmetric; 0 where there is no edge.
    thresholds_ : ndarray of float64, shape (n_features,)
        Thresholds of the variables.
    network_ : IsingNetwork
        The whole estimate, with the regressions and their penalties.
    stability_ : EdgeStability
        The outcome of the last `bootstrap`.
    model_ : MarkovNetwork
        The distribution, for `query`, `sample` and `score`.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [1, 1]] * 40 + [[0, 1], [1, 0]] * 5
    >>> mn.Ising().fit(X).edges_frame()[["source", "target", "weight"]].round(1)
      source target  weight
    0     V0     V1     4.1
    """

    gamma: float = GAMMA
    rule: str = "and"
    binarize: float | None = None
    missing: str | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def _learn(self, data: Dataset) -> None:
        self.network_ = _learn_varying(data, self.gamma, self.rule, to_threads(self.n_jobs))
        self.weights_ = self.network_.weight
        self.thresholds_ = self.network_.threshold
        self.model_ = public(self.network_.markov_network())
        self.examples_ = data
        if hasattr(self, "stability_"):
            del self.stability_

    def bootstrap(
        self, n_resamples: int = 100, *, random_state: Any = None, n_jobs: int | None = None
    ) -> "pd.DataFrame":
        """Estimate the network again from resampled examples, and keep it as `stability_`.

        Parameters
        ----------
        n_resamples : int
            Number of resamples.
        random_state : int, generator or None
            Seed of the resamples; default: that of the estimator.
        n_jobs : int, optional
            Number of threads; default: that of the estimator.

        Returns
        -------
        pandas.DataFrame
            See `edges_frame`.
        """
        check_is_fitted(self)
        seed = self.random_state if random_state is None else random_state
        self.stability_ = bootstrap(
            self.examples_,
            n_resamples,
            gamma=self.gamma,
            merge=self.rule,
            seed=to_whole_seed(seed),
            threads=to_threads(self.n_jobs if n_jobs is None else n_jobs),
        )
        return self.edges_frame()

    def edges_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the edges as a table, strongest first; after `bootstrap` with their stability.

        Parameters
        ----------
        coding : {"0/1", "-1/1"}
            Values of the variables that the weights are for.
        """
        check_is_fitted(self)
        return self.network_.edges_frame(getattr(self, "stability_", None), coding)

    def variables_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return thresholds, degrees and strengths of the variables as a table."""
        check_is_fitted(self)
        return self.network_.variables_frame(coding)


def _learn_varying(data: Dataset, gamma: float, rule: str, threads: int) -> IsingNetwork:
    """Estimate a network of the variables that vary; the others get no edges."""
    varies = (data.frequency > 0) & (data.frequency < 1)
    if varies.all() or data.n_vars < 2:
        return learn_ising(data, gamma, rule, threads)
    constant = np.flatnonzero(~varies).tolist()
    listed = ", ".join(labels_of(data.names, data.n_vars)[v] for v in constant)
    warnings.warn(f"no edges for what never varies: {listed}", UserWarning, stacklevel=4)
    ones = data.frequency * data.n_examples
    # Half an example for each value keeps the threshold finite.
    threshold = np.log((ones + 0.5) / (data.n_examples - ones + 0.5))
    empty, unknown = np.zeros((data.n_vars, data.n_vars)), np.full(data.n_vars, np.nan)
    network = IsingNetwork(
        empty, threshold, empty, unknown, unknown, np.zeros(data.n_vars, bool), data.frequency,
        data.names,
    )  # fmt: skip
    if varies.sum() < 2:
        return network
    rows, names = data.rows[data.row_of][:, varies], None
    if data.names is not None:
        names = [name for name, kept in zip(data.names, varies, strict=True) if kept]
    weight = data.weight[data.row_of] / np.bincount(data.row_of)[data.row_of]
    found = learn_ising(Dataset.from_arrays(rows, weight, names), gamma, rule, threads)
    return replace(network, **_embedded(found, network, varies))


def _embedded(
    found: IsingNetwork, network: IsingNetwork, varies: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the arrays of `network` with those of the variables that vary in their places."""
    out: dict[str, Any] = {}
    for field in fields(found):
        own = getattr(found, field.name)
        if isinstance(own, np.ndarray):
            whole = getattr(network, field.name).copy()
            whole[np.ix_(*[varies] * own.ndim)] = own
            out[field.name] = read_only(whole)
    return out
