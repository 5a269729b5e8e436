"""Random nodes of LEM: for the kernels, and in the terms of the definition."""

import numpy as np

import lem_oracle
from made_feature_trees import random_settings, random_values
from mnlearn.kernels.lem.node import Clauses, new_side
from mnlearn.kernels.lem.search import _make_node
from mnlearn.learning.lem.growth import LemSettings


class MadeNode:
    """A node of all variables of random data, in which some examples and values are left out.

    rows : int64, (n, n_variables), values of the examples at the node. scope : the allowed values
    of each variable. clauses : sets of literals, in the words of `lem_oracle`. settings : of the
    kernels; defined : the same in the words of `lem_oracle`.
    """

    def __init__(self, seed, n=None):
        rng = self.rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 150)) if n is None else n
        values, arity = random_values(rng, n)
        self.rows, self.scope = values, {v: list(range(r)) for v, r in enumerate(arity)}
        for v, r in enumerate(arity):
            # A value that has been ruled out does not occur.
            if r > 2 and rng.random() < 0.3:
                gone, other = rng.choice(r, 2, replace=False)
                values[values[:, v] == gone, v] = other
                self.scope[v].remove(gone)
        chosen = random_settings(rng)
        self.settings = LemSettings(**chosen).for_kernels()
        self.defined = lem_oracle.Settings(**chosen, arity=dict(enumerate(arity)))
        self.clauses = self._random_clauses()
        self.slot = np.cumsum([0, *map(len, self.scope.values())], dtype=np.int32)
        self.slot_value = np.concatenate(list(self.scope.values())).astype(np.uint8)
        self._add_others(values, arity)
        counts = np.arange(len(self.stored[0]) + 1)
        c_log_c = counts * np.log(np.maximum(counts, 1))
        self.tables = (c_log_c, np.log2(np.maximum(np.arange(256.0), 1e-9)), self.arity)

    def _add_others(self, values, arity):
        """Store the values among those of examples and variables that are not at the node."""
        n, n_variables = values.shape
        kept = np.sort(self.rng.choice(n + 20, n, replace=False))
        self.examples, self.variable = kept.astype(np.int32), np.arange(n_variables, dtype=np.int32)
        self.variable += 1
        self.stored = self.rng.integers(0, 2, (n_variables + 1, n + 20)).astype(np.uint8)
        self.stored[1:, kept] = values.T
        self.arity = np.array([2, *arity])

    def _random_clauses(self):
        """Clauses of two literals that no example breaks, and that leave a state."""
        found = []
        for _ in range(int(self.rng.integers(0, 4))):
            pair = sorted(self.rng.choice(len(self.scope), 2, replace=False).tolist())
            literals = [(v, int(self.rng.choice(self.scope[v]))) for v in pair]
            if not lem_oracle.satisfied(self.rows, literals).any():
                found.append(frozenset(literals))
        left = lem_oracle.propagate(self.scope, found)
        return found if left and left[0] == self.scope else []

    def slot_of(self, literal):
        v, value = literal
        return int(self.slot[v]) + self.scope[v].index(value)

    def literal_of(self, s):
        v = int(np.searchsorted(self.slot, s, side="right")) - 1
        return v, int(self.slot_value[s])

    def kernel_node(self):
        slots = (self.slot, self.slot_value)
        node = _make_node(self.stored, self.examples, self.variable, *slots, self.tables)
        # Python gets a plain number, whose type in the next kernel would depend on its size.
        return node._replace(last_word=np.uint64(node.last_word))

    def kernel_clauses(self):
        slots = [sorted(self.slot_of(x) for x in clause) for clause in self.clauses]
        start = np.cumsum([0, *map(len, slots), 0], dtype=np.int32)
        room = np.full(start[-1] + len(self.scope), -1, np.int32)
        room[: start[-1]] = np.concatenate([np.array([], np.int32), *slots])
        return Clauses(start, room, len(slots))

    def side(self):
        n_words = (len(self.rows) + 63) // 64
        return new_side(len(self.scope), len(self.slot_value), n_words)
