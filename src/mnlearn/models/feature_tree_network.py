"""The Markov network of a feature tree: a feature for each leaf, weights in closed form, Z = 1."""

from collections.abc import Iterator
from dataclasses import dataclass

from mnlearn.models.feature_tree import ROOT, FeatureTree
from mnlearn.models.features import features_of
from mnlearn.models.grouped_variables import GroupedVariables
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError

Literal = tuple[int, int]
Conjunction = tuple[Literal, ...]
# More conjunctions than this are refused: their network would be of no use.
MAX_FEATURES = 2_000_000


@dataclass(frozen=True)
class LeafFeature:
    """What holds on the way to a leaf: literals, and conjunctions of which each does not hold."""

    literals: Conjunction
    negated: tuple[Conjunction, ...]
    weight: float


def leaf_features(tree: FeatureTree) -> Iterator[LeafFeature]:
    """Yield a feature for each A-node without children, over the tree's variables.

    The weight of a leaf is its log-probability and a share of those above it: each A-node hands
    its own share to its children in equal parts. So the weights of the features that a state
    satisfies, one on each way down, add up to its log-probability.

    References
    ----------
    Gogate, Webb & Domingos (2010), Section 2 and Figure 1; their weights differ by the model
    counts, which cancel.
    """
    # An A-node, what holds above it, and its share of the log-probabilities from the root on.
    waiting: list[tuple[int, Conjunction, tuple[Conjunction, ...], float]] = [(ROOT, (), (), 0.0)]
    while waiting:
        a, literals, negated, share = waiting.pop()
        children = tree.children(a)
        if not children:
            yield LeafFeature(literals, negated, share)
        for f in reversed(children):
            feature = tree.literals(f)
            branches = tree.branches(f)
            for b in reversed(branches):
                weight = share / len(children) + float(tree.log_prob[b])
                if not feature:
                    waiting.append((b, literals + tree.fixed(b), negated, weight))
                elif b == branches[1]:
                    waiting.append((b, literals + feature, negated, weight))
                else:
                    waiting.append((b, literals, (*negated, feature), weight))


def network_of(tree: FeatureTree) -> MarkovNetwork:
    """Return the Markov network over the binary columns, whose partition function is 1.

    A negated conjunction of several literals is written as conjunctions that exclude each other:
    not (a and b) is (not a) or (a and not b). Each has the weight of the leaf. Features of weight
    minus infinity forbid that a group has none or several of its values.

    Raises
    ------
    InputError
        The network would have more than `MAX_FEATURES` features.
    """
    conjunctions: list[list[Literal]] = []
    weights: list[float] = []
    for leaf in leaf_features(tree):
        for expanded in _expand(tree.variables, leaf):
            conjunctions.append(sorted(expanded.items()))
            weights.append(leaf.weight)
            if len(weights) > MAX_FEATURES:
                raise InputError(f"has more than {MAX_FEATURES:,} features.", where="feature tree")
    for forbidden in tree.variables.impossible():
        conjunctions.append(forbidden)
        weights.append(-float("inf"))
    return markov_network(tree.n_vars, features_of(conjunctions), weights, tree.names)


def _expand(variables: GroupedVariables, leaf: LeafFeature) -> Iterator[dict[int, int]]:
    """Yield conjunctions over columns, as column: value, that together say what the leaf says."""
    own: dict[int, int] = {}
    for literal in leaf.literals:
        own |= variables.implied(*literal)
    negated = [[variables.column_literal(*lit) for lit in clause] for clause in leaf.negated]
    # Short ones first: they fix columns, which makes others true or shorter.
    waiting = [(own, sorted(negated, key=len))]
    while waiting:
        known, clauses = waiting.pop()
        if not clauses:
            yield known
            continue
        clause, *rest = clauses
        if any(known.get(c, x) != x for c, x in clause):
            waiting.append((known, rest))
            continue
        for c, x in clause:
            if c not in known:
                waiting.append(({**known, c: 1 - x}, rest))
                known = {**known, c: x}
