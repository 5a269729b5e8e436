"""What people ask every kind of model."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mnlearn.runtime.random_streams import SEED

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def answers() -> Any:
    """Return the module that answers; it stands above the models and is found when it is asked."""
    return import_module("mnlearn.api.answers")


class Questions:
    """What people ask every kind of model; `mnlearn.api.answers` has the answers."""

    def query(
        self,
        evidence: Any = None,
        variables: Any = None,
        *,
        inference: str = "auto",
        random_state: Any = SEED,
        n_jobs: int | None = None,
        strict: bool = False,
        **settings: Any,
    ) -> Any:
        """Return the probability of each state of variables given the states of others.

        Parameters
        ----------
        evidence : mapping, DataFrame or array, optional
            A mapping has the states of some variables, by name or number. Rows of a table or an
            array have a state of each variable, a missing cell where it is not known, as columns
            that a table lacks. `1`, `"1"`, `1.0` and `True` are the state 1 if no other fits too.
        variables : sequence of str or int, optional
            The variables to answer for, if the evidence is a mapping. Default: all others.
        inference : {"auto", "exact", "gibbs", "mcsat", "bp", "meanfield"}
            How marginals of networks are computed. "auto" is exact where tables or a circuit fit
            into memory, and samples elsewhere. Circuits always answer exactly.
        random_state : int, generator or None
            Seed of the samplers, by default 20; None draws another seed each time.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.
        strict : bool
            Estimates that have not converged are an error instead of a warning.
        **settings
            `samples`, `burn_in`, `iterations`, `tolerance`, `damping` or `schedule` of the method.
            Sampling ends when each answer is worth `samples` independent ones, or at a limit.

        Returns
        -------
        pandas.Series, pandas.DataFrame or ndarray
            For a mapping a Series, whose index has the levels `variable` and `state`. For rows a
            DataFrame of such columns, in which known states have probability 1. The probabilities
            of the states of a variable add up to 1. States that are equal in Python, such as True
            and 1, look alike in the index. Its `attrs` have the way, `inference`, whether it
            `is_exact`, and its `cells` and `operations`; of estimates also lists `converged` and,
            by sampling, `monte_carlo_error`. For an array, if the variables have no names and the
            states 0 and 1, an array of the same shape with the probabilities of 1.

        Raises
        ------
        InputError
            A variable or a state does not exist, or the evidence has probability 0 (not seen where
            the answer is an estimate).

        Examples
        --------
        >>> import mnlearn as mn
        >>> model = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> model.query({0: 1}).round(2).to_dict()
        {('V1', 0): 0.5, ('V1', 1): 0.5}
        """
        how = inference, settings, random_state, n_jobs, strict
        return answers().query(self, evidence, variables, *how)

    def probability(
        self, event: Mapping[Any, Any], given: Mapping[Any, Any] | None = None
    ) -> float:
        """Return the exact probability that several variables have the states of an event.

        Parameters
        ----------
        event : mapping
            The states of some variables, by name or number; all others are summed out.
        given : mapping, optional
            States of other variables on which the probability is conditioned.

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or it is
            too wide; a variable or a state does not exist; a variable of the event is
            given; or what is given has probability 0.

        Examples
        --------
        >>> import mnlearn as mn
        >>> model = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> round(model.probability({0: 1, 1: 1}), 3), round(model.probability({1: 1}, {0: 1}), 3)
        (0.25, 0.5)
        """
        found: float = answers().probability(self, event, given)
        return found

    def joint(self, variables: Any, given: Mapping[Any, Any] | None = None) -> "pd.Series[float]":
        """Return the exact probability of each combination of the states of some variables.

        Parameters
        ----------
        variables : str, int or sequence of them
            Variables by name or number; all others are summed out. Their states have at most 65,536
            combinations.
        given : mapping, optional
            States of other variables on which the probabilities are conditioned.

        Returns
        -------
        pandas.Series
            Its index has a level for each variable, with its states. `unstack` makes a table of it.

        Raises
        ------
        InputError
            There are too many combinations, or a variable is named twice or is given; see also
            `probability`.

        Examples
        --------
        >>> import mnlearn as mn
        >>> model = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> model.joint([0, 1]).round(3).to_dict()
        {(0, 0): 0.375, (0, 1): 0.125, (1, 0): 0.25, (1, 1): 0.25}
        """
        found: pd.Series[float] = answers().joint(self, variables, given)
        return found

    def most_probable(self, evidence: Any = None, variables: Any = None) -> Any:
        """Return the most probable states of all other variables given those of some.

        Parameters
        ----------
        evidence : mapping, DataFrame or array, optional
            As for `query`.
        variables : str, int or sequence of them, optional
            Maximise the probability of the states of these variables, by name or number, and sum
            all others out (marginal MAP). Default: all variables that are not known (MPE).

        Returns
        -------
        pandas.Series, pandas.DataFrame or ndarray
            For a mapping a Series of the states of all other variables. For rows a DataFrame with
            a column for each variable; for an array, if the variables have no names, an array.
            `attrs` of a Series or a DataFrame say how the states were found, as for `query`.

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or it is too wide;
            or a variable or a state of the evidence does not exist, or the evidence has
            probability 0.

        Notes
        -----
        In models with hidden variables (`HCLT`, `Mixture`, `TreeBag`, most of `LTM`) the states
        of the hidden variables are maximised too, not summed out ("max-product"). The observed
        states of the best such solution may have a lower probability than others. The answer is
        exact if the terms of each sum of the circuit exclude each other by observed states. With
        `variables` hidden variables are always summed out.
        """
        return answers().most_probable(self, evidence, variables)

    def sample(
        self,
        n_samples: int = 1,
        *,
        evidence: Any = None,
        inference: str = "auto",
        random_state: Any = SEED,
        burn_in: int = 1000,
        n_jobs: int | None = None,
    ) -> Any:
        """Draw independent examples.

        Circuits, trees, Bayesian networks, and Markov networks that are not too wide are sampled
        exactly. For wide Markov networks and for dependency networks each example is the end of
        its own Gibbs chain.

        Parameters
        ----------
        n_samples : int
            Number of examples.
        evidence : mapping, or one row of a table or an array, optional
            The states of some variables, which all examples have; see `query`.
        inference : {"auto", "exact", "gibbs"}
            "exact" refuses a network that is too wide; "gibbs" runs chains in any network.
        random_state : int, generator or None
            Seed, by default that of the command line (20): a second call draws the same examples.
            None draws others each time.
        burn_in : int
            Sweeps of a Gibbs chain before the example is taken.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        pandas.DataFrame or ndarray, shape (n_samples, n_vars)
            The states, in a DataFrame whose columns have the dtypes of the data of `fit`; in an
            array if the variables have no names.

        Raises
        ------
        InputError
            An argument is not as expected, or the evidence has probability 0.
        """
        how = inference, random_state, burn_in, n_jobs
        return answers().sample(self, n_samples, evidence, *how)

    def score(self, X: Any, metric: str | None = None, **settings: Any) -> float:
        """Return the mean score of examples in nats; see `mnlearn.score` for the arguments.

        The default metric is the log-likelihood ("ll") for circuits, Bayesian networks, feature
        trees, junction trees and hidden trees. It is the log-pseudo-likelihood ("pll") for Markov
        networks and dependency networks.
        """
        found: float = answers().score(self, X, metric, **settings).mean
        return found

    def score_samples(self, X: Any, metric: str | None = None, **settings: Any) -> NDArray[Any]:
        """Return the score of each example in nats, NaN for one of weight 0; see `score`."""
        found: NDArray[Any] = answers().score(self, X, metric, **settings).per_example
        return found

    def log_partition(
        self,
        inference: str = "exact",
        *,
        random_state: Any = SEED,
        n_jobs: int | None = None,
        **settings: Any,
    ) -> float:
        """Return log Z in nats, the logarithm of the sum of the potentials of all states.

        The log-probability of a state of a Markov network is its `log_potential` less log Z.
        Bayesian networks, trees (also those of `.uai` tables) and circuits of learners other than
        `ACMN` are normalised: their log Z is 0. A circuit of `ACMN`, or that a network was compiled
        into, has the log Z of the network. `condition` adds the log-probability of the evidence.

        Parameters
        ----------
        inference : {"exact", "bp", "meanfield", "trw", "ais"}
            How log Z of a Markov network is found. "exact" sums by tables or a circuit, "bp" gives
            the Bethe estimate, "meanfield" a lower bound, "trw" an upper bound by tree-reweighted
            belief propagation, and "ais" the estimate of annealed importance sampling. Other models
            are always exact.
        random_state : int, generator or None
            Seed of "ais", by default that of the command line (20).
        n_jobs : int, optional
            Number of threads; the result does not depend on it.
        **settings
            `iterations` and `tolerance` of "bp", "meanfield" and "trw"; `damping` of "bp" and "trw"
            and `schedule` of "bp"; `chains` and `samples` (steps) of "ais".

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or it is
            too wide; or an argument is not as expected.

        Notes
        -----
        A warning says if an approximation did not converge; bounds hold all the same.
        `mnlearn.score` with the metric "ll" and "ais" has the standard error of the estimate,
        `monte_carlo_error`.

        Examples
        --------
        >>> import mnlearn as mn
        >>> network = mn.MarkovNetwork.from_features([{"a": 1, "b": 1}], [2.0], ["a", "b"])
        >>> round(network.log_partition(), 4)
        2.3408
        """
        how = inference, settings, random_state, n_jobs
        found: float = answers().log_partition(self, *how)
        return found

    def to_networkx(self) -> "nx.Graph | nx.DiGraph":
        """Return the graph; its nodes are the names of the variables, or their numbers.

        Edges have a `weight`, which `edges_frame` explains. The graph of a dependency network or
        a Bayesian network is directed, from the parent to the child.

        Raises
        ------
        InputError
            The model is a circuit whose parameters are not weights of features.
        """
        return answers().to_networkx(self)

    def edges_frame(self) -> "pd.DataFrame":
        """Return the edges as a table, strongest first.

        Returns
        -------
        pandas.DataFrame
            Columns `source`, `target` and `weight`, with one row for two variables. The `weight` of
            two variables of two states is their log odds ratio while all others are in their first
            states, in nats. In general it is twice the Frobenius norm of the table that
            `interactions` returns; for two states that is the size of the log odds ratio. Files
            `.csv` and `.graphml` have the same weights. For a Markov network `n_features` counts
            the features that join the variables. For a dependency network or a Bayesian network,
            also in the form of a circuit such as that of `ChowLiu` or `ACBN`, an edge leads from
            the parent to the child. Its `weight` is that of the child's distribution, and `n_uses`
            counts how often this distribution uses the parent. A feature of weight 0 makes no edge
            and is not counted.

        Raises
        ------
        InputError
            The model is a circuit without features, such as that of `HCLT` or `TreeBag`.
        """
        found: pd.DataFrame = answers().edges_frame(self)
        return found

    def interactions(self, one: str | int, other: str | int) -> "pd.DataFrame":
        """Return how the states of two variables act on each other while others are in their first.

        Parameters
        ----------
        one, other : str or int
            Variables by name or number.

        Returns
        -------
        pandas.DataFrame
            A row for each state of `one` and a column for each state of `other`, in nats, in the
            zero-sum gauge: each row and each column adds up to 0. In a pairwise Markov network it
            is the part of the log-probability that both states together account for. A table of
            zeros if the graph of the model has no such edge.

        Raises
        ------
        InputError
            There is no such variable, or the model is a circuit without features.
        """
        found: pd.DataFrame = answers().interactions(self, one, other)
        return found

    def features_frame(self) -> "pd.DataFrame":
        """Return the features and their weights as a table, strongest first.

        Returns
        -------
        pandas.DataFrame
            Columns `feature` such as "sleep=1 & mood!=low", `weight` in nats, and `length`, the
            number of variables. For a dependency network of logistic regressions, `target` is the
            variable whose regression has the feature; `coefficients_frame` has the matrix.

        Raises
        ------
        InputError
            The model has no features, or is a dependency network of trees.
        """
        found: pd.DataFrame = answers().features_frame(self)
        return found

    def save(self, path: Path | str) -> None:
        """Write the model to a file; see `mnlearn.save`."""
        answers().save(self, path)
