"""Ising networks as psychometrics estimates them, as an estimator."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from mnlearn.api.estimators import Estimator
from mnlearn.api.inputs import Dataset, to_threads, to_whole_seed
from mnlearn.api.models import public
from mnlearn.learning.ising.estimation import FEWEST, GAMMA, learn_ising
from mnlearn.learning.ising.resampling import bootstrap

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False, repr=False, kw_only=True)
class Ising(Estimator):
    """Ising network with penalties by EBIC (van Borkulo et al. 2014), as in R's IsingFit.

    A variable of which a value occurs fewer than twice gets no edges, and a warning names it.

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
        self.network_ = learn_ising(data, self.gamma, self.rule, to_threads(self.n_jobs))
        warn_of_dropped(self.network_.dropped_labels)
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


def warn_of_dropped(labels: Sequence[str]) -> None:
    """Warn the caller of `fit` or of a function that variables were left out."""
    if labels:
        message = f"no edges for what has a value fewer than {FEWEST} times: {', '.join(labels)}"
        warnings.warn(message, UserWarning, stacklevel=4)
