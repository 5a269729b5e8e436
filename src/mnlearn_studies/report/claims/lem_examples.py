"""The worked example of the LEM paper: the feature tree of its Figure 1 and a junction tree."""

import itertools
import math
from collections.abc import Iterable

import networkx as nx

from mnlearn.learning.lem.growth import Draft
from mnlearn.models.feature_tree import ROOT, FeatureTree, leaf_features
from mnlearn.models.grouped_variables import grouped_variables

_N_VARS = 6
# The pairs of variables whose conjunctions divide each side of x1 and x2; variables from 0.
_FIRST = (0, 1)
_BELOW = (((2, 3), (4, 5)), ((2, 4), (3, 5)))


def figure_1() -> list[float]:
    """Return the A-nodes of the feature tree, and the potential values of its junction tree."""
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
    return draft.tree(grouped_variables(_N_VARS, ()), None)


def _both(pair: tuple[int, int]) -> list[tuple[int, int]]:
    return [(v, 1) for v in pair]


def _cliques(scopes: list[list[int]]) -> Iterable[frozenset[int]]:
    """Return the maximal cliques of a chordal graph that joins the variables of each scope."""
    graph = nx.Graph(pair for scope in scopes for pair in itertools.combinations(scope, 2))
    return nx.chordal_graph_cliques(nx.complete_to_chordal_graph(graph)[0])
