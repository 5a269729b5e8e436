"""Hidden Chow-Liu trees by expectation maximisation: by parts of the rows, then by all rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.hidden_trees import Tables, TreePasses, Visitor, batch_size, log_value
from mnlearn.learning.latent_trees.chow_liu import pair_tables
from mnlearn.learning.parameters import parameter
from mnlearn.models.circuit_building import NO_PARENT
from mnlearn.models.hidden_tree import HiddenTree, emission_of
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.progress import pulse
from mnlearn.runtime.random_streams import stream
from mnlearn.runtime.threads import map_ranges, single_threaded
from mnlearn.variables.schema import Schema

# Rows are cut into pieces, which do not depend on the number of threads, so that sums do not
# either. Each piece has counts of its own, of at most this many numbers in all.
_PIECES, _NUMBERS = 8, 64 << 20
# Rows of a piece, so that its sums cost little beside its messages.
_PIECE_ROWS = 256
# The least probability of a table, so that no message becomes 0 in single precision.
_LEAST = 1e-20


@dataclass(frozen=True, eq=False)
class Counts:
    """Expected numbers of examples, and their log-likelihood in nats.

    edge : at [v, i, j], with Z_parent = i and Z_v = j; at [root, 0, j] at the root.
    leaf : at [v, j, x], with Z_v = j and X_v = x.
    """

    edge: NDArray
    leaf: NDArray[np.float64]
    log_likelihood: float


def expected_counts(
    tree: HiddenTree,
    rows: NDArray[np.uint8],
    weight: NDArray[np.float64],
    threads: int = 1,
    dtype: type[np.floating] = np.float32,
) -> Counts:
    """Return the expected counts of weighted rows; see `Counts`."""
    tables = _tables(tree, dtype)
    pieces = _pieces(len(rows), tree)

    def add_pieces(first: int, last: int) -> list["_Sums"]:
        size = batch_size(tree.n_vars, tree.n_states)
        passes = TreePasses(tables, min(size, len(rows)))
        found = []
        for k in range(first, last):
            sums = _Sums(tables)
            for begin in range(pieces[k], pieces[k + 1], size):
                end = min(begin + size, pieces[k + 1])
                sums.log_likelihood += float(weight[begin:end] @ passes.rise(rows[begin:end]))
                passes.fall(weight[begin:end], sums)
            found.append(sums)
        return found

    parts = [p for chunk in map_ranges(add_pieces, len(pieces) - 1, threads) for p in chunk]
    edge, leaf = parts[0].edge, parts[0].leaf
    for part in parts[1:]:
        edge += part.edge
        leaf += part.leaf
    edge *= tables.transition
    edge[tree.root] = 0
    edge[tree.root, 0] = leaf[tree.root].sum(axis=1)
    log_likelihood = sum(part.log_likelihood for part in parts)
    return Counts(edge, leaf.astype(np.float64), log_likelihood)


class _Sums(Visitor):
    """The sums of one piece; those of edges are still to be multiplied by the transition."""

    def __init__(self, tables: Tables) -> None:
        self.edge = np.zeros_like(tables.transition)
        self.leaf = np.zeros_like(tables.leaf)
        self.log_likelihood = 0.0
        self._edge = np.empty_like(tables.transition[0])

    def at_variable(self, v: int, posterior: NDArray, evidence: NDArray) -> None:
        self.leaf[v] += posterior @ evidence.T

    def at_edge(self, c: int, rest: NDArray, own: NDArray) -> None:
        np.matmul(rest, own.T, out=self._edge)
        self.edge[c] += self._edge


def _tables(tree: HiddenTree, dtype: type[np.floating]) -> Tables:
    """Return the tables of a tree in which no number is 0."""
    transition, leaf = (
        read_only(np.maximum(table, _LEAST).astype(dtype)) for table in (tree.transition, tree.leaf)
    )
    return Tables(tree.order, transition, leaf, tree.parent, tree.schema.start)


def _pieces(n_rows: int, tree: HiddenTree) -> list[int]:
    """Return the bounds of the pieces of the rows."""
    fitting = max(2, _NUMBERS // tree.transition.size)
    n_pieces = max(1, min(_PIECES, fitting, n_rows // _PIECE_ROWS))
    return [n_rows * k // n_pieces for k in range(n_pieces + 1)]


def log_prior(tree: HiddenTree, pseudocount: float) -> float:
    """Return what the pseudocounts add to the log-likelihood of the examples, in nats."""
    if not pseudocount:
        return 0.0
    with np.errstate(divide="ignore"):
        # A variable at a time: the tables of all may be most of the memory.
        logs = np.log(tree.transition[tree.root, 0]).sum()
        logs += sum(np.log(tree.transition[v]).sum() for v in tree.order[1:])
        if tree.schema.is_binary:
            leaves = np.log(tree.emission).sum() + np.log(1.0 - tree.emission).sum()
            leaves /= 2.0
        else:
            leaves = sum(np.log(own).sum() / own.shape[1] for own in map(tree.leaf_of, tree.order))
    return pseudocount * float(logs / tree.n_states + leaves)


def maximise(tree: HiddenTree, counts: Counts, pseudocount: float) -> HiddenTree:
    """Return the tree with the best tables for expected counts.

    The pseudocount is added to the counts of each distribution, in equal shares.
    """
    schema, most = tree.schema, counts.leaf.shape[2]
    has_state = np.arange(most) < schema.arity[:, None]
    leaf = counts.leaf + (has_state * (pseudocount / schema.arity)[:, None])[:, None]
    transition = np.empty_like(tree.transition)
    for v in range(tree.n_vars):
        own = counts.edge[v].astype(np.float64)
        if v == tree.root:
            own = np.broadcast_to(own[0], own.shape)
        transition[v] = _shares(own + pseudocount / tree.n_states, tree.transition[v])
    emission = emission_of(_shares(leaf, tree.leaf), schema)
    return HiddenTree(tree.parent, transition, emission, schema)


def _shares(counts: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts divided by their sums; what no example reaches keeps its probabilities."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, total, out=otherwise.copy(), where=total > 0)


# With fewer examples held out, their mean says too little.
_FEWEST = 10


def hold_out(
    data: Dataset, share: float, rng: np.random.Generator
) -> tuple[Dataset, Dataset | None]:
    """Return the examples to learn from, and those held out; None if they would be too few."""
    n_given = data.n_rows if data.is_weighted else len(data.row_of)
    n_held = round(share * n_given)
    if n_held < _FEWEST or n_held >= n_given:
        return data, None
    order = rng.permutation(n_given)
    held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
    if data.is_weighted:
        return data.subset(kept), data.subset(held)
    return data.take(kept), data.take(held)


def mean_log_likelihood(data: Dataset, threads: int = 1) -> Callable[[Any], float]:
    """Return the function that scores a tree by its mean log-likelihood of examples, in nats."""
    return lambda tree: float(data.weight @ log_value(tree, data.rows, threads) / data.n_examples)


# Iterations of EM of the mixture whose components are the hidden values at the start.
_ITERATIONS = 10
# Share of the examples that may have other values at both ends of an edge at the start.
_LEAK = 0.2
# Pseudocount of the Chow-Liu tree, as of the learner `chow_liu`.
_PAIRS = 1.0
_ROWS = 4096
# Emissions are at least so far from 0 and 1, which EM could not leave.
_MARGIN = 1e-6


def start_tree(data: Dataset, n_states: int, rng: np.random.Generator) -> HiddenTree:
    """Return the hidden Chow-Liu tree at which EM starts.

    The values are the components of a mixture of independent variables, and change along an edge
    for few examples.
    """
    parent = pair_tables(data, _PAIRS).tree().astype(np.int32)
    share, emission = _mixture(data, n_states, rng)
    noise = 0.5 + rng.random((data.n_vars, n_states, n_states))
    other = noise * share
    other /= other.sum(axis=2, keepdims=True)
    transition = (1.0 - _LEAK) * np.eye(n_states) + _LEAK * other
    transition[parent == NO_PARENT] = share
    return HiddenTree(parent, transition, emission, data.schema)


def _mixture(
    data: Dataset, n_states: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shares and emissions of a mixture of independent variables, by EM."""
    drawn = rng.choice(data.n_rows, n_states, p=data.weight / data.n_examples)
    frequency = _smooth_frequency(data)
    emission = 0.5 * data.rows[drawn] + 0.5 * frequency
    emission += 0.02 * (rng.random(emission.shape) - 0.5)
    emission = _normalised(emission.clip(0.01, 0.99).T, data.schema).T
    single = (data.schema.arity == 2)[data.schema.variable_of]
    share = np.full(n_states, 1.0 / n_states)
    for _ in range(_ITERATIONS):
        ones, total = np.zeros(emission.shape), np.zeros(n_states)
        rest = np.where(single, 1.0 - emission, 1.0)
        odds = np.log(emission / rest).astype(np.float32)
        constant = np.log(share) + np.log1p(np.where(single, -emission, 0.0)).sum(axis=1)
        for first in range(0, data.n_rows, _ROWS):
            rows = data.rows[first : first + _ROWS].astype(np.float32)
            log_p = rows @ odds.T + constant.astype(np.float32)
            p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            own = data.weight[first : first + _ROWS, None]
            p *= (own / p.sum(axis=1, keepdims=True)).astype(np.float32)
            ones += p.T @ rows
            total += p.sum(axis=0)
        share = (total + 1.0) / (total + 1.0).sum()
        # In single precision the sums of ones may exceed the totals.
        emission = ((ones + frequency) / (total + 1.0)[:, None]).clip(_MARGIN, 1.0 - _MARGIN)
        emission = _normalised(emission.T, data.schema).T
    return share, np.ascontiguousarray(emission.T)


def _normalised(emission: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return emissions (n_columns, n_states) that add up to 1 over the columns of several."""
    out = emission.copy()
    for own in schema.several:
        block = slice(own[0], own[-1] + 1)
        out[block] /= out[block].sum(axis=0)
    return out


def _smooth_frequency(data: Dataset) -> NDArray[np.float64]:
    """Return the share of ones of each column, strictly between 0 and 1."""
    ones, arity = data.frequency * data.n_examples, data.schema.arity[data.schema.variable_of]
    return np.asarray((ones + 0.5) / (data.n_examples + 0.5 * arity))


Judge = Callable[[HiddenTree], float]


@dataclass(eq=False, kw_only=True)
class Settings:
    """The hyperparameters of hidden Chow-Liu trees; see `maximise` and `start_tree`."""

    n_states: int = parameter(64, "values of each hidden variable", low=1, high=256)
    pseudocount: float = parameter(
        1.0,
        "added to the counts of each distribution, in equal shares",
        low=0,
        high=1e9,
    )
    batch_rows: int = parameter(
        1024,
        "distinct rows after which tables are renewed at first",
        low=1,
        high=1e9,
    )
    batch_epochs: int = parameter(
        20, "most passes in which tables are renewed so often", low=0, high=1e6
    )
    max_iterations: int = parameter(100, "then most iterations of EM on all rows", low=0, high=1e6)
    tolerance: float = parameter(
        1e-5,
        "EM stops at smaller relative gains in penalised log-likelihood",
        low=0,
        high=1,
    )
    patience: int = parameter(
        3,
        "passes without a better validation score after which EM stops",
        low=1,
        high=1e6,
    )
    holdout: float = parameter(
        0.1,
        "share of the training data that is held out for this score if there are no validation "
        "data; 0 for none",
        low=0,
        high=0.9,
    )
    em_seed: int = parameter(
        20, "seed of the start, of parts and of the hold-out", low=0, high=2**63
    )


# The share of a part of the rows in the counts, in the first and in the last pass.
_FIRST_STEP, _LAST_STEP = 0.9, 0.1


def learn_hidden_tree(
    data: Dataset, settings: Settings, judge: Judge | None = None, threads: int = 1
) -> "Search":
    """Return a hidden Chow-Liu tree (Liu & Van den Broeck 2021; on-line EM: Cappé & Moulines 2009).

    Without a judge EM goes on until the training data gain no more than the tolerance.
    """
    with single_threaded():
        search = Search(data, settings, judge, threads=threads)
        if settings.batch_rows < data.n_rows:
            search.run_by_parts()
        search.run_on_all_rows()
    return search


class Search:
    """The tree that is being learned, and the best one by validation score, or the last one.

    objective : penalised log-likelihood before each iteration on all rows. validation : scores.
    """

    def __init__(
        self, data: Dataset, settings: Settings, judge: Judge | None, *, threads: int
    ) -> None:
        self._settings, self._judge, self._threads = settings, judge, threads
        self._data, self._pseudocount = data, settings.pseudocount
        rng = stream(settings.em_seed, "hclt", "start")
        self._tree = start_tree(data, settings.n_states, rng)
        self.best, self._best_score, self._without = self._tree, -np.inf, 0
        self.n_epochs = self.n_iterations = 0
        self.objective: list[float] = []
        self.validation: list[float] = []
        self._look()

    def run_by_parts(self) -> None:
        """Renew the tables after each part of the rows."""
        settings = self._settings
        n_rows, n_examples = self._data.n_rows, self._data.n_examples
        n_parts = -(-n_rows // settings.batch_rows)
        rng = stream(settings.em_seed, "hclt", "parts")
        held: Counts | None = None
        steps = np.linspace(_FIRST_STEP, _LAST_STEP, settings.batch_epochs)
        for step in steps.tolist():
            order = rng.permutation(n_rows)
            for part in range(n_parts):
                chosen = np.sort(order[part::n_parts])
                rows, weight = self._data.rows[chosen], self._data.weight[chosen]
                found = expected_counts(self._tree, rows, weight, self._threads)
                held = _blend(held, found, step, n_examples / float(weight.sum()))
                self._tree = maximise(self._tree, held, self._pseudocount)
            self.n_epochs += 1
            pulse(f"EM by parts of the rows: pass {self.n_epochs}")
            if self._look():
                break
        self._tree = self.best if self._judge else self._tree
        self._without = 0

    def run_on_all_rows(self) -> None:
        """Iterate EM on all rows, which never lowers the penalised log-likelihood."""
        before, data = -np.inf, self._data
        for _ in range(self._settings.max_iterations):
            found = expected_counts(self._tree, data.rows, data.weight, self._threads)
            penalty = log_prior(self._tree, self._pseudocount)
            self.objective.append(found.log_likelihood + penalty)
            gain = self.objective[-1] - before
            if gain < self._settings.tolerance * abs(self.objective[-1]):
                break
            before = self.objective[-1]
            self._tree = maximise(self._tree, found, self._pseudocount)
            self.n_iterations += 1
            pulse(f"EM: iteration {self.n_iterations}, {before / data.n_examples:.4f} nats")
            if self._look():
                break

    def _look(self) -> bool:
        """Score the tree, keep the best, and tell whether patience is at its end."""
        if self._judge is None:
            self.best = self._tree
            return False
        score = self._judge(self._tree)
        self.validation.append(score)
        self._without += 1
        if score > self._best_score:
            self.best, self._best_score, self._without = self._tree, score, 0
        return self._without >= self._settings.patience


def _blend(held: Counts | None, found: Counts, step: float, scale: float) -> Counts:
    """Return the mean of earlier counts and of those of a part, scaled to all examples."""
    if held is None:
        return replace(found, edge=found.edge * scale, leaf=found.leaf * scale)
    edge, leaf = held.edge, held.leaf
    edge *= 1.0 - step
    edge += found.edge * (step * scale)
    leaf *= 1.0 - step
    leaf += found.leaf * (step * scale)
    return Counts(edge, leaf, found.log_likelihood)
