"""LEM by its definition: slow, in plain Python, with no code of the package.

A scope is a dictionary from a variable to the sorted list of its allowed values. A clause is a
frozenset of literals (variable, value) that do not all hold. A tree is nested tuples:

    ("feature", literals, [branch of 0, branch of 1]) or ("table", variables, branches)
    branch = (log-probability, {variable: value} fixed here, [nodes below])
"""

import itertools
import math
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass
class Settings:
    delta: float = 0.05
    subset_size: int = 3
    max_feature_length: int = 3
    search: str = "greedy"
    side_score: str = "joint"
    small_side: str = "one-block"
    min_rows: int = 10
    pseudocount: float = 1.0
    bias_correction: bool = False
    table_below: int = 5
    similar: float = 0.0
    balance: bool = True
    literals: str = "positive"
    # Number of values of each variable before any were ruled out; 2 if not given.
    arity: dict = field(default_factory=dict)


def entropy(rows, variables):
    """Plug-in entropy in nats, and the number of joint values seen."""
    _, count = np.unique(rows[:, list(variables)], axis=0, return_counts=True)
    p = count / len(rows)
    return float(-(p * np.log(p)).sum()), len(count)


def information(rows, one, other, corrected):
    """I(one; other) between two sets of variables."""
    (h1, _), (h2, _), (h, _) = (entropy(rows, s) for s in (one, other, one + other))
    value = h1 + h2 - h
    if corrected:
        seen = [math.prod(entropy(rows, (v,))[1] for v in s) for s in (one, other)]
        value -= (seen[0] - 1) * (seen[1] - 1) / (2 * len(rows))
    return value


def least_information(rows, members, corrected):
    """The least I(X; A without X) over the proper subsets X of A."""
    first, *rest = members
    cuts = itertools.chain.from_iterable(
        itertools.combinations(rest, size) for size in range(len(rest))
    )
    return min(
        information(rows, (first, *cut), tuple(v for v in rest if v not in cut), corrected)
        for cut in cuts
    )


def partition(rows, scope, clauses, settings, measure=None):
    """LMIP: the blocks in order of their least variables, and whether there were too few rows.

    measure : called with a tuple of variables in place of `least_information` of the rows.
    """
    block = {v: {v} for v in scope}

    def merge(variables):
        union = set().union(*(block[v] for v in variables))
        for v in union:
            block[v] = union

    for clause in clauses:
        merge([v for v, _ in clause])
    small = measure is None and (len(rows) < settings.min_rows or len(rows) == 0)
    if not small:
        for size in range(2, settings.subset_size + 1):
            for members in itertools.combinations(sorted(scope), size):
                if all(v in block[members[0]] for v in members):
                    continue
                value = (
                    measure(members)
                    if measure
                    else least_information(rows, members, settings.bias_correction)
                )
                if value > settings.delta:
                    merge(members)
    return sorted({tuple(sorted(b)) for b in block.values()}), small


def propagate(scope, clauses):
    """Simplify clauses until none forbids a value by itself; None if no state is left.

    Returns the scope of free variables, their clauses, and the values of those fixed.
    """
    scope, clauses = {v: list(values) for v, values in scope.items()}, list(clauses)
    changed = True
    while changed:
        changed = False
        kept = []
        for clause in clauses:
            if any(value not in scope[v] for v, value in clause):
                continue
            left = frozenset((v, value) for v, value in clause if len(scope[v]) > 1)
            if not left:
                return None
            if len(left) == 1:
                ((v, value),) = left
                scope[v].remove(value)
                changed = True
            else:
                kept.append(left)
        clauses = kept
    fixed = {v: values[0] for v, values in scope.items() if len(values) == 1}
    return {v: values for v, values in scope.items() if len(values) > 1}, clauses, fixed


def side_of(scope, clauses, literals, holds):
    """What is left on one side of a feature: as `propagate`."""
    if holds:
        scope = {**scope, **{v: [value] for v, value in literals}}
        return propagate(scope, clauses)
    return propagate(scope, [*clauses, frozenset(literals)])


def satisfied(rows, literals):
    return np.all([rows[:, v] == value for v, value in literals], axis=0)


@dataclass
class Candidate:
    literals: tuple
    total: float
    difference: float
    n_difference: int


def assess(rows, scope, clauses, literals, settings):
    """The score of a feature, or None where it is not admissible."""
    holds = satisfied(rows, literals)
    if holds.all() or not holds.any():
        return None
    cost = []
    for side in (0, 1):
        own = rows[holds == side]
        free, kept, fixed = side_of(scope, clauses, literals, side)
        blocks, small = partition(own, free, kept, settings)
        if small and settings.small_side == "inadmissible":
            return None
        if small and settings.small_side == "one-block":
            blocks = [tuple(free)] if free else []
        sizes = [math.prod(len(free[v]) for v in block) for block in blocks]
        cost.append(sum(sizes) + 2 * len(fixed))
    total = 1 / sum(cost) if settings.side_score == "joint" else 1 / cost[0] + 1 / cost[1]
    n_one = int(holds.sum())
    return Candidate(
        tuple(literals), total, abs(1 / cost[0] - 1 / cost[1]), abs(2 * n_one - len(rows))
    )


def pick(candidates, settings):
    """The best of the candidates, with the rule of balance among those of similar scores."""
    left = [c for c in candidates if c is not None]
    best = max((c.total for c in left), default=0.0)
    if settings.balance:
        left = [c for c in left if c.total >= best * (1 - settings.similar) - 1e-12 * best]
        least = min((c.difference for c in left), default=0.0)
        left = [c for c in left if c.difference <= least + 1e-12 * best]
    if settings.similar > 0 or not settings.balance:
        highest = max((c.total for c in left), default=0.0)
        left = [c for c in left if c.total >= highest * (1 - 1e-12)]
    return min(left, key=lambda c: c.n_difference, default=None)


def literals_of(scope, settings, length):
    both = settings.literals == "both" and length > 1
    for v in sorted(scope):
        for value in scope[v]:
            if both or settings.arity[v] > 2 or value == 1:
                yield (v, value)


def best_feature(rows, scope, clauses, settings):
    def chosen(features):
        return pick([assess(rows, scope, clauses, f, settings) for f in features], settings)

    if settings.search == "exhaustive":
        features = []
        for length in range(1, settings.max_feature_length + 1):
            for members in itertools.combinations(sorted(scope), length):
                lists = [list(literals_of({v: scope[v]}, settings, length)) for v in members]
                features += itertools.product(*lists)
        return chosen(features)
    current = chosen([(literal,) for literal in literals_of(scope, settings, 1)])
    while current is not None and len(current.literals) < settings.max_feature_length:
        used = {v for v, _ in current.literals}
        longer = chosen(
            [
                tuple(sorted((*current.literals, literal)))
                for literal in literals_of(scope, settings, 2)
                if literal[0] not in used
            ]
        )
        if longer is None or longer.total <= current.total * (1 + 1e-12):
            break
        current = longer
    return current


def table(rows, scope, clauses, settings):
    """The assignments that break no clause, with their smoothed frequencies."""
    variables = sorted(scope)
    cells = []
    for values in itertools.product(*(scope[v] for v in variables)):
        state = dict(zip(variables, values, strict=True))
        if any(all(state[v] == value for v, value in clause) for clause in clauses):
            continue
        own = np.all([rows[:, v] == value for v, value in state.items()], axis=0)
        cells.append((state, int(own.sum())))
    total = len(rows) + settings.pseudocount * len(cells)
    return (
        "table",
        variables,
        [(math.log((c + settings.pseudocount) / total), state, []) for state, c in cells],
    )


def restricted(clauses, block):
    return [c for c in clauses if all(v in block for v, _ in c)]


def independent(rows, scope, clauses, settings):
    """One table for each variable; those tied by clauses together."""
    blocks, _ = partition(rows[:0], scope, clauses, settings)
    nodes = []
    for block in blocks:
        own, tied = {v: scope[v] for v in block}, restricted(clauses, block)
        if len(block) == 1 or len(block) < settings.table_below:
            nodes.append(table(rows, own, tied, settings))
            continue
        literal = min(tied[0])
        nodes.append(feature_node(rows, own, tied, (literal,), settings, independent))
    return nodes


def feature_node(rows, scope, clauses, literals, settings, below):
    holds = satisfied(rows, literals)
    sides = [side_of(scope, clauses, literals, side) for side in (0, 1)]
    n = [int((holds == side).sum()) for side in (0, 1)]
    branches = []
    for side in (0, 1):
        if sides[side] is None:
            continue
        free, kept, fixed = sides[side]
        p = (n[side] + settings.pseudocount) / (len(rows) + 2 * settings.pseudocount)
        if sides[1 - side] is None:
            p = 1.0
        branches.append((math.log(p), fixed, below(rows[holds == side], free, kept, settings)))
    return ("feature", literals, branches)


def learn(rows, scope, clauses, settings):
    if len(scope) == 1:
        return [table(rows, scope, clauses, settings)]
    if len(rows) < settings.min_rows or len(rows) == 0:
        return independent(rows, scope, clauses, settings)
    feature = best_feature(rows, scope, clauses, settings)
    if feature is not None:
        return [feature_node(rows, scope, clauses, feature.literals, settings, handle)]
    nodes = []
    for block in partition(rows, scope, clauses, settings)[0]:
        own, tied = {v: scope[v] for v in block}, restricted(clauses, block)
        tabulated = len(block) < settings.table_below
        make = (lambda *a: [table(*a)]) if tabulated else independent
        nodes += make(rows, own, tied, settings)
    return nodes


def handle(rows, scope, clauses, settings):
    if not scope:
        return []
    blocks, small = partition(rows, scope, clauses, settings)
    nodes = []
    for block in blocks:
        own, tied = {v: scope[v] for v in block}, restricted(clauses, block)
        if len(blocks) == 1 and len(block) < settings.table_below:
            nodes.append(table(rows, own, tied, settings))
        elif small:
            nodes += independent(rows, own, tied, settings)
        else:
            nodes += learn(rows, own, tied, settings)
    return nodes


def learn_tree(values, arity, settings):
    """The nodes below the root, of rows of values, each variable with `arity` of them."""
    settings = replace(settings, arity=dict(enumerate(arity)))
    return learn(values, {v: list(range(r)) for v, r in enumerate(arity)}, [], settings)


def log_probability(nodes, x):
    """The log-probability of a state under the nodes of a branch."""
    total = 0.0
    for kind, what, branches in nodes:
        if kind == "feature" and len(branches) == 2:
            log_p, _, below = branches[all(x[v] == value for v, value in what)]
        elif kind == "feature":
            ((log_p, _, below),) = branches
        else:
            found = [b for b in branches if all(x[v] == value for v, value in b[1].items())]
            if not found:
                return -math.inf
            log_p, _, below = found[0]
        total += log_p + log_probability(below, x)
    return total


def size(nodes):
    """Number of A-nodes below the root, of F-nodes and of tables."""
    counts = np.zeros(3, int)
    for kind, _, branches in nodes:
        counts += (len(branches), kind == "feature", kind == "table")
        for _, _, below in branches:
            counts += size(below)
    return counts
