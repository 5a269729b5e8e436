"""What every kind of model can be asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mnlearn.api import graphs, queries
from mnlearn.api.inputs import is_whole, to_seed, to_threads, to_whole_seed
from mnlearn.api.partition import partition_of
from mnlearn.api.saving import codes_of, save_own
from mnlearn.api.scores import score
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.domains import name_states, names_values
from mnlearn.inference.group_sampling import sample_grouped_rows
from mnlearn.models import bayesian_network
from mnlearn.models import markov_network as markov
from mnlearn.models import model as base
from mnlearn.models.edge_weights import graph_of
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of
from mnlearn.runtime.random_streams import SEED

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


class Model(base.Model):
    """What every kind of model can be asked."""

    def query(
        self,
        evidence: Any = None,
        variables: Any = None,
        *,
        inference: str = "auto",
        random_state: Any = SEED,
        n_jobs: int | None = None,
        **settings: Any,
    ) -> Any:
        """Return the probability that variables are 1 given the values of others.

        Parameters
        ----------
        evidence : mapping, DataFrame or array, optional
            A mapping has the values of some variables, by name or number. Rows of a DataFrame or
            of an array have a value for each variable, NaN where it is not known; columns that a
            DataFrame lacks are not known either.
        variables : sequence of str or int, optional
            The variables to answer for, if the evidence is a mapping. Default: all others.
        inference : {"auto", "exact", "gibbs", "mcsat", "bp", "meanfield"}
            How marginals of networks are computed. "auto" is exact where that is cheap, and Gibbs
            sampling elsewhere. Circuits always answer exactly.
        random_state : int, generator or None
            Seed of the samplers, by default that of the command line (20); None draws another
            seed each time.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.
        **settings
            `burn_in`, `samples`, `iterations`, `tolerance`, `damping` or `schedule` of the method
            of inference.

        Returns
        -------
        pandas.Series, pandas.DataFrame or ndarray
            A Series by variable for a mapping. For rows a matrix of the same kind, with
            probabilities in the place of NaN. `attrs["inference"]` of a Series or a DataFrame is
            the method that was used. If the values of a variable `a` have names, as in a `.bif`
            file, its probability is that of the second one and stands under `a=name`.

        Raises
        ------
        InputError
            A variable or a value does not exist, or the evidence has probability 0. In networks
            that are too large for a circuit this is not seen.

        Examples
        --------
        >>> import mnlearn as mn
        >>> model = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> model.query({0: 1}).round(2).to_dict()
        {'V1': 0.5}
        """
        seed, threads = to_seed(random_state, "query"), to_threads(n_jobs)
        how = queries.Asked(inference, settings, seed, threads)
        return queries.query(self, evidence, variables, how)

    def probability(
        self, event: Mapping[Any, Any], given: Mapping[Any, Any] | None = None
    ) -> float:
        """Return the exact probability that several variables have the values of an event.

        Networks are compiled into a circuit first.

        Parameters
        ----------
        event : mapping
            The values of some variables, by name or number; all others are summed out.
        given : mapping, optional
            Values of other variables on which the probability is conditioned.

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or its circuit
            would be too large; a variable or a value does not exist; a variable of the event is
            given; or what is given has probability 0.

        Examples
        --------
        >>> import mnlearn as mn
        >>> model = mn.ChowLiu().fit([[0, 0], [0, 0], [1, 1], [1, 0]]).model_
        >>> round(model.probability({0: 1, 1: 1}), 3), round(model.probability({1: 1}, {0: 1}), 3)
        (0.25, 0.5)
        """
        return queries.probability(self, event, given)

    def joint(self, variables: Any, given: Mapping[Any, Any] | None = None) -> "pd.Series[float]":
        """Return the exact probability of each combination of the values of some variables.

        Networks are compiled into a circuit first.

        Parameters
        ----------
        variables : str, int or sequence of them
            Variables by name or number; all others are summed out. Their states have at most 65,536
            combinations.
        given : mapping, optional
            Values of other variables on which the probabilities are conditioned.

        Returns
        -------
        pandas.Series
            Its index has a level for each variable, with 0 and 1 or the names of its states.
            `unstack` makes a table of it.

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
        return queries.joint(self, variables, given)

    def most_probable(self, evidence: Any = None, *, states: bool | None = None) -> Any:
        """Return the most probable values of all other variables given those of some.

        Networks are compiled into a circuit first.

        Parameters
        ----------
        evidence : mapping, DataFrame or array, optional
            As for `query`.
        states : bool, optional
            Whether the answer has the names of states, with one entry for each variable, or the
            values 0 and 1. Default: names if the values of the model have names, such as those of
            a `.bif` file, unless the evidence is an array.

        Returns
        -------
        pandas.Series, pandas.DataFrame or ndarray of int
            As for `query`, with values in the place of probabilities. `attrs["inference"]` of
            a Series or a DataFrame says how they were found: "exact" or "max-product". An array of
            evidence gives a DataFrame if `states` is True.

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or its circuit
            would be too large; or a variable or a value of the evidence does not exist, or the
            evidence has probability 0.

        Notes
        -----
        In models with hidden variables (`HCLT`, `Mixture`, `TreeBag`, most of `LTM`) the values
        of the hidden variables are maximised too, not summed out ("max-product"). The observed
        values of the best such state may have a lower probability than others. The answer is
        exact if the terms of each sum of the circuit exclude each other by observed values.
        """
        return queries.most_probable(self, evidence, states)

    def sample(
        self,
        n_samples: int = 1,
        *,
        random_state: Any = SEED,
        burn_in: int = 1000,
        states: bool | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Draw independent examples.

        Circuits, trees, Bayesian networks and Markov networks of up to 20 variables are sampled
        exactly. For larger Markov networks and for dependency networks each example is the end of
        its own Gibbs chain.

        Parameters
        ----------
        n_samples : int
            Number of examples.
        random_state : int, generator or None
            Seed, by default that of the command line (20): a second call draws the same examples.
            None draws others each time.
        burn_in : int
            Sweeps of a Gibbs chain before the example is taken.
        states : bool, optional
            Whether the examples are a DataFrame with a column for each variable, whose cells are
            the names of its states; "0" and "1" if they have none. Default: names if the values of
            the model have names, such as those of a `.bif` file.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        pandas.DataFrame or ndarray of uint8, shape (n_samples, n_vars)
            A DataFrame if the variables have names.

        Raises
        ------
        InputError
            An argument is not as expected; or, with `states`, an example has no or several states
            of a variable, because the model does not exclude that.
        """
        for name, value, low in (("n_samples", n_samples, 1), ("burn_in", burn_in, 0)):
            if not is_whole(value) or value < low:
                raise InputError(f"{name}: expected a whole number from {low}, got {value!r}.")
        seed, threads = to_seed(random_state, "sample"), to_threads(n_jobs)
        rows = sample_grouped_rows(self, int(n_samples), int(burn_in), seed, threads=threads)
        names = self.names
        states = names_values(self) if states is None else states
        if names is None and not states:
            return rows
        import pandas as pd

        if states or names is None:
            return pd.DataFrame(name_states(rows, self))
        return pd.DataFrame(rows, columns=list(names))

    def score(self, X: Any, metric: str | None = None, **settings: Any) -> float:
        """Return the mean score of examples in nats; see `mnlearn.score` for the arguments.

        The default metric is the log-likelihood ("ll") for circuits, Bayesian networks, feature
        trees, junction trees and hidden trees. It is the log-pseudo-likelihood ("pll") for Markov
        networks and dependency networks.
        """
        return score(self, X, metric, **settings).mean

    def score_samples(self, X: Any, metric: str | None = None, **settings: Any) -> NDArray[Any]:
        """Return the score of each example in nats, NaN for one of weight 0; see `score`."""
        return score(self, X, metric, **settings).per_example

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
        inference : {"exact", "bp", "meanfield", "ais"}
            How log Z of a Markov network is found. "exact" compiles it into a circuit, "bp" gives
            the Bethe estimate, "meanfield" a lower bound, and "ais" the estimate of annealed
            importance sampling. Other models are always exact.
        random_state : int, generator or None
            Seed of "ais", by default that of the command line (20).
        n_jobs : int, optional
            Number of threads; the result does not depend on it.
        **settings
            `iterations` and `tolerance` of "bp" and "meanfield"; `damping` and `schedule` of "bp";
            `chains` and `samples` (steps) of "ais".

        Raises
        ------
        InputError
            The model is a dependency network, which has no joint distribution, or its circuit
            would be too large; or an argument is not as expected.

        Notes
        -----
        A warning says if an approximation did not converge. `mnlearn.score` with the metric "ll"
        and "ais" has the standard error of the estimate, `monte_carlo_error`.

        Examples
        --------
        >>> import mnlearn as mn
        >>> network = mn.MarkovNetwork.from_features([{"a": 1, "b": 1}], [2.0], ["a", "b"])
        >>> round(network.log_partition(), 4)
        2.3408
        """
        seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
        found = partition_of(self, inference, settings, seed, threads)
        if found.converged is False:
            warn_user(f"inference {inference}: did not converge; iterations= allows more.")
        return found.log_partition

    def to_networkx(self) -> "nx.Graph | nx.DiGraph":
        """Return the graph; its nodes are the names of the variables, or their numbers.

        Edges have a `weight`, which `edges_frame` explains. The graph of a dependency network or
        a Bayesian network is directed, from the parent to the child.

        Raises
        ------
        InputError
            The model is a circuit whose parameters are not weights of features.
        """
        return graphs.to_networkx(graph_of(self))

    def edges_frame(self) -> "pd.DataFrame":
        """Return the edges as a table, strongest first.

        Returns
        -------
        pandas.DataFrame
            Columns `source`, `target` and `weight`. The `weight` is the log odds ratio of the two
            variables while all others are 0, in nats; files `.csv` and `.graphml` have the same.
            For a Markov network `n_features` counts the features that join the variables. For a
            dependency network or a Bayesian network, also in the form of a circuit such as that of
            `ChowLiu` or `ACBN`, an edge leads from the parent to the child. Its `weight` is that
            of the child's distribution, and `n_uses` counts how often this distribution uses the
            parent. A feature of weight 0 makes no edge and is not counted.

        Raises
        ------
        InputError
            The model is a circuit without features, such as that of `HCLT` or `TreeBag`.
        """
        return graphs.edges_frame(graph_of(self))

    def features_frame(self) -> "pd.DataFrame":
        """Return the features and their weights as a table, strongest first.

        Returns
        -------
        pandas.DataFrame
            Columns `feature` such as "sleep=1 & mood=0", `weight` in nats, and `length`. For a
            dependency network of logistic regressions, `target` is the variable whose regression
            has the feature; `coefficients_frame` has the matrix.

        Raises
        ------
        InputError
            The model has no features, or is a dependency network of trees.
        """
        network = graph_of(self)
        if isinstance(network, bayesian_network.BayesianNetwork):
            network = network.to_markov_network()
        if isinstance(network, markov.MarkovNetwork) or len(network.features):
            return graphs.features_frame(network)
        raise InputError(f"features_frame: {network.title} of trees has no features.")

    def save(self, path: Path | str) -> None:
        """Write the model to a file; see `mnlearn.save`."""
        save_own(self, path, codes_of(self, self))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the variables; V0, V1, ... if they have none."""
        return labels_of(self.names, self.n_vars)

    def __repr__(self) -> str:
        sizes = {
            name.removeprefix("n_"): value
            for name, value in self._sizes().items()
            if name.startswith("n_")
        }
        listed = ", ".join(f"{value:,} {word}" for word, value in sizes.items())
        return f"<{type(self).__name__}: {listed.replace('vars', 'variables')}>"

    def _sizes(self) -> dict[str, Any]:
        return self.describe()
