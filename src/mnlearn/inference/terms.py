"""One form for inference in all log-linear models: weighted conjunctions with or without owner."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.indicators import Indicators, over_indicators
from mnlearn.inference.tables.factors import factors_of, given_of_factors, given_of_features
from mnlearn.kernels.sampling.blocks import Blocks
from mnlearn.kernels.sampling.conditioning import SYMMETRIC, QueryTerms
from mnlearn.kernels.tables.graphs import Given
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet, concatenate, feature_set
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model

# In sums, infinities of both signs would give NaN. A log-probability below minus half of this
# number is reported as minus infinity.
HARD_WEIGHT = 1e6


@dataclass(frozen=True, eq=False)
class Terms:
    """A model as conjunctions of literals on indicators.

    For what owned and symmetric terms are see `kernels.sampling.conditioning`.

    indicators : what literals speak of; in a binary model the variables themselves.
    conjunctions : symmetric terms have all their literals; an owned term lacks its owner's.
    weight : float64, finite. owner : int64, the column whose log-odds or score a term adds to, or
        SYMMETRIC. model : whose terms they are.
    """

    indicators: Indicators
    conjunctions: FeatureSet
    weight: NDArray[np.float64]
    owner: NDArray[np.int64]
    model: Model

    @cached_property
    def given(self) -> Given:
        """The factors of belief propagation: tables, or each feature, where these are too large."""
        found = factors_of(self.model)
        return given_by_feature(self.model) if found is None else given_of_factors(found)

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return self.indicators.n_vars


def terms_of(model: Model) -> Terms:
    """Return a model as terms: features as they are, CPDs as log-odds given their conditions."""
    if isinstance(model, DependencyNetwork):
        return _terms_of_cpds(model, with_trees=True)
    network: MarkovNetwork = model.to_markov_network()
    features, possible, indicators = over_indicators(network.features, network.schema.start)
    weight = finite(network.weight)
    if not possible.all():
        features, weight = features.select(possible), weight[possible]
    return Terms(indicators, features, weight, np.full(len(features), SYMMETRIC, np.int64), model)


def given_by_feature(model: Model) -> Given:
    """Return the features of a model as factors of their own, as in the papers of the studies."""
    network: MarkovNetwork = model.to_markov_network()
    return given_of_features(network.schema, network.features, finite(network.weight))


def terms_of_features(model: DependencyNetwork) -> Terms:
    """Return what the features of the CPDs add to log-odds and scores, without the trees."""
    return _terms_of_cpds(model, with_trees=False)


def _terms_of_cpds(model: DependencyNetwork, *, with_trees: bool) -> Terms:
    """Return the terms of CPDs: one for each leaf and state, and those of their features."""
    trees, start = model.trees, model.schema.start
    width = np.diff(start)
    leaves = np.flatnonzero(trees.is_leaf) if with_trees else np.zeros(0, np.int64)
    leaf = np.repeat(leaves, width[trees.target[leaves]])
    own_width = width[trees.target[leaf]]
    state = np.arange(len(leaf)) - np.searchsorted(leaf, leaf)
    of_leaf = np.where(
        own_width == 1,
        leaf_log_odds(trees.log_prob)[leaf],
        finite(trees.log_prob[leaf, state]),
    )
    paths = [trees.paths().select(leaf)] if with_trees else []
    both, possible, indicators = over_indicators(concatenate([*paths, model.features]), start)
    kept = np.flatnonzero(possible)
    features = both.select(kept[kept >= len(leaf)])
    number = kept[kept >= len(leaf)] - len(leaf)
    rest, of, owner, sign = _conditions(features, model.target[number], indicators)
    kept = kept[kept < len(leaf)]
    return Terms(
        indicators,
        concatenate([both.select(kept), rest]),
        np.concatenate([of_leaf[kept], sign * finite(model.weight)[number[of]]]),
        np.concatenate([(start[trees.target[leaf]] + state)[kept], owner]),
        model,
    )


def _conditions(
    features: FeatureSet, target: NDArray[np.int32], indicators: Indicators
) -> tuple[FeatureSet, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return CPD features without their target's literal, and what that literal says.

    features, target : over indicators, and the variable of each CPD.
    """
    own = indicators.variable_of[features.var] == target[features.owner]
    length = np.bincount(features.owner[~own], minlength=len(features))
    start = np.concatenate([[0], np.cumsum(length)])
    rest = feature_set(start, features.var[~own], features.value[~own])
    of, owner = np.arange(len(features)), features.var[own].astype(np.int64)
    sign = np.where(features.value[own] == 1, 1.0, -1.0)
    if not (owner >= indicators.n_columns).any():
        return rest, of, owner, sign
    columns = [indicators.columns_of(k) for k in owner.tolist()]
    of = np.repeat(of, [len(c) for c in columns])
    return rest.select(of), of, np.concatenate(columns), sign[of]


def leaf_log_odds(log_prob: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return finite log-odds of the second of two states from log-probabilities of leaves."""
    return finite(log_prob[:, 1]) - finite(log_prob[:, 0])


def finite(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `weight` with infinities replaced by HARD_WEIGHT of the same sign."""
    return np.clip(weight, -HARD_WEIGHT, HARD_WEIGHT)


@dataclass(frozen=True, eq=False)
class Query:
    """The terms that matter to a set of query variables, split by what is known.

    query : int64, variables, ascending. start : int64, (n_query + 1,), and columns : int64. Query
        variable q has columns[start[q]:start[q + 1]].
    evidence : int64, the indicators of all other variables.
    blocks : the query variables that have columns.
    terms : their indicators are numbered within `evidence`, and within those of the query: the
        columns first.
    """

    query: NDArray[np.int64]
    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    evidence: NDArray[np.int64]
    blocks: Blocks
    terms: QueryTerms

    @property
    def owned(self) -> bool:
        """Whether some terms are CPDs, so that no joint distribution is given."""
        return bool((self.terms.owner != SYMMETRIC).any())

    @property
    def is_binary(self) -> bool:
        """Whether no query variable has several columns."""
        return len(self.blocks.start) - 1 == len(self.columns)


def _number_kinds(
    start: NDArray[np.int64], var: NDArray, value: NDArray, owner: NDArray
) -> NDArray[np.int64]:
    """Number the terms by kind: those of one have the same owner and the same literals.

    Sums of random marks tell kinds apart, but for a probability of 2^-64 for each two.
    """
    size = max(var.max(initial=0), owner.max(initial=0)) + 1
    mark = np.random.default_rng(0).integers(0, 2**64, (size, 3), np.uint64)
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mark[var, value])])
    key = total[start[1:]] - total[start[:-1]]
    key[owner >= 0] += mark[owner[owner >= 0], 2]
    return np.unique(key, return_inverse=True)[1]


def given_terms(terms: Terms, row: NDArray[np.uint8], unknown: NDArray[np.bool_]) -> Terms:
    """Return the terms that are left of a model given what is known of a row, (1, n_columns)."""
    f, value = terms.conjunctions, terms.indicators.extend(row)[0]
    known = ~unknown[terms.indicators.variable_of[f.var]]
    ruled_out = f.owner[known & (value[f.var] != f.value)]
    left = np.bincount(ruled_out, minlength=len(f)) == 0
    own = ~known & left[f.owner]
    length = np.bincount(f.owner[own], minlength=len(f))[left]
    start = np.concatenate([[0], np.cumsum(length)])
    features = feature_set(start, f.var[own], f.value[own])
    return replace(terms, conjunctions=features, weight=terms.weight[left], owner=terms.owner[left])


def query_of(terms: Terms, query: NDArray[np.int64]) -> Query:
    """Return the terms that involve a query variable, or belong to one.

    query : the numbers of variables.
    """
    indicators = terms.indicators
    query = np.sort(np.asarray(query, np.int64))
    of_query = np.zeros(terms.n_vars, bool)
    of_query[query] = True
    in_query = of_query[indicators.variable_of]
    evidence, own = np.flatnonzero(~in_query), np.flatnonzero(in_query)
    place = np.empty(len(in_query), np.int64)
    place[own] = np.arange(len(own))
    place[evidence] = np.arange(len(evidence))
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
    kind = _number_kinds(*parts[3:], owner)
    width = np.diff(indicators.start)
    return Query(
        query,
        np.concatenate([[0], np.cumsum(width[query], dtype=np.int64)]),
        own[own < indicators.n_columns],
        evidence,
        indicators.blocks(query[width[query] > 0]),
        QueryTerms(*parts, terms.weight[matters], owner, kind),
    )
