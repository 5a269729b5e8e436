"""Random factor graphs, and what they mean by enumeration."""

import numpy as np

from mnlearn.inference.tables.factors import factors_of_tables
from mnlearn.variables.schema import NO_STATE


def random_factors(seed, n_vars=7, n_factors=9, most=3, zeros=0.15, scale=1.0):
    """Factors over variables of one to four states, some of whose cells are impossible."""
    rng = np.random.default_rng(seed)
    arity = rng.integers(1, 5, n_vars)
    scopes = [
        tuple(rng.choice(n_vars, rng.integers(0, most + 1), replace=False).tolist())
        for _ in range(n_factors)
    ]
    tables = []
    for scope in scopes:
        table = rng.normal(scale=scale, size=arity[list(scope)])
        table = np.where((rng.random(table.shape) < zeros) & (table < 1), -np.inf, table)
        tables.append(np.where(np.isneginf(table).all(), 0.5, table))
    return factors_of_tables(arity, scopes, tables)


def log_joint(factors):
    """The log of the product of all factors, an axis for each variable."""
    out = np.zeros(factors.arity)
    for f, scope in enumerate(factors.scopes):
        absent = [v for v in range(out.ndim) if v not in scope]
        out += np.expand_dims(factors.table(f).transpose(np.argsort(scope)), absent)
    return out


def log_sum(values):
    """Log of the sum of exponentials, minus infinity for none."""
    most = np.max(values)
    return most if np.isneginf(most) else most + np.log(np.exp(values - most).sum())


def random_evidence(seed, factors, share=0.3):
    """States of some variables, NO_STATE of the others."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, factors.arity).astype(np.uint8)
    return np.where(rng.random(len(values)) < share, values, NO_STATE).astype(np.uint8)


def agreeing(joint, values):
    """The joint table where it agrees with evidence, minus infinity elsewhere."""
    out = np.full(joint.shape, -np.inf)
    index = tuple(slice(None) if x == NO_STATE else slice(int(x), int(x) + 1) for x in values)
    out[index] = joint[index]
    return out


def marginals_of(log_p):
    """P(state) of all variables, one after the other, from the logarithms of a joint table."""
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    axes = range(p.ndim)
    return np.concatenate([p.sum(axis=tuple(a for a in axes if a != v)) for v in axes])
