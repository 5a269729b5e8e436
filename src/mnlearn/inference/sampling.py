"""Draw examples from a model; Gibbs chains of a network that go on where they were left."""

import itertools

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.exact import draw
from mnlearn.inference.marginals import conditional_log_likelihood
from mnlearn.inference.plan import ENUMERATION, OWN, SAMPLE, Plan, plan
from mnlearn.inference.terms import Query, given_terms, query_of, terms_of
from mnlearn.kernels.sampling.blocks import advance_states
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE


def advance_chains(
    network: MarkovNetwork,
    states: NDArray[np.uint8],
    n_sweeps: int,
    seed: int,
    *,
    threads: int = 1,
) -> NDArray[np.uint8]:
    """Return the states of Gibbs chains after some sweeps over all variables.

    seed : what a chain draws depends on this 64-bit seed and on its position in `states`.
    """
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    return _run_chains(asked, states, n_sweeps, seed, from_random=False, threads=threads)


def _run_chains(
    asked: Query,
    states: NDArray[np.uint8],
    n_sweeps: int,
    seed: int,
    *,
    from_random: bool,
    threads: int,
) -> NDArray[np.uint8]:
    """Return rows after some sweeps over all variables, from random states or from those given."""
    blocks = asked.blocks
    out = np.empty((len(states), len(blocks.start) - 1), np.uint8)
    for b, (first, last) in enumerate(itertools.pairwise(blocks.start.tolist())):
        own = states[:, first:last]
        out[:, b] = own.argmax(axis=1) if last - first > 1 else own[:, 0]

    def advance(first: int, last: int) -> None:
        how = (blocks, n_sweeps, np.uint64(seed), from_random)
        advance_states(asked.terms, *how, first, last, out)

    map_ranges(advance, len(out), threads)
    return rows_of_states(out, blocks.start)


def rows_of_states(states: NDArray, start: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return rows of columns, uint8, from the numbers of the states of variables with columns."""
    width = np.diff(start)
    of_column = np.repeat(np.arange(len(width)), width)
    state = np.where(width == 1, 1, 0)[of_column] + np.arange(start[-1]) - start[of_column]
    return (states[:, of_column] == state).astype(np.uint8)


def sample_rows(
    model: Model,
    n_rows: int,
    burn_in: int,
    seed: int,
    *,
    threads: int = 1,
    chosen: Plan | None = None,
    known: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """Return independent examples, given the states of some variables.

    Where no exact way is cheap, each example is the end of its own Gibbs chain, which starts at a
    random state. A dependency network has no other distribution than that of its chain.

    known : (n_vars,), NO_STATE where nothing is known.
    """
    known = np.full(model.n_vars, NO_STATE, np.uint8) if known is None else known
    unknown = known == NO_STATE
    chosen = plan(model, SAMPLE, unknown[None]) if chosen is None else chosen
    if chosen.form is not None:
        return draw(chosen.form, known, n_rows, seed, threads)
    if chosen.way == OWN:
        assert isinstance(model, BayesianNetwork)
        return model.draw(n_rows, seed, threads)
    terms, query = terms_of(model), np.flatnonzero(unknown)
    if chosen.way == ENUMERATION:
        arity = model.schema.arity[query]
        stride = np.concatenate([[1], np.cumprod(arity)])
        values = np.tile(known, (int(stride[-1]), 1))
        # The first variable is the fastest.
        values[:, query] = np.arange(stride[-1])[:, None] // stride[:-1] % arity
        rows: NDArray[np.uint8] = model.schema.rows(values)
        p = np.exp(conditional_log_likelihood(terms, rows, query, threads))
        drawn = np.random.default_rng(seed).choice(len(p), n_rows, p=p / p.sum())
        return rows[drawn]
    rows = np.tile(model.schema.rows(np.where(unknown, 0, known)[None]), (n_rows, 1))
    asked = query_of(given_terms(terms, rows[:1], unknown), query)
    own = rows[:, asked.columns]
    rows[:, asked.columns] = _run_chains(
        asked, own, burn_in, seed, from_random=True, threads=threads
    )
    return rows


def describe_chains(model: Model, chosen: Plan, burn_in: int) -> str | None:
    """Return what to know of examples that are ends of chains though nobody asked for these."""
    if chosen.is_exact or not chosen.why or not model.has_joint:
        return None
    return (
        f"each row is the end of a Gibbs chain of {burn_in:,} sweeps, which may not have forgotten "
        f"its start: {chosen.why}"
    )


def describe_barriers(model: Model, method: str) -> str | None:
    """Return what to know of Gibbs sampling in a network that gives states probability 0.

    None if there are no such states, or for another method of inference.
    """
    if method != "gibbs" or model.is_exact or not model.has_joint:
        return None
    network: MarkovNetwork = model.to_markov_network()
    of_column = network.schema.variable_of
    for f in np.flatnonzero(np.isinf(network.weight)).tolist():
        if len({of_column[c] for c, _ in network.features.literals(f)}) > 1:
            return (
                "inference gibbs: the model gives states probability 0. Chains that change one "
                "variable at a time may not get around them; exact inference does."
            )
    return None
