"""Models of variables of one, two and more states; `oracles` has what they mean."""

import numpy as np

from made_states import schema_of
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network

ARITIES = (2, 3, 1, 4, 3)


def random_conjunction(rng, schema, longest=3):
    """Literals on some variables: one state, several excluded states, or both."""
    wide = np.flatnonzero(schema.arity > 1)
    found = []
    for v in rng.choice(wide, rng.integers(1, longest + 1), replace=False).tolist():
        own = list(schema.columns(v))
        if len(own) == 1:
            found.append((own[0], int(rng.integers(2))))
            continue
        excluded = rng.choice(own, rng.integers(1, len(own) + 1), replace=False).tolist()
        kind = rng.integers(4)
        if kind == 0:
            found.append((own[rng.integers(len(own))], 1))
        elif kind == 1:
            # May be a contradiction, or say more than is needed.
            found += [(own[rng.integers(len(own))], 1), (excluded[0], 0)]
        else:
            found += [(c, 0) for c in excluded]
    return sorted(found)


def random_states_network(seed, arities=ARITIES, n_features=25, scale=1.0):
    rng = np.random.default_rng(seed)
    schema = schema_of(*arities)
    features = [random_conjunction(rng, schema) for _ in range(n_features)]
    return markov_network(schema, features_of(features), rng.normal(scale=scale, size=n_features))


def pairwise_tree(seed, arities=ARITIES, scale=1.0):
    """A network whose features join each variable to an earlier one, each pair once."""
    rng = np.random.default_rng(seed)
    schema = schema_of(*arities)
    wide = np.flatnonzero(schema.arity > 1).tolist()
    features = [[(c, 1)] for c in range(schema.n_columns)]
    for k in range(1, len(wide)):
        pair = []
        for v in (wide[k], wide[rng.integers(k)]):
            own = list(schema.columns(v))
            excluded = rng.choice(own, max(len(own) - 2, 1), replace=False).tolist()
            pair += [(c, 0) for c in excluded] if rng.integers(2) else [(own[0], 1)]
        features.append(sorted(pair))
    return markov_network(
        schema, features_of(features), rng.normal(scale=scale, size=len(features))
    )


def random_tree(rng, schema, v, most):
    """The nodes of a tree of variable `v`, of two tests at most, and leaves over its states."""
    others = [c for c in range(schema.n_columns) if schema.variable_of[c] != v]
    first, second = rng.choice(others, 2, replace=False).tolist()
    split, child = [first, second, LEAF, LEAF, LEAF], [[1, 2], [3, 4], *[[LEAF, LEAF]] * 3]
    log_prob = np.full((5, most), -np.inf)
    k = int(schema.arity[v])
    log_prob[:, :k] = np.log(rng.dirichlet(np.ones(k), 5))
    return split, child, log_prob


def random_states_dependency_network(seed, arities=ARITIES, n_features=12):
    rng = np.random.default_rng(seed)
    schema = schema_of(*arities)
    parts = [random_tree(rng, schema, v, max(arities)) for v in range(len(schema))]
    start = 5 * np.arange(len(schema) + 1)
    child = np.concatenate(
        [np.where(np.array(c) >= 0, np.array(c) + 5 * v, LEAF) for v, (_, c, _) in enumerate(parts)]
    )
    trees = Trees(
        start,
        np.concatenate([s for s, _, _ in parts]).astype(np.int32),
        child.astype(np.int32),
        np.concatenate([p for _, _, p in parts]),
    )
    features, target = [], []
    while len(features) < n_features:
        literals = random_conjunction(rng, schema)
        features.append(literals)
        target.append(int(schema.variable_of[literals[rng.integers(len(literals))][0]]))
    weight = rng.normal(size=n_features)
    return DependencyNetwork(
        trees, features_of(features), np.array(target, np.int32), weight, schema
    )
