"""Exact answers from tables: messages in a tree of buckets.

What is callable, for `Factors` and rows of evidence: uint8, (n_rows, n_vars), the number of the
state of each variable, NO_STATE where it is not known.

- `CliqueTree(factors, known)` is the tree for evidence on some variables, for many questions.
  `tree.log_values(rows)` is the log of the sum over all other variables for each row: log Z where
  nothing is known, else log P(evidence) + log Z. `tree.marginals(rows)` is P(state | row) of all
  states of all variables, beside these logs.
- `inference.tables.answers` has one question each, pruned first: `joint`, `most_probable`, `draw`,
  `marginal_map`.
- `inference.tables.buckets.cost_of(factors, known, query)` says what a tree takes, before anything
  is computed. A tree that takes more than `max_cells` is refused with an InputError.

Rows may say more than `known`: the states of a variable that the tree sums out are fixed then. So
one tree answers rows with different missing cells; a tree for their own pattern is smaller.

Messages are products in linear space, each divided by its greatest cell. Where a product of
positive cells could be too small for that, all is computed again with logarithms, which takes a few
times as long.

References
----------
Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
(1999). Darwiche, "Modeling and reasoning with Bayesian networks" (2009), Chapters 6 to 8.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tables.buckets import (
    COUNTED,
    MAX_CELLS,
    Cost,
    Layout,
    buckets_of,
    check_cost,
    cost_of_buckets,
    entry_of,
    layout_of,
    order_of,
    part_of,
    products_of,
    share_room,
)
from mnlearn.inference.tables.factors import Factors
from mnlearn.inference.tables.orders import narrow_order
from mnlearn.kernels.tables.blocks import LOG_SUM, SUM, block_axes
from mnlearn.kernels.tables.messages import State
from mnlearn.kernels.tables.rows import CLEAR, DOWN, UP, Entry, answer_rows, take_step
from mnlearn.kernels.tables.structure import Buckets
from mnlearn.runtime.threads import map_ranges

# A kernel is called for about so many products, some tenths of a second, so that a person can
# interrupt it between two calls.
_PRODUCTS = 1 << 26
# Log2 of the cells of tables from which on another kind of order is tried.
_WIDE = 24.0
# In place of the logarithm of 0, where differences are taken.
LEAST = -1e300
Rows = NDArray[np.uint8]
Values = NDArray[np.float64]


class Answers(NamedTuple):
    """Answers to rows of evidence.

    log_value : float64, (n_rows,), the log of the sum over all variables that are not known.
    probability : float64, (n_rows, n_states), P(state | row), the states of one variable after
        those of the other; NaN where a row is impossible.
    """

    log_value: Values
    probability: Values


@dataclass(frozen=True, eq=False)
class CliqueTree:
    """A tree of buckets; see the module.

    known : bool, (n_vars,). The variables whose states all rows give; none by default.
    kept : variables that are not summed out, for their joint distribution. later : variables that
    are summed out, or maximised, after all others. max_cells : most cells of the messages. only_up
    : whether the tree is for `log_values`. Then a message takes the memory of earlier ones that are
    used up, and marginals take a tree of their own. in_parts : whether messages up may be computed
    a second time for want of memory; see `parts`.
    """

    factors: Factors
    known: NDArray[np.bool_] | None = None
    kept: Sequence[int] = ()
    later: Sequence[int] = ()
    max_cells: float = MAX_CELLS
    only_up: bool = False
    in_parts: bool = False

    def __post_init__(self) -> None:
        check_cost(self.cost, self.max_cells)

    @cached_property
    def _built(self) -> tuple[Buckets, Entry]:
        factors = self.factors
        known = np.zeros(len(factors.arity), bool) if self.known is None else self.known
        part = part_of(factors, known)
        order, inside = order_of(factors, part, self.kept, self.later)
        orders = [order]
        if (self.in_parts or self.only_up) and order.log2_cells > _WIDE:
            orders.append(narrow_order(factors.start, part.scope, part.arity))
        if min(own.log2_cells for own in orders) > COUNTED:
            check_cost(Cost(2.0**order.log2_cells, 0.0), self.max_cells)
        found = [buckets_of(factors, part, o, inside) for o in orders if o.log2_cells <= COUNTED]
        buckets, home = found[0]
        if len(found) > 1:
            buckets, home = min(found, key=lambda own: self._effort(own[0]))
        return buckets, entry_of(factors, part, buckets, home)

    def _effort(self, buckets: Buckets) -> tuple[float, float]:
        """Return what to compare orders by: cells beyond those that there are, and products."""
        room = self._layout(buckets)
        excess = max(room.n_cells * (1 if self.only_up else 2) - self.max_cells, 0.0)
        return excess, cost_of_buckets(buckets).operations * (1.5 if len(room.parts) > 1 else 1.0)

    def _layout(self, buckets: Buckets) -> Layout:
        if self.only_up:
            begin, n_cells = share_room(buckets.size, buckets.parent)
            return Layout(begin, n_cells, [(0, len(begin))])
        return layout_of(buckets, self.max_cells, self.in_parts)

    @property
    def buckets(self) -> Buckets:
        """The buckets, in the order of elimination."""
        return self._built[0]

    @property
    def entry(self) -> Entry:
        """How the states of known variables come in."""
        return self._built[1]

    @cached_property
    def cost(self) -> Cost:
        """What one pass of messages takes."""
        operations = cost_of_buckets(self.buckets).operations
        return Cost(float(self._room.n_cells), operations * (1.5 if len(self.parts) > 1 else 1.0))

    @cached_property
    def _room(self) -> Layout:
        return self._layout(self.buckets)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Ranges of buckets; only the last one's messages up within it are kept; see `Layout`."""
        return self._room.parts

    def send_again(self, state: State, first: int, last: int) -> None:
        """Compute the messages up of a part again, unless it is the last one."""
        for step in self._calls(first, last) if last < len(self.buckets.parent) else ():
            take_step(self.buckets, state, self.entry, np.array([*step, UP]))

    @cached_property
    def first_state(self) -> NDArray[np.int64]:
        """Where the states of each variable begin among all states; their number at the end."""
        return np.cumsum([0, *self.factors.arity], dtype=np.int64)

    def _calls(self, begin: int, end: int) -> list[tuple[int, int, int, int]]:
        """Return the calls of kernels for some buckets: these, and blocks of a single one or -1."""
        products, steps, first = products_of(self.buckets).tolist(), [], begin
        whole = 0
        for b in range(begin, end):
            own = products[b]
            if whole + own > _PRODUCTS:
                steps += [(first, b, 0, -1)] if first < b else []
                first, whole = b, 0
            whole += own
            if own > _PRODUCTS:
                n_blocks = int(self.buckets.size[b]) // block_axes(self.buckets, b)[1]
                ends = list(range(0, n_blocks, max(1, n_blocks * _PRODUCTS // own)))
                steps += [(b, b + 1, c, d) for c, d in itertools.pairwise([*ends, n_blocks])]
                first, whole = b + 1, 0
        return [*steps, (first, end, 0, -1)] if first < end else steps

    @cached_property
    def _up(self) -> NDArray[np.int64]:
        """The steps of a pass up; see `answer_rows`."""
        return np.array([(*step, UP) for step in self._calls(0, len(self.buckets.parent))])

    @cached_property
    def _up_and_down(self) -> NDArray[np.int64]:
        """The steps of a pass up and one down."""
        steps = [(*step, UP) for step in self._up[:, :4].tolist()]
        for first, last in reversed(self.parts):
            own = self._calls(first, last)
            if last < len(self.buckets.parent):
                steps += [(*step, UP) for step in own]
                steps += [(self._room.shared, self._room.n_cells, 0, 0, CLEAR)]
            steps += [(*step, DOWN) for step in reversed(own)]
        return np.array(steps)

    def new_state(self, mode: int | NDArray[np.int64] = SUM, down: bool = False) -> State:
        """Return room for messages.

        mode : SUM, LOG_SUM or MAX, or one of the last two for each bucket. down : whether there is
            room for messages down.
        """
        buckets, n = self.buckets, len(self.buckets.parent)
        modes = np.full(n, mode) if np.ndim(mode) == 0 else np.asarray(mode)
        log = int((modes != SUM).all())
        scaled = self.factors.scaled
        table = self.factors.log_table if log else scaled.table
        begin, n_cells = self._room.begin, self._room.n_cells
        value = np.empty(len(table) + n_cells)
        value[: len(table)] = table
        at = len(table) + begin
        is_factor = self.entry.of_bucket
        low, input_at = np.zeros(len(buckets.source)), np.zeros(len(buckets.source), np.int64)
        from_factor = np.ones(len(low), bool)
        from_factor[is_factor[:-1]] = False
        low[from_factor] = scaled.low[buckets.source[from_factor]]
        input_at[is_factor[:-1]] = at[:-1]
        return State(
            modes, log, input_at, value, low, at, len(table), np.empty(n_cells if down else 0),
            np.zeros(n), np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros(n),
            self.first_state[buckets.variable], np.zeros(self.first_state[-1]),
        )  # fmt: skip

    def log_values(self, rows: Rows, threads: int = 1) -> Values:
        """Return the log of the sum over all variables that are not known, for each row, in nats.

        It is log Z where nothing is known, log P(evidence) + log Z otherwise, and minus infinity
        for evidence that is impossible.
        """
        return self._answer(rows, False, threads)[0]

    def marginals(self, rows: Rows, threads: int = 1) -> Answers:
        """Return P(state | row) of all states of all variables; see `Answers`."""
        if self.only_up:
            return replace(self, only_up=False, in_parts=True).marginals(rows, threads)
        check_cost(self.cost, self.max_cells, passes=2)
        log_value, weight = self._answer(rows, True, threads)
        first, arity = self.first_state, self.factors.arity
        inside = np.zeros(len(arity), bool)
        inside[self.buckets.variable[:-1]] = True
        for v in np.flatnonzero(~inside).tolist():
            state = rows[:, v] if arity[v] > 1 else np.zeros(len(rows), np.int64)
            weight[np.arange(len(rows)), first[v] + state] = 1.0
        with np.errstate(invalid="ignore"):
            total = np.add.reduceat(weight, first[:-1], axis=1)
            weight /= np.repeat(total, arity, axis=1)
        weight[np.isneginf(log_value)] = np.nan
        return Answers(log_value, weight)

    def _answer(self, rows: Rows, with_marginals: bool, threads: int) -> tuple[Values, Values]:
        """Return the logarithms of the values of rows, and the weights of all states."""
        log_value = np.empty(len(rows))
        weight = np.empty((len(rows), int(self.first_state[-1]) if with_marginals else 0))
        size = int(self.cost.operations) * (5 if with_marginals else 1)

        def answer(first: int, last: int) -> None:
            state, row = self.new_state(down=with_marginals), first
            while row < last:
                end = min(row + max(1, _PRODUCTS // size), last)
                row += self._take(state, rows, row, end, log_value, weight)
                if row < end:
                    of_logs = self.new_state(LOG_SUM, with_marginals)
                    self._take(of_logs, rows, row, row + 1, log_value, weight)
                    if with_marginals:
                        weight[row] = self._exponentials(weight[row])
                    row += 1

        # Each thread has messages of its own.
        fits = threads * self.cost.cells <= self.max_cells
        map_ranges(answer, len(rows), threads if fits else 1)
        return log_value, weight

    def _take(
        self, state: State, rows: Rows, first: int, last: int, log_value: Values, weight: Values
    ) -> int:
        """Answer some rows; return how many, up to one that linear space is too small for."""
        steps, n_up = self._up_and_down if len(state.down) else self._up, len(self._up)
        small = n_up == 1 and int(self.cost.operations) * len(steps) < _PRODUCTS
        parts = [(0, len(steps))] if small else [(k, k + 1) for k in range(len(steps))]
        done = 0
        for row in [first] if small else range(first, last):
            for part in parts:
                end = last if small else row + 1
                n = answer_rows(
                    self.buckets, state, self.entry, rows, steps, n_up, *part, row, end,
                    log_value, weight,
                )  # fmt: skip
                if n < end - row:
                    return done + n
            done += end - row
        return done

    def _exponentials(self, logarithms: Values) -> Values:
        """Return weights of states from their logarithms, the greatest of each variable 1."""
        most = np.maximum.reduceat(logarithms, self.first_state[:-1])
        return np.exp(logarithms - np.repeat(np.maximum(most, LEAST), self.factors.arity))

    def run(self, state: State, values: Rows) -> float | None:
        """Compute the messages up of one row; None where linear space is too small for it."""
        found = np.empty(1)
        done = self._take(state, values[None], 0, 1, found, np.empty((1, 0)))
        return float(found[0]) if done else None

    def table(self, state: State) -> Values:
        """Return the table of the last bucket, over the variables that are kept, not normalised."""
        own, shape = self.buckets, self.factors.arity[list(self.kept)]
        at = int(state.message_at[-1])
        return state.value[at : at + int(own.size[-1])].reshape(shape)
