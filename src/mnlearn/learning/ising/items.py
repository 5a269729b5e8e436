"""How the states of items enter regressions: scores of ordered items, indicators of others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable

Matrix = NDArray[np.float64]
# Which variables of more than two states are ordered: all, none, or those named. None stands for
# those that the data call so, and those whose states are numbers.
Ordered = bool | Sequence[str] | None


def items_of(data: Dataset, ordered: Ordered = None) -> Dataset:
    """Return the examples of the variables of several states; those of one have no edges.

    `Variable.ordered` of the result says whether the order of the states counts.
    """
    schema = data.schema
    if ordered is not None and not isinstance(ordered, bool):
        if isinstance(ordered, str):
            raise InputError(f"ordered: expected a list of names, got {ordered!r}.")
        try:
            named = {schema.number(name) for name in ordered}
        except InputError as error:
            raise InputError(f"ordered: {error}") from error
        is_ordered = [v in named for v in range(len(schema))]
    else:
        is_ordered = [_is_ordered(each) if ordered is None else ordered for each in schema]
    kept = np.flatnonzero(schema.arity > 1).tolist()
    marked = tuple(replace(schema[v], ordered=is_ordered[v]) for v in kept)
    return replace(data, schema=Schema(marked, schema.is_named))


def _is_ordered(variable: Variable) -> bool:
    numbers = (int, float, np.number)
    return variable.ordered or all(
        isinstance(state, numbers) and not isinstance(state, bool) for state in variable.states
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """The inputs and the interactions of items, each of two states or more.

    An item of two states and an ordered one have one input: the number of its state, from 0. An
    unordered one of k states has k, its indicators. The logit of a state is a threshold plus its
    score times the weighted sum of the inputs of others; the state of an unordered item has such a
    sum of its own.
    """

    schema: Schema

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Whether an item has one input."""
        pairs = zip(self.schema.arity, self.schema, strict=True)
        return np.array([k == 2 or variable.ordered for k, variable in pairs], bool)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Item v has the inputs start[v]:start[v + 1]."""
        width = np.where(self.scored, 1, self.schema.arity)
        return np.concatenate([[0], np.cumsum(width)])

    @cached_property
    def first_threshold(self) -> NDArray[np.int64]:
        """Item v has the thresholds first_threshold[v]:first_threshold[v + 1]."""
        return np.concatenate([[0], np.cumsum(self.schema.arity - 1)])

    @property
    def n_inputs(self) -> int:
        return int(self.start[-1])

    @cached_property
    def item_of(self) -> NDArray[np.int64]:
        """The item of each input."""
        return np.repeat(np.arange(len(self.schema)), np.diff(self.start))

    @cached_property
    def n_free(self) -> NDArray[np.int64]:
        """How many weights an item has in an interaction that are free, (n_vars,)."""
        return np.where(self.scored, 1, self.schema.arity - 1)

    def own(self, v: int) -> slice:
        """Return the inputs of an item."""
        return slice(int(self.start[v]), int(self.start[v + 1]))

    def table(self, v: int) -> Matrix:
        """Return the inputs of an item in each of its states, (arity, n_own_inputs)."""
        k = int(self.schema.arity[v])
        return np.arange(float(k))[:, None] if self.scored[v] else np.eye(k)

    def inputs(self, data: Dataset) -> NDArray[np.uint8]:
        """Return the inputs of each row, (n_rows, n_inputs)."""
        if self.schema.is_binary:
            return data.rows
        values = self.schema.values(data.rows)
        tables = [self.table(v).astype(np.uint8) for v in range(len(self.schema))]
        return np.hstack([table[values[:, v]] for v, table in enumerate(tables)])

    def spread(self, shares: Sequence[Matrix]) -> Matrix:
        """Return the standard deviation of each input, given the shares of the states."""
        variance = np.empty(self.n_inputs)
        for v, share in enumerate(shares):
            table, p = self.table(v), share[:, None]
            mean = (p * table).sum(axis=0)
            variance[self.own(v)] = (p * table * (table - mean)).sum(axis=0)
        return np.sqrt(np.maximum(variance, 0.0))

    @cached_property
    def _mean(self) -> Matrix:
        """What takes the mean over the inputs of each unordered item."""
        share = np.where(self.scored, 0.0, 1 / self.schema.arity)[self.item_of]
        return np.where(self.item_of[:, None] == self.item_of, share[:, None], 0.0)

    def centre(self, v: int, weights: Matrix) -> tuple[Matrix, Matrix]:
        """Return the weights of a regression in the zero-sum gauge, and what its logits gain.

        weights : (n_own_inputs, n_inputs).
        """
        mean = weights @ self._mean
        # Every input of an item has the mean of the item.
        gained = self.table(v) @ mean[:, self.start[:-1]].sum(axis=1)
        weights = weights - mean
        if not self.scored[v]:
            weights = weights - weights.mean(axis=0)
        return weights, gained

    def sizes(self, interaction: Matrix) -> Matrix:
        """Return the weight of each pair, (n_vars, n_vars), of interactions of their inputs.

        Of two items of one input each it is the interaction, with its sign. Else it is the norm of
        the table of interactions, divided by the norm that ordered items of as many states and of
        interaction 1 have.
        """
        k = self.schema.arity.astype(float)
        # The norm of the centred scores 0, 1, ..., k - 1.
        norm = np.where(self.scored, 1.0, np.sqrt(k * (k**2 - 1) / 12))
        member = (self.item_of[:, None] == np.arange(len(k))) / norm
        first = self.start[:-1]
        size = np.sqrt((member**2).T @ interaction**2 @ member**2)
        signed = interaction[np.ix_(first, first)]
        return np.where(np.outer(self.scored, self.scored), signed, size)
