"""Gibbs sampling that draws all columns of a variable of several states together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.marginals import (
    MAX_ENUMERATED,
    N_BATCHES,
    Marginals,
    conditional_marginals,
)
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query, Terms, query_of, terms_of
from mnlearn.kernels.sampling.groups import (
    ColumnGroups,
    advance_grouped_states,
    sample_grouped_marginals,
)
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.threads import map_ranges

Groups = Sequence[tuple[int, ...]]


def column_groups(model: Any) -> Groups:
    """Return the columns of each variable of several states, by their names or by what is excluded.

    Only models with a joint distribution have such groups.
    """
    if not isinstance(model, MarkovNetwork):
        return ()
    return model.schema.several


def groups_sampled(model: Any, inference: Inference) -> Groups:
    """Return the groups of columns that are drawn together: none without Gibbs sampling."""
    return column_groups(model) if inference.method == "gibbs" else ()


def describe_barriers(model: Any, method: str) -> str | None:
    """Return what to know of Gibbs sampling in a network that gives states probability 0.

    None if these are only those with no column or several of a group, which is drawn together, or
    for another method of inference.
    """
    if method != "gibbs":
        return None
    if isinstance(model, BayesianNetwork):
        model = model.to_markov_network()
    if not isinstance(model, MarkovNetwork):
        return None
    group_of = np.arange(model.n_vars)
    for group in column_groups(model):
        group_of[list(group)] = min(group)
    for f in np.flatnonzero(np.isinf(model.weight)).tolist():
        if len({group_of[v] for v, _ in model.features.literals(f)}) > 1:
            return (
                "inference gibbs: the model gives states probability 0. Chains that change one "
                "variable at a time may not get around them; exact inference does."
            )
    return None


def groups_asked(query: NDArray[np.int64], groups: Groups) -> ColumnGroups | None:
    """Return the groups of which several columns are asked for; None if there are none.

    query : the variables that are asked for, ascending.
    """
    place = {v: k for k, v in enumerate(query.tolist())}
    inside = [[place[c] for c in own if c in place] for own in groups]
    several = [own for own in inside if len(own) > 1]
    if not several:
        return None
    is_single = np.ones(len(query), bool)
    column = np.concatenate([np.array(own, np.int64) for own in several])
    is_single[column] = False
    start = np.cumsum([0, *map(len, several)], dtype=np.int64)
    return ColumnGroups(start, column, is_single)


def marginals_of_groups(
    terms: Terms,
    rows: NDArray[np.uint8],
    query: NDArray[np.int64],
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Marginals:
    """Return marginals like `conditional_marginals`; chains draw the columns of a group together.

    groups : see `groups_sampled`. Other arguments are those of `conditional_marginals`.
    """
    asked_groups = groups_asked(query, groups)
    if asked_groups is None:
        return conditional_marginals(terms, rows, query, inference, seed=seed, threads=threads)
    asked = query_of(terms, query)
    return _sample(asked, rows, asked_groups, inference, seed=seed, threads=threads)


def _sample(
    asked: Query,
    rows: NDArray[np.uint8],
    groups: ColumnGroups,
    inference: Inference,
    *,
    seed: int,
    threads: int,
) -> Marginals:
    """Return estimates of the marginals of the query variables; see `conditional_marginals`.

    rows, seed, threads : see `conditional_marginals`; inference has the length of the chains.
    """
    distinct, row_of = np.unique(rows[:, asked.evidence], axis=0, return_inverse=True)
    distinct = np.ascontiguousarray(distinct)
    n_batches = min(N_BATCHES, inference.samples)
    ends = np.arange(1, n_batches + 1) * inference.samples // n_batches
    out = np.empty((len(distinct), n_batches, len(asked.query)), np.float32)

    def sample(first: int, last: int) -> None:
        sample_grouped_marginals(
            asked.terms, distinct, groups, np.uint64(seed), inference.burn_in, ends,
            first, last, out,
        )  # fmt: skip

    map_ranges(sample, len(distinct), threads)
    sweeps = np.diff(ends, prepend=0)
    total = np.einsum("ebq,b->eq", out, sweeps, dtype=np.float64)
    # Half a count for each value, as in `conditional_marginals`.
    probability = (total + 0.5) / (inference.samples + 1)
    return Marginals(asked.query, probability, 1.0 - probability, row_of.ravel(), out)


def sample_grouped_rows(
    model: Model, n_rows: int, burn_in: int, seed: int, *, threads: int = 1
) -> NDArray[np.uint8]:
    """Return independent examples like `sample_rows`; chains draw the columns of a group together.

    It differs from `sample_rows` only where that runs Gibbs chains.
    """
    asked = groups = None
    if isinstance(model, MarkovNetwork) and model.n_vars > MAX_ENUMERATED:
        asked = query_of(terms_of(model), np.arange(model.n_vars))
        groups = groups_asked(asked.query, column_groups(model))
    if asked is None or groups is None:
        return sample_rows(model, n_rows, burn_in, seed, threads=threads)
    out = np.empty((n_rows, model.n_vars), np.uint8)
    terms = asked.terms

    def run_chains(first: int, last: int) -> None:
        advance_grouped_states(terms, groups, burn_in, np.uint64(seed), first, last, out)

    map_ranges(run_chains, n_rows, threads)
    return out
