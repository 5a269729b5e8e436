"""One form for inference in all log-linear models: weighted conjunctions with or without owner."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.sampling.conditioning import SYMMETRIC, QueryTerms, number_kinds
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet, concatenate, feature_set
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model

# In sums, infinities of both signs would give NaN. A log-probability below minus half of this
# number is reported as minus infinity.
HARD_WEIGHT = 1e6


@dataclass(frozen=True, eq=False)
class Terms:
    """A model as conjunctions.

    For what owned and symmetric terms are see `kernels.sampling.conditioning`.

    conjunctions : symmetric terms have all their literals; an owned term lacks its owner's.
    weight : float64, finite. owner : int64, the variable whose log-odds a term adds to, or
        SYMMETRIC.
    """

    n_vars: int
    conjunctions: FeatureSet
    weight: NDArray[np.float64]
    owner: NDArray[np.int64]


def terms_of(model: Model) -> Terms:
    """Return a model as terms: features as they are, CPDs as log-odds given their conditions."""
    if not isinstance(model, DependencyNetwork):
        network: MarkovNetwork = model.to_markov_network()
        owner = np.full(len(network.features), SYMMETRIC, np.int64)
        return Terms(network.n_vars, network.features, finite(network.weight), owner)
    trees = model.trees
    leaves = np.flatnonzero(trees.is_leaf)
    rest, sign = conditions(model)
    return Terms(
        model.n_vars,
        concatenate([trees.paths().select(leaves), rest]),
        np.concatenate([leaf_log_odds(trees.log_prob)[leaves], sign * finite(model.weight)]),
        np.concatenate([trees.target[leaves], model.target.astype(np.int64)]),
    )


def conditions(model: DependencyNetwork) -> tuple[FeatureSet, NDArray[np.float64]]:
    """Return the CPD features without their target literal, and +1 or -1 for its value."""
    own = model.features.var == model.target[model.features.owner]
    length = np.bincount(model.features.owner[~own], minlength=len(model.features))
    rest = feature_set(
        np.concatenate([[0], np.cumsum(length)]),
        model.features.var[~own],
        model.features.value[~own],
    )
    return rest, np.where(model.features.value[own] == 1, 1.0, -1.0)


def leaf_log_odds(log_prob: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return finite log-odds of value 1 from log-probabilities of shape (n_nodes, 2)."""
    return finite(log_prob[:, 1]) - finite(log_prob[:, 0])


def finite(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `weight` with infinities replaced by HARD_WEIGHT of the same sign."""
    return np.clip(weight, -HARD_WEIGHT, HARD_WEIGHT)


@dataclass(frozen=True, eq=False)
class Query:
    """The terms that matter to a set of query variables, split by what is known.

    query, evidence : int64, variables; together all variables of the model.
    terms : their variables are numbered within `evidence` and `query`.
    """

    query: NDArray[np.int64]
    evidence: NDArray[np.int64]
    terms: QueryTerms

    @property
    def owned(self) -> bool:
        """Whether some terms are CPDs, so that no joint distribution is given."""
        return bool((self.terms.owner != SYMMETRIC).any())


def query_of(terms: Terms, query: NDArray[np.int64]) -> Query:
    """Return the terms that involve a query variable, or belong to one."""
    query = np.sort(np.asarray(query, np.int64))
    evidence = np.setdiff1d(np.arange(terms.n_vars), query)
    place = np.empty(terms.n_vars, np.int64)
    place[query] = np.arange(len(query))
    place[evidence] = np.arange(len(evidence))
    in_query = np.zeros(terms.n_vars, bool)
    in_query[query] = True
    f = terms.conjunctions
    literal_in_query = in_query[f.var]
    n_query = np.bincount(f.owner[literal_in_query], minlength=len(f))
    symmetric = terms.owner == SYMMETRIC
    matters = np.where(symmetric, n_query > 0, in_query[np.where(symmetric, 0, terms.owner)])
    chosen = f.select(matters)
    literal_in_query = in_query[chosen.var]

    def part(mask: NDArray[np.bool_]) -> tuple[NDArray, NDArray, NDArray]:
        length = np.bincount(chosen.owner[mask], minlength=len(chosen))
        start = np.concatenate([[0], np.cumsum(length)])
        return start, place[chosen.var[mask]], chosen.value[mask]

    owner = terms.owner[matters]
    owner = np.where(owner == SYMMETRIC, SYMMETRIC, place[np.maximum(owner, 0)])
    parts = (*part(~literal_in_query), *part(literal_in_query))
    kind = number_kinds(*parts[3:], owner)
    return Query(query, evidence, QueryTerms(*parts, terms.weight[matters], owner, kind))
