"""LEM: learning a feature tree from the root down (Gogate, Webb & Domingos 2010, Algorithm 2)."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.lem.division import count_cells, divide_node
from mnlearn.learning.lem.draft import Draft
from mnlearn.learning.lem.parts import (
    Literal,
    Part,
    Side,
    blocks_of,
    divided,
    everything,
    fixed_literals,
    tied_by_clauses,
)
from mnlearn.learning.lem.settings import LemSettings
from mnlearn.models.feature_tree import ROOT, FeatureTree
from mnlearn.models.grouped_variables import NO_VALUE, grouped_variables
from mnlearn.runtime.errors import DATA, InputError


def learn_feature_tree(
    train: Dataset, settings: LemSettings, groups: Sequence[Sequence[int]] | None = None
) -> FeatureTree:
    """Return the feature tree that LEM learns.

    groups : columns of each variable that has several, in the order of its values; exactly one is
        1 in each row. The groups of the data if not given.

    Raises
    ------
    InputError
        A row gives a group no value, or several; or the examples carry weights other than 1.
    """
    variables = grouped_variables(train.n_vars, train.groups if groups is None else groups)
    values = variables.values(_examples(train))
    wrong = np.argwhere(values == NO_VALUE)
    if len(wrong):
        i, v = wrong[0]
        columns = ", ".join(str(c + 1) for c in variables.columns(int(v)))
        raise InputError(f"expected exactly one 1 in the columns {columns}.", where=DATA, row=i + 1)
    growth = _Growth(np.ascontiguousarray(values.T), variables.arity, settings)
    growth.grow()
    return growth.draft.tree(variables, train.names)


def _examples(train: Dataset) -> NDArray[np.uint8]:
    """Return a row for each example, which must have weight 1."""
    count = np.bincount(train.row_of, minlength=train.n_rows)
    if not np.array_equal(count, train.weight):
        raise InputError("LEM counts examples, it takes none with weights.", where=DATA)
    return train.rows[train.row_of]


class _Growth:
    """Learns part after part; parts below one that is learned wait in a list."""

    def __init__(
        self, values: NDArray[np.uint8], arity: NDArray[np.int64], settings: LemSettings
    ) -> None:
        self.draft = Draft()
        self._values, self._arity, self._settings = values, arity, settings
        self._kernel_settings = settings.for_kernels()
        n = np.arange(values.shape[1] + 1, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            c_log_c = np.where(n > 0, n * np.log(n), 0.0)
            self._tables = (c_log_c, np.log2(np.arange(256.0)), arity)
        self._waiting: list[Part] = []

    def grow(self) -> None:
        """Learn the whole tree."""
        arity = self._arity
        n_variables, n_examples = self._values.shape
        slot = np.concatenate([[0], np.cumsum(arity)]).astype(np.int32)
        value = np.arange(slot[-1]) - np.repeat(slot[:-1], arity)
        examples, variable = (np.arange(n, dtype=np.int32) for n in (n_examples, n_variables))
        self._waiting.append(Part(ROOT, examples, variable, slot, value.astype(np.uint8)))
        while self._waiting:
            self._learn(self._waiting.pop())

    def _learn(self, part: Part) -> None:
        """Learn one part (Algorithm 2); what is below its F-node is put on the list."""
        if len(part.variable) == 1:
            self._add_table(part)
            return
        if self._is_small(part):
            self._add_independent(part)
            return
        room = self._settings.max_feature_length
        feature, label, alive, size, examples = divide_node(
            self._values, part.examples, part.variable, part.slot, part.slot_value,
            part.clause_arrays(room), self._tables, self._kernel_settings,
        )  # fmt: skip
        if not len(feature):
            for block in blocks_of(part, everything(part, label[0]), part.above):
                tabulated = len(block.variable) < self._settings.table_below
                (self._add_table if tabulated else self._add_independent)(block)
            return
        literals = tuple(part.literal(s) for s in feature.tolist())
        clauses = part.clauses if len(literals) == 1 else (*part.clauses, literals)
        zero = Side(examples[0], label[0], alive[0], size[0], clauses)
        one = Side(examples[1], label[1], alive[1], size[1], part.clauses)
        first = self._add_feature(part, literals, [zero, one])
        for k, side in enumerate((zero, one)):
            self._handle(list(blocks_of(part, side, first + k)))

    def _handle(self, blocks: list[Part]) -> None:
        """Put the blocks of one side on the list, or finish those of which no more is learned."""
        for block in blocks:
            if len(blocks) == 1 and len(block.variable) < self._settings.table_below:
                self._add_table(block)
            elif self._is_small(block):
                self._add_independent(block)
            elif len(block.variable) == 1:
                self._add_table(block)
            else:
                self._waiting.append(block)

    def _is_small(self, part: Part) -> bool:
        return len(part.examples) < max(self._settings.min_rows, 1)

    def _add_feature(self, part: Part, literals: Sequence[Literal], sides: Sequence[Side]) -> int:
        """Add an F-node; return its first A-node."""
        alpha = self._settings.pseudocount
        count = np.array([len(side.examples) for side in sides])
        log_prob = np.log((count + alpha) / (count.sum() + 2.0 * alpha))
        fixed = [fixed_literals(part, side) for side in sides]
        return self.draft.add_feature(part.above, literals, log_prob.tolist(), fixed)

    def _add_independent(self, part: Part) -> None:
        """Add a table for each variable; what clauses tie together stays together."""
        for block in blocks_of(part, everything(part, tied_by_clauses(part)), part.above):
            if len(block.variable) == 1 or len(block.variable) < self._settings.table_below:
                self._add_table(block)
                continue
            literal = min(block.clauses[0])
            holds = self._values[literal[0], block.examples] == literal[1]
            sides = divided(block, literal, (block.examples[~holds], block.examples[holds]))
            if len(sides) == 1:
                # Only one side has states: there is nothing to choose.
                self.draft.fix(block.above, fixed_literals(block, sides[0]))
                above = [block.above]
            else:
                first = self._add_feature(block, (literal,), sides)
                above = [first, first + 1]
            for a, side in zip(above, sides, strict=True):
                for below in blocks_of(block, side, a):
                    self._add_independent(below)

    def _add_table(self, part: Part) -> None:
        """Add a table of the joint values that no clause forbids."""
        sizes = np.diff(part.slot)
        count = np.empty(int(np.prod(sizes)), np.int64)
        count_cells(self._values, part.examples, part.variable, part.slot, part.slot_value, count)
        own = [part.slot_value[a:b] for a, b in itertools.pairwise(part.slot.tolist())]
        cells = np.stack(np.meshgrid(*own, indexing="ij"), axis=-1).reshape(-1, len(own))
        place = {v: j for j, v in enumerate(part.variable.tolist())}
        allowed = np.ones(len(cells), bool)
        for clause in part.clauses:
            allowed &= ~np.all([cells[:, place[v]] == x for v, x in clause], axis=0)
        count, cells = count[allowed], cells[allowed]
        alpha = self._settings.pseudocount
        log_prob = np.log((count + alpha) / (len(part.examples) + alpha * len(count)))
        self.draft.add_table(part.above, part.variable, cells, log_prob)
