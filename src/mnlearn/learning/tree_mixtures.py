"""Mixtures of Chow-Liu trees, learned by EM (Meila & Jordan 2000), and of other circuits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.kernels.chow_liu import (
    add_pair_weights,
    add_weights_of_ones,
    fill_log_probabilities,
    fill_log_probabilities_of_states,
    fill_pair_information,
)
from mnlearn.learning.latent_trees.chow_liu import (
    PairTables,
    StateTables,
    spanning_tree,
    tree_of_states,
)
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import NO_PARENT, mixture_circuit, tree_circuit
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.progress import pulse, say
from mnlearn.runtime.random_streams import stream
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import Schema

Vector = NDArray[np.float64]
# The parents, and the tables as `tree_circuit` takes them.
Tree = tuple[NDArray[np.int64], NDArray[np.float64]]

# Iterations with independent variables, which tell the components apart before they become trees.
_INDEPENDENT = 10
# Iterations between two looks at the validation data.
_BETWEEN_SCORES = 5
# Shares of examples are rounded to multiples of this: the sums of them are then exact, so that no
# result depends on the order in which a library adds.
_UNIT = 2.0**-20
# Data with fewer ones than this share: pairs of ones are counted one by one, not by BLAS.
_SPARSE = 0.15
# Rounding must not make a probability 0 that the prior keeps from it.
_LEAST_PROBABILITY = 1e-15
# A component that stands for fewer examples is dropped.
_LEAST = 1.0
# Pseudocount of the pair probabilities of all examples, which are what a component is drawn to.
_PRIOR_PSEUDOCOUNT = 1.0


@dataclass(frozen=True, eq=False)
class TreeMixture:
    """A mixture of trees, as `tree_circuit` takes them, and the objective after each iteration."""

    share: NDArray[np.float64]
    parent: NDArray[np.int64]
    log_prob: NDArray[np.float64]
    schema: Schema
    objective: tuple[float, ...] = ()

    def log_probabilities(self, data: Dataset, threads: int = 1) -> NDArray[np.float64]:
        """Return log P(row, component), shape (n_rows, n_components), in nats."""
        out = np.empty((data.n_rows, len(self.share)))
        above = np.where(self.parent == NO_PARENT, np.arange(data.n_vars), self.parent)
        trees: tuple[Any, ...]
        if data.schema.is_binary:
            trees = data.rows, np.ascontiguousarray(above.T), self._terms()
            fill = fill_log_probabilities
        else:
            trees = data.schema.values(data.rows), self.parent, self.log_prob
            fill = fill_log_probabilities_of_states
        map_ranges(lambda first, last: fill(*trees, first, last, out), data.n_rows, threads)
        return out + np.log(self.share)

    def _terms(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-probability of zeros, and what ones add; see `fill_log_probabilities`."""
        table = self.log_prob
        of_one = table[:, :, 0, 1] - table[:, :, 0, 0]
        # A parent at 1 changes the term of each of its children, first as if these were 0.
        tree, child = np.nonzero(self.parent != NO_PARENT)
        change = table[tree, child, 1] - table[tree, child, 0]
        np.add.at(of_one, (tree, self.parent[tree, child]), change[:, 0])
        of_both = np.zeros(of_one.shape)
        of_both[tree, child] = change[:, 1] - change[:, 0]
        at_zero = table[:, :, 0, 0].sum(axis=1)
        return at_zero, np.ascontiguousarray(of_one.T), np.ascontiguousarray(of_both.T)

    def circuit(self) -> ArithmeticCircuit:
        trees = zip(self.parent, self.log_prob, strict=True)
        circuits = [tree_circuit(parent, table, self.schema) for parent, table in trees]
        return mixture_circuit(circuits, np.log(self.share))


def learn_tree_mixture(
    data: Dataset,
    n_components: int = 10,
    *,
    prior: float = 4.0,
    max_iterations: int = 100,
    tolerance: float = 1e-3,
    seed: int = 20,
    criterion: Callable[[ArithmeticCircuit], float] | None = None,
    threads: int = 1,
) -> TreeMixture:
    """Learn a mixture of Chow-Liu trees by EM (Meila & Jordan 2000, Section 3).

    Examples like all data, `prior` of them, are added to each component. EM ends when the criterion
    scores no higher than before, and the mixture with the best score is returned.
    """
    fitting = (_Fitting if data.schema.is_binary else _StateFitting)(data, prior, threads)
    rng = stream(seed, "mixture of trees")
    # More components than distinct rows would have nothing to tell apart.
    n_components = min(n_components, data.n_rows)
    mixture = fitting.independent(rng.dirichlet(np.ones(n_components), data.n_rows))
    for _ in range(_INDEPENDENT):
        mixture = fitting.independent(fitting.share(mixture)[0])
    mixture = fitting.trees(fitting.share(mixture)[0])
    shares, value = fitting.share(mixture)
    objective, best = [value], mixture
    best_score = -np.inf if criterion is None else criterion(mixture.circuit())
    for iteration in range(1, max_iterations):
        n_before, before = len(mixture.share), value
        mixture = fitting.trees(shares)
        shares, value = fitting.share(mixture)
        objective.append(value)
        pulse(f"EM: iteration {iteration}, {value / data.n_examples:.4f} nats per example")
        is_settled = value - before < tolerance * data.n_examples
        is_last = is_settled and len(mixture.share) == n_before
        is_last |= iteration == max_iterations - 1
        if criterion is None:
            best = mixture
        elif is_last or iteration % _BETWEEN_SCORES == 0:
            score = criterion(mixture.circuit())
            say(f"iteration {iteration}: {len(mixture.share)} components, validation {score:.4f}")
            if score <= best_score:
                break
            best, best_score = mixture, score
        if is_last:
            break
    return replace(best, objective=tuple(objective))


class _Fitting:
    """The steps of EM for one dataset, whose variables have two states."""

    def __init__(self, data: Dataset, prior: float, threads: int) -> None:
        self._data, self._prior, self._threads = data, prior, threads
        self._find_prior()
        row, self._ones = np.nonzero(self._rows)
        self._start = np.searchsorted(row, np.arange(data.n_rows + 1))

    def _find_prior(self) -> None:
        """Find the rows of 0 and 1 that are counted, and the probabilities of the prior."""
        self._rows, self._density = self._data.rows, self._data.density
        self._all_pairs = PairTables(self._data, _PRIOR_PSEUDOCOUNT).all()
        self._all_ones = self._all_pairs[:, 1, 0].sum(axis=0)
        self._of_prior = self._prior * self._all_pairs[1, 1]
        self._single = self._all_pairs.diagonal(axis1=2, axis2=3).sum(axis=1).T

    def share(self, mixture: TreeMixture) -> tuple[NDArray[np.float64], float]:
        """Return P(component | row), shape (n_rows, n_components), and the objective in nats."""
        joint = mixture.log_probabilities(self._data, self._threads)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        value = float((self._data.weight * likelihood).sum()) + self._log_prior(mixture)
        return np.exp(joint - likelihood[:, None]), value

    def _log_prior(self, mixture: TreeMixture) -> float:
        """Return the expected log-probability of the examples that stand for the prior."""
        total = 0.0
        for parent, table in zip(mixture.parent, mixture.log_prob, strict=True):
            v = np.flatnonzero(parent != NO_PARENT)
            expected = self._all_pairs[:, :, parent[v], v].transpose(2, 0, 1) * table[v]
            roots = np.flatnonzero(parent == NO_PARENT)
            total += float(expected.sum() + (self._single[roots] * table[roots, 0]).sum())
        return self._prior * total

    def independent(self, shares: NDArray[np.float64]) -> TreeMixture:
        """Return the mixture whose components have independent variables."""

        def learn(weight: Vector, one: Vector) -> Tree:
            p = one / (weight.sum() + self._prior)
            parent = np.full(self._data.n_vars, NO_PARENT, np.int64)
            return parent, self._independent_tables(p)

        return self._maximise(shares, learn)

    def trees(self, shares: NDArray[np.float64]) -> TreeMixture:
        """Return the mixture whose components are Chow-Liu trees."""

        def learn(weight: Vector, one: Vector) -> Tree:
            both = self._pair_weights(weight)
            both += self._of_prior
            return self._tree(both, one, weight.sum() + self._prior)

        return self._maximise(shares, learn)

    def _independent_tables(self, p: Vector) -> NDArray[np.float64]:
        tables = np.zeros((len(p), 2, 2))
        tables[:, 0] = np.log(np.stack([1.0 - p, p], axis=1))
        return tables

    def _tree(self, both: NDArray[np.float64], one: Vector, n_examples: float) -> Tree:
        information = np.empty(both.shape)
        fill_pair_information(both, one, n_examples, information)
        parent = spanning_tree(information)
        return parent, _log_tables(both, one / n_examples, n_examples, parent)

    def _maximise(
        self,
        shares: NDArray[np.float64],
        learn: Callable[[Vector, Vector], Tree],
    ) -> TreeMixture:
        """Return the mixture with components that are learned from weighted rows."""
        weight = self._data.weight[:, None] * (np.round(shares / _UNIT) * _UNIT)
        n_examples = weight.sum(axis=0)
        kept = np.flatnonzero(n_examples >= min(_LEAST, n_examples.max()))
        ones = np.zeros((self._rows.shape[1], len(n_examples)))
        add_weights_of_ones(self._rows, weight, ones)
        ones += self._prior * self._all_ones[:, None]
        columns = zip(weight.T[kept], ones.T[kept], strict=True)
        learned = [learn(*map(np.ascontiguousarray, both)) for both in columns]
        return TreeMixture(
            n_examples[kept] / n_examples[kept].sum(),
            np.stack([parent for parent, _ in learned]),
            np.stack([tables for _, tables in learned]),
            self._data.schema,
        )

    def _pair_weights(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of the rows in which u <= v are both 1, at [u, v]."""
        rows, used = self._rows, np.flatnonzero(weight)
        if self._density > _SPARSE:
            return (rows[used] * weight[used, None]).T @ rows[used].astype(np.float64)
        both = np.zeros((rows.shape[1], rows.shape[1]))
        add_pair_weights(self._ones, self._start, used, weight[used], both)
        return both


class _StateFitting(_Fitting):
    """The steps of EM for variables of any numbers of states; a column for each of them."""

    def _find_prior(self) -> None:
        schema = self._data.schema
        tables = StateTables(self._data, _PRIOR_PSEUDOCOUNT)
        self._first, self._arity = tables.first, schema.arity
        place = self._first + schema.values(self._data.rows)
        self._rows = np.zeros((self._data.n_rows, len(tables.table)), np.uint8)
        self._rows[np.arange(len(place))[:, None], place] = 1
        # A row has one 1 for each variable: pairs of them are counted one by one.
        self._density = 0.0
        self._all_ones = np.diag(tables.table)
        self._of_prior = self._prior * np.triu(tables.table)

    def _log_prior(self, mixture: TreeMixture) -> float:
        total = 0.0
        for parent, table in zip(mixture.parent, mixture.log_prob, strict=True):
            expected = self._tables(self._of_prior, parent)
            total += float((expected * np.where(expected > 0, table, 0.0)).sum())
        return total

    def _independent_tables(self, p: Vector) -> NDArray[np.float64]:
        parent = np.full(len(self._arity), NO_PARENT)
        table = self._tables(np.diag(p), parent)
        return np.log(np.where(table > 0, table, 1.0))

    def _tree(self, both: NDArray[np.float64], one: Vector, n_examples: float) -> Tree:
        parent = tree_of_states(both / n_examples, self._first, self._arity)
        table = self._tables(both / n_examples, parent)
        # The prior keeps from 0 what is read.
        share = table / np.maximum(table.sum(axis=2, keepdims=True), _LEAST_PROBABILITY)
        return parent, np.log(np.where(table > 0, share, 1.0))

    def _tables(self, both: NDArray[np.float64], parent: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the table of each variable and its parent, (n_vars, most, most), 0 elsewhere.

        `both`, (n_places, n_places), is not read below the diagonal.
        """
        most = int(self._arity.max())
        out = np.zeros((len(parent), most, most))
        for v, u in enumerate(parent.tolist()):
            own = slice(self._first[v], self._first[v] + self._arity[v])
            if u == NO_PARENT:
                out[v, 0, : self._arity[v]] = np.diag(both[own, own])
                continue
            above = slice(self._first[u], self._first[u] + self._arity[u])
            block = both[above, own] if u < v else both[own, above].T
            out[v, : self._arity[u], : self._arity[v]] = block
        return out


def _log_tables(
    both: NDArray[np.float64],
    one: NDArray[np.float64],
    n_examples: float,
    parent: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return log P(v = x | parent = y) at [v, y, x], as `tree_circuit` takes them."""
    v = np.arange(len(parent))
    above = np.where(parent == NO_PARENT, v, parent)
    p11 = both[np.minimum(v, above), np.maximum(v, above)] / n_examples
    p01 = np.maximum(one - p11, _LEAST_PROBABILITY)
    p10 = np.maximum(one[above] - p11, _LEAST_PROBABILITY)
    p00 = np.maximum(1.0 - p11 - p10 - p01, _LEAST_PROBABILITY)
    joint = np.stack([np.stack([p00, p01], axis=1), np.stack([p10, p11], axis=1)], axis=1)
    tables = np.log(joint / joint.sum(axis=2, keepdims=True))
    tables[parent == NO_PARENT, 0] = np.log(np.stack([1.0 - one, one], axis=1))[parent == NO_PARENT]
    tables[parent == NO_PARENT, 1] = 0.0
    return tables


# Iterations of EM for the shares alone, which converge quickly.
_SHARE_ITERATIONS = 50


def learn_circuit_mixture(
    data: Dataset,
    joint: NDArray[np.float64],
    learn: Callable[[Dataset], ArithmeticCircuit],
    *,
    rounds: int = 1,
    seed: int = 20,
    threads: int = 1,
) -> ArithmeticCircuit:
    """Return a mixture of circuits with the components of another mixture, `joint`, as a start.

    A round draws each example to a component by its posterior probabilities (stochastic EM), since
    learners of structure count whole examples, learns the circuits, and then the shares by EM.
    """
    if data.is_weighted:
        raise InputError("mixtures of this base take no examples with weights.", where=DATA)
    rng = stream(seed, "mixture of circuits")
    for _ in range(rounds):
        components = _draw(joint[data.row_of], rng)
        circuits = [
            learn(data.take(np.flatnonzero(components == k))) for k in np.unique(components)
        ]
        log_z = np.array([log_partition(one) for one in circuits])
        log_p = np.stack([log_value(one, data.rows, threads) for one in circuits], axis=1) - log_z
        log_share = _learn_shares(log_p, data.weight)
        kept = np.flatnonzero(np.isfinite(log_share))
        circuits, joint = [circuits[k] for k in kept], (log_p + log_share)[:, kept]
    return mixture_circuit(circuits, (log_share - log_z)[kept])


def _draw(joint: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a component of each row of `joint`, drawn by its posterior probabilities."""
    # The largest sum of a log-probability and a Gumbel variable is a draw.
    return np.argmax(joint + rng.gumbel(size=joint.shape), axis=1)


def _learn_shares(log_p: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of the shares that make the likelihood of fixed components greatest."""
    n_components = log_p.shape[1]
    log_share = np.full(n_components, -np.log(n_components))
    for _ in range(_SHARE_ITERATIONS):
        joint = log_p + log_share
        posterior = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        with np.errstate(divide="ignore"):
            log_share = np.log((weight[:, None] * posterior).sum(axis=0) / weight.sum())
    return log_share
