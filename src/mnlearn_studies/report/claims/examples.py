"""Worked examples of the papers: our code against the published numbers."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import networkx as nx
import numpy as np

from mnlearn.learning.conversion import Orders, to_markov_network
from mnlearn.learning.lem.growth import Draft
from mnlearn.models.dependency_network import DependencyNetwork, Trees, flat_trees, tree_network
from mnlearn.models.feature_tree import ROOT, FeatureTree, leaf_features
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.variables.schema import binary_schema
from mnlearn_studies.report.claims.evidence import Entry, Rule
from mnlearn_studies.report.claims.verdicts import CONTRADICTED, REPRODUCED, Outcome
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.reading import Limit

EXAMPLE_TOLERANCE = 1e-6
# Number of variables in the example of rotations; the paper does not state it.
ROTATED_VARIABLES = 15
# The example of LEM: the pairs of variables whose conjunctions divide each side of x1 and x2;
# variables from 0.
_N_VARS = 6
_FIRST = (0, 1)
_BELOW = (((2, 3), (4, 5)), ((2, 4), (3, 5)))

Literals = frozenset[tuple[int, int]]


def _conditionals(
    features: list[list[tuple[int, int]]], weight: list[float], target: int, n: int
) -> DependencyNetwork:
    """Return a network with one CPD, that of `target`, which has these features."""
    targets = np.full(len(features), target, np.int32)
    return DependencyNetwork(flat_trees(n), features_of(features), targets, np.array(weight))


def _weights(network: MarkovNetwork) -> Mapping[Literals, float]:
    return {
        frozenset(network.features.literals(f)): float(weight)
        for f, weight in enumerate(network.weight)
    }


def _two_variables(
    p_first: tuple[float, float], p_second: tuple[float, float], base: float
) -> list[float]:
    """Return P(TT), P(TF), P(FT), P(FF) of two converted trees, in the order 1, 2.

    p_first, p_second : the probability of T if the other variable is F, and if it is T. base : the
    probability that a variable of the base instance is T.
    """
    p = np.array([[0.5, *p_first], [0.5, *p_second]]).ravel()
    children = np.array([[1, 2], [-1, -1], [-1, -1], [4, 5], [-1, -1], [-1, -1]], np.int32)
    trees = Trees(
        np.array([0, 3, 6]),
        np.array([1, -1, -1, 0, -1, -1], np.int32),
        children,
        np.log(np.column_stack([1 - p, p])),
    )
    orders = Orders(np.arange(2), rotations=False, reverse=False)
    weights = _weights(to_markov_network(tree_network(trees), np.full(2, base), orders))
    states = [(1, 1), (1, 0), (0, 1), (0, 0)]
    value = np.array([
        sum(w for literals, w in weights.items() if all(x[v] == value for v, value in literals))
        for x in states
    ])  # fmt: skip
    return [float(p) for p in np.exp(value) / np.exp(value).sum()]


def simplified() -> list[float]:
    """Section 4.2: weights of X1 & !X2, X1 & X2, X1, and the sum of all other absolute weights.

    The features f1, f2, f3 have the weights 1, 10 and 100 instead of w1, w2 and w3. The example
    gives base values to the variables after the target; Table 2 and Section 5.2 give them to the
    variables before it. Our conversion follows Table 2, so this function reverses the order.
    """
    features = [[(0, 1), (1, 0), (3, 1)], [(0, 1), (1, 1)], [(1, 1), (3, 0)]]
    network = _conditionals(features, [1.0, 10.0, 100.0], target=1, n=4)
    orders = Orders(np.arange(4)[::-1].copy(), rotations=False, reverse=False)
    weights = _weights(to_markov_network(network, np.ones(4), orders))
    known = [frozenset({(0, 1), (1, 0)}), frozenset({(0, 1), (1, 1)}), frozenset({(0, 1)})]
    rest = sum(abs(w) for literals, w in weights.items() if literals not in known)
    return [*(weights.get(literals, 0.0) for literals in known), rest]


def _shares(literals: list[int], target: int, base: float, orders: Orders) -> dict[Literals, float]:
    """Return the weights of the subfeatures with the target, of a conjunction of weight 1.

    The target's value in the base instance contradicts the conjunction, so the denominators of the
    conditionals add no subfeature.
    """
    n = len(orders.order)
    network = _conditionals([[(v, 1) for v in literals]], [1.0], target, n)
    bases = np.full(n, base)
    bases[target] = 0.0
    weights = _weights(to_markov_network(network, bases, orders))
    return {frozenset(key): weight for key, weight in weights.items() if (target, 1) in key}


def rotations() -> list[float]:
    """Section 5.2: shares of four subfeatures of X4, X6, X7, X13 over all rotations."""
    orders = Orders(np.arange(ROTATED_VARIABLES), reverse=False)
    found = _shares([3, 5, 6, 12], 6, 1.0, orders)
    kept = [(3, 5, 6, 12), (3, 6, 12), (6, 12), (6,)]
    return [found.get(frozenset((v, 1) for v in literals), 0.0) for literals in kept]


def all_orders() -> list[float]:
    """Section 5.2: shares of subfeatures of 1, 2, 3 and 4 of 4 literals over all 4! orders."""
    found = _shares([0, 1, 2, 3], 0, 1.0, Orders(np.arange(4), all_up_to=4))
    return [found.get(frozenset((v, 1) for v in range(n)), 0.0) for n in range(1, 5)]


def length_two() -> list[float]:
    """Section 5.2: shares of X1 and of X1 & X3 in X1 & X3 over the 2n orders of 5 variables."""
    found = _shares([0, 2], 0, 1.0, Orders(np.arange(5)))
    return [found.get(frozenset((v, 1) for v in literals), 0.0) for literals in ((0,), (0, 2))]


def uniform() -> list[float]:
    """Section 5.1: share of all base instances that agree with 1, 2 and 3 removed literals."""
    shares = []
    for k in (1, 2, 3):
        # The target is last in the order, so that all k other literals are removed.
        orders = Orders(np.arange(k + 1), rotations=False, reverse=False)
        found = _shares(list(range(k + 1)), k, 0.5, orders)
        shares.append(found.get(frozenset({(k, 1)}), 0.0))
    return shares


def figure_1() -> list[float]:
    """LEM, Figure 1: A-nodes of the feature tree, potential values of its junction tree."""
    tree = figure_1_tree()
    scopes = [
        sorted({v for v, _ in itertools.chain(leaf.literals, *leaf.negated)})
        for leaf in leaf_features(tree)
    ]
    return [float(tree.n_a_nodes), float(sum(2 ** len(c) for c in _cliques(scopes)))]


def figure_1_tree() -> FeatureTree:
    """Return the feature tree of Figure 1 (a)."""
    draft = Draft()
    half = [math.log(0.5)] * 2
    top = draft.add_feature(ROOT, _both(_FIRST), half, [(), _both(_FIRST)])
    for side, pairs in enumerate(_BELOW):
        for pair in pairs:
            draft.add_feature(top + side, _both(pair), half, [(), _both(pair)])
    return draft.tree(binary_schema(_N_VARS))


def _both(pair: tuple[int, int]) -> list[tuple[int, int]]:
    return [(v, 1) for v in pair]


def _cliques(scopes: list[list[int]]) -> Iterable[frozenset[int]]:
    graph = nx.Graph(pair for scope in scopes for pair in itertools.combinations(scope, 2))
    return nx.chordal_graph_cliques(nx.complete_to_chordal_graph(graph)[0])


EXAMPLES: dict[str, Callable[[], list[float]]] = {
    # Section 4.1, and Section 5 with the base instances (T, T) and (F, F).
    "consistent": partial(_two_variables, (0.4, 0.8), (1 / 4, 2 / 3), base=1.0),
    "inconsistent_true": partial(_two_variables, (0.2, 0.8), (0.8, 0.2), base=1.0),
    "inconsistent_false": partial(_two_variables, (0.2, 0.8), (0.8, 0.2), base=0.0),
    **{
        one.__name__: one
        for one in (simplified, rotations, all_orders, length_two, uniform, figure_1)
    },
}


@dataclass(frozen=True, kw_only=True)
class Example(Entry):
    """The numbers of the worked example named `example`, which our code runs on."""

    kind_name = "example"
    example: Annotated[str, Limit(f"one of {', '.join(EXAMPLES)}", EXAMPLES.__contains__)]

    rules: ClassVar = {
        "": Rule(
            "worked example",
            f"±{EXAMPLE_TOLERANCE:g}",
            "our code runs on the example; `reproduced` if every number agrees within "
            f"{EXAMPLE_TOLERANCE:g}, else `contradicted`",
        )
    }

    def judge(self, material: Material) -> Outcome:
        ours = EXAMPLES[self.example]()
        theirs = self.published_list(len(ours))
        agrees = np.allclose(ours, theirs, rtol=0, atol=EXAMPLE_TOLERANCE)
        text = "; ".join(f"{value + 0.0:.4g}" for value in ours)
        return Outcome(REPRODUCED if agrees else CONTRADICTED, text)
