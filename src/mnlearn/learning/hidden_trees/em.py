"""Expectation maximisation of hidden Chow-Liu trees: by parts of the rows, then by all rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.hidden_trees.counts import CountedRows, Counts
from mnlearn.learning.hidden_trees.maximisation import Penalty, maximise
from mnlearn.learning.hidden_trees.start import start_tree
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.runtime.blas import single_threaded
from mnlearn.runtime.random_streams import stream

Judge = Callable[[HiddenTree], float]


@dataclass(frozen=True)
class Settings:
    """How a hidden Chow-Liu tree is learned; the parameters of the learner `hclt`.

    Attributes
    ----------
    n_states : int
        Number of values of each hidden variable.
    pseudocount, entropy
        See `maximisation.Penalty`.
    softness : float
        See `beliefs`.
    start : str
        See `start.start_tree`.
    batch_rows : int
        Distinct rows of a part of the rows.
    batch_epochs : int
        Passes over the data in which tables are renewed after each part.
    max_iterations : int
        Most iterations of EM on all rows.
    tolerance : float
        EM on all rows stops at smaller relative gains of the penalised log-likelihood.
    patience : int
        So many passes without a better validation score end either kind of EM.
    seed : int
        Seed of the start and of the order of the rows.
    """

    n_states: int = 64
    pseudocount: float = 1.0
    entropy: float = 0.0
    softness: float = 0.0
    start: str = "clusters"
    batch_rows: int = 1024
    batch_epochs: int = 20
    max_iterations: int = 100
    tolerance: float = 1e-5
    patience: int = 3
    seed: int = 20


# The share of a part of the rows in the counts, in the first and in the last pass.
_FIRST_STEP, _LAST_STEP = 0.9, 0.1


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was learned.

    Attributes
    ----------
    tree : HiddenTree
        The best tree by validation score, or the last one without validation data.
    n_epochs, n_iterations : int
        Passes by parts of the rows, and iterations on all rows.
    objective : list of float
        Penalised log-likelihood of the training data before each iteration on all rows, in nats.
    validation : list of float
        Score after each pass or iteration, and at the start.
    """

    tree: HiddenTree
    n_epochs: int
    n_iterations: int
    objective: list[float]
    validation: list[float]


def beliefs(data: Dataset, softness: float) -> NDArray[np.float64]:
    """Return the probability with which X_v is 1 where a row has x, shape (n_vars, 2), at [v, x].

    It is (1 - softness) x + softness f_v, with the frequency f_v of ones in the training data.
    """
    hard = np.array([0.0, 1.0])
    return np.asarray((1.0 - softness) * hard + softness * data.frequency[:, None])


def learn_hidden_tree(
    data: Dataset, settings: Settings, judge: Judge | None = None, threads: int = 1
) -> Outcome:
    """Return a hidden Chow-Liu tree.

    Parameters
    ----------
    data : Dataset
        The training data.
    settings : Settings
        How it is learned.
    judge : callable, optional
        Scores a tree on validation data, higher is better. Without it EM goes on until the
        training data gain no more than the tolerance.
    threads : int
        Number of threads; the result does not depend on it.

    References
    ----------
    Liu & Van den Broeck, "Tractable regularization of probabilistic circuits", NeurIPS 2021.
    Cappé & Moulines, "On-line expectation-maximization algorithm", JRSS B 71 (2009).
    """
    with single_threaded():
        search = _Search(data, settings, judge, threads=threads)
        if settings.batch_rows < data.n_rows:
            search.run_by_parts()
        search.run_on_all_rows()
    return Outcome(
        search.best,
        search.n_epochs,
        search.n_iterations,
        search.objective,
        search.validation,
    )


class _Search:
    """The tree that is being learned, and the best one so far."""

    def __init__(
        self, data: Dataset, settings: Settings, judge: Judge | None, *, threads: int
    ) -> None:
        self._settings, self._judge, self._threads = settings, judge, threads
        self._n_examples = data.n_examples
        self._penalty = Penalty(settings.pseudocount, settings.entropy)
        self._rows = CountedRows(data.rows, data.weight, beliefs(data, settings.softness))
        rng = stream(settings.seed, "hclt", "start")
        self._tree = start_tree(data, settings.n_states, settings.start, rng)
        self.best, self._best_score, self._without = self._tree, -np.inf, 0
        self.n_epochs = self.n_iterations = 0
        self.objective: list[float] = []
        self.validation: list[float] = []
        self._look()

    def run_by_parts(self) -> None:
        """Renew the tables after each part of the rows."""
        settings = self._settings
        n_rows = len(self._rows.weight)
        n_parts = -(-n_rows // settings.batch_rows)
        rng = stream(settings.seed, "hclt", "parts")
        held: Counts | None = None
        steps = np.linspace(_FIRST_STEP, _LAST_STEP, settings.batch_epochs)
        for step in steps.tolist():
            order = rng.permutation(n_rows)
            for part in range(n_parts):
                chosen = np.sort(order[part::n_parts])
                found = self._rows.counts(self._tree, chosen, self._threads)
                scale = self._n_examples / float(self._rows.weight[chosen].sum())
                held = _blend(held, found, step, scale)
                self._tree = maximise(self._tree, held, self._n_examples, self._penalty)
            self.n_epochs += 1
            if self._look():
                break
        self._tree = self.best if self._judge else self._tree
        self._without = 0

    def run_on_all_rows(self) -> None:
        """Iterate EM on all rows, which never lowers the penalised log-likelihood."""
        before = -np.inf
        for _ in range(self._settings.max_iterations):
            found = self._rows.counts(self._tree, threads=self._threads)
            penalty = self._penalty.value(self._tree, self._n_examples)
            self.objective.append(found.log_likelihood + penalty)
            gain = self.objective[-1] - before
            if gain < self._settings.tolerance * abs(self.objective[-1]):
                break
            before = self.objective[-1]
            self._tree = maximise(self._tree, found, self._n_examples, self._penalty)
            self.n_iterations += 1
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
