"""Ising networks as psychometrics estimates them, as an estimator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from mnlearn.api.estimators import Estimator
from mnlearn.api.inputs import (
    Dataset,
    IncompleteData,
    to_count,
    to_dataset,
    to_threads,
    to_whole_seed,
    warn_user,
)
from mnlearn.drawing.item_groups import to_groups
from mnlearn.learning.imputation import complete_groups
from mnlearn.learning.ising.comparison import IsingComparison, compare, describe_dropped
from mnlearn.learning.ising.estimate import Estimate
from mnlearn.learning.ising.estimation import GAMMA
from mnlearn.learning.ising.items import Ordered
from mnlearn.learning.ising.network import (
    case_drop_frame,
    centrality_frame,
    differences_frame,
    predictability_frame,
)
from mnlearn.learning.missing_cells import TREATMENTS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED
from mnlearn.variables.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False, repr=False, kw_only=True)
class Ising(Estimator):
    """Ising network with penalties by EBIC (van Borkulo et al. 2014), as in R's IsingFit.

    With variables of more than two states it is a Potts model. Ordered ones have the scores 0, 1,
    2, ... and each pair of them one weight, which is multiplied by both scores; the weight of a
    pair with an unordered one has no sign and is the size of its table of interactions.

    A variable of which fewer than two values occur twice gets no edges. Warnings name such
    variables, those with a value that is rare, those that are alike, and those whose penalty was
    the smallest.

    Parameters
    ----------
    gamma : float, default=0.25
        Gamma of the EBIC, at least 0; larger values find fewer edges.
    merge : {"and", "or"}, default="and"
        Whether an edge needs both regressions or one.
    ordered : bool | list of str | None, default=None
        Which variables of more than two states are ordered: all, none, or those named. None stands
        for those that the data call ordered (categories, cuts) and those whose states are numbers.
    missing : {"drop", "impute"} | None, default=None
        What is done about missing cells (NaN) in `fit`; None refuses them.
    random_state : int | None, default=None
        Seed of filling in missing cells, and of `bootstrap` and `drop_cases` if they are given
        none. None stands for the seed of the command line, 20.
    n_jobs : int | None, default=None
        Threads; -1 for all processors; no effect on results.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (n_features, n_features)
        Weights of the edges, symmetric; 0 where there is no edge.
    thresholds_ : ndarray of float64
        Thresholds of all states but the first of each variable, relative to that one.
    network_ : IsingNetwork
        The whole estimate, with the regressions and their penalties.
    stability_ : EdgeStability
        The outcome of the last `bootstrap`.
    cases_ : CaseDropping
        The outcome of the last `drop_cases`.
    cs_ : dict of str to float
        The CS coefficients of the last `drop_cases`.
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
    merge: str = "and"
    ordered: Ordered = None
    missing: str | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def _learn(self, data: Dataset) -> None:
        threads = to_threads(self.n_jobs)
        how = {"ordered": self.ordered}
        self.estimate_ = Estimate.learn(data, self.gamma, self.merge, threads, **how)
        for caution in self.estimate_.cautions():
            warn_user(caution)
        self.network_ = self.estimate_.network
        self.weights_ = self.network_.weight
        self.thresholds_ = self.network_.threshold
        self.model_ = self.network_.markov_network(data.schema)
        for name in ("stability_", "cases_", "cs_"):
            if hasattr(self, name):
                delattr(self, name)

    def bootstrap(
        self, n_resamples: int = 100, *, random_state: Any = None, n_jobs: int | None = None
    ) -> "pd.DataFrame":
        """Estimate the network again from resampled examples, and keep it as `stability_`.

        Parameters
        ----------
        n_resamples : int
            Number of resamples.
        random_state : int, generator or None
            Seed of the resamples; default: that of the estimator, so that a second call gives the
            same.
        n_jobs : int, optional
            Number of threads; default: that of the estimator.

        Returns
        -------
        pandas.DataFrame
            See `edges_frame`.
        """
        check_is_fitted(self)
        run = self._run(n_resamples, random_state, n_jobs)
        self.stability_ = self.estimate_.bootstrap(**run)
        return self.edges_frame()

    def _run(self, n_resamples: int, random_state: Any, n_jobs: int | None) -> dict[str, int]:
        """Return number and seed of resamples, and threads: the ones given, or the estimator's."""
        seed = self.random_state if random_state is None else random_state
        return {
            "n_resamples": to_count(n_resamples, "n_resamples"),
            "seed": SEED if seed is None else to_whole_seed(seed),
            "threads": to_threads(self.n_jobs if n_jobs is None else n_jobs),
        }

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
        """Return thresholds, degrees, strengths and penalties of the variables as a table.

        It has a row for each state but the first of a variable, whose threshold is 0. A penalty is
        glmnet's lambda times the number of examples.
        """
        check_is_fitted(self)
        return self.network_.variables_frame(coding)

    def weights_frame(self, coding: str = "0/1") -> "pd.DataFrame":
        """Return the weighted adjacency matrix, as R's qgraph reads it."""
        check_is_fitted(self)
        return self.network_.weights_frame(coding)

    def centrality_frame(
        self, coding: str = "0/1", groups: Mapping[str, str] | None = None
    ) -> "pd.DataFrame":
        """Return strength, expected influence, closeness and betweenness of the variables.

        The length of an edge is 1 divided by its absolute weight. Expected influence is the sum of
        the weights that have a sign. Closeness is NaN outside the
        largest connected part.

        Parameters
        ----------
        coding : {"0/1", "-1/1"}
            Values of the variables that the weights are for.
        groups : mapping of str to str, optional
            The group of each variable. Then there are also `bridge_strength` and
            `bridge_expected_influence`, over the edges to variables of other groups.
        """
        check_is_fitted(self)
        if groups is None:
            return centrality_frame(self.network_, coding)
        return centrality_frame(self.network_, coding, to_groups(groups, self.network_.labels))

    def predictability_frame(self) -> "pd.DataFrame":
        """Return how well each variable is predicted by the others, on the training data.

        The columns are `accuracy`, `accuracy_of_constant`, `normalised_accuracy` (as in R's mgm)
        and `nagelkerke_r2`.
        """
        check_is_fitted(self)
        return predictability_frame(self.network_, self.estimate_.data)

    def differences_frame(self, of: str = "edges", coding: str = "0/1") -> "pd.DataFrame":
        """Return bootstrapped differences; call `bootstrap` before.

        Parameters
        ----------
        of : {"edges", "strength"}
            Whether to compare every two edges or the strengths of every two variables.
        coding : {"0/1", "-1/1"}
            Values of the variables that the weights are for.
        """
        check_is_fitted(self, "stability_", msg="%(name)s: call bootstrap() first.")
        return differences_frame(self.network_, self.stability_, of, coding)

    def drop_cases(
        self, n_resamples: int = 100, *, random_state: Any = None, n_jobs: int | None = None
    ) -> "pd.DataFrame":
        """Estimate the network again from 95 % to 25 % of the examples.

        The CS coefficients of edges, strength and expected influence are kept as `cs_`: the largest
        share of examples that can be dropped such that 95 % of the correlations with the network of
        all examples are at least 0.7.

        Parameters
        ----------
        n_resamples : int
            Number of resamples for each of the ten shares.
        random_state, n_jobs
            As for `bootstrap`.

        Returns
        -------
        pandas.DataFrame
            Columns `measure`, `dropped`, `correlation`, `low`, `high` and `share_high`.
        """
        check_is_fitted(self)
        self.cases_ = self.estimate_.drop_cases(**self._run(n_resamples, random_state, n_jobs))
        self.cs_ = self.estimate_.cs_coefficients()
        return case_drop_frame(self.cases_)


def compare_ising(
    groups: Mapping[str, Any],
    n_permutations: int = 1000,
    *,
    paired: bool = False,
    gamma: float = GAMMA,
    merge: str = "and",
    ordered: Ordered = None,
    missing: str | None = None,
    random_state: Any = SEED,
    n_jobs: int | None = None,
) -> IsingComparison:
    """Test whether the Ising networks of two or more groups differ, by permutation.

    Parameters
    ----------
    groups : mapping of str to array-like, DataFrame, sparse matrix or Dataset
        Examples of each group, with the same variables.
    n_permutations : int
        Number of permutations.
    paired : bool
        Whether row i of every group is of one person, whose rows a permutation then exchanges.
    gamma, merge, ordered, missing, n_jobs
        As for `Ising`; missing cells are filled in from the examples of all groups together.
    random_state : int, generator or None
        Seed of permutations and of filling in missing cells; None draws another each time.

    Returns
    -------
    IsingComparison
        `tests` has the tests of global strength and of the largest edge difference, `edges` those
        of every edge with Holm's correction, `networks` the network of each group.

    Raises
    ------
    InputError
        There are fewer than two groups, their variables differ, examples have weights, or paired
        groups have different numbers of rows or `missing="drop"`.

    Examples
    --------
    >>> import mnlearn as mn
    >>> calm = [[0, 0], [1, 1], [0, 1], [1, 0]] * 20
    >>> tense = [[0, 0], [1, 1]] * 36 + [[0, 1], [1, 0]] * 4
    >>> found = mn.compare_ising({"calm": calm, "tense": tense}, 99, random_state=0)
    >>> found.tests[["test", "value", "p"]].round(2)
                          test  value     p
    0          global strength   4.34  0.01
    1  largest edge difference   4.34  0.01
    """
    n_permutations = to_count(n_permutations, "n_permutations")
    cells = _groups_alike(groups, _is_treated(missing, paired))
    seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
    data = complete_groups(cells, missing or "drop", seed=seed, threads=threads)
    how: dict[str, Any] = {"gamma": gamma, "merge": merge, "ordered": ordered, "seed": seed}
    found = compare(data, n_permutations, paired=paired, threads=threads, **how)
    for caution in describe_dropped(found):
        warn_user(caution)
    return found


def _is_treated(missing: str | None, paired: bool) -> bool:
    """Return whether groups may have missing cells."""
    if missing not in (None, *TREATMENTS):
        raise InputError(f"missing: expected drop, impute or None, got {missing!r}.")
    if paired and missing == "drop":
        raise InputError("missing: expected impute or None with paired=True, got drop.")
    return missing is not None


def _groups_alike(groups: Mapping[str, Any], missing: bool) -> dict[str, Dataset | IncompleteData]:
    """Return the data of groups; tables are read like the first of them."""
    if not isinstance(groups, Mapping):
        raise InputError("groups: expected a mapping of names to examples.")
    data: dict[str, Dataset | IncompleteData] = {}
    schema: Schema | None = None
    for name, X in groups.items():
        if str(name) in data:
            raise InputError(f"groups: two of them are called {str(name)!r}.")
        own = to_dataset(X, schema=schema, argument=f"groups[{name!r}]", missing=missing)
        schema = own.schema
        data[str(name)] = own
    return data
