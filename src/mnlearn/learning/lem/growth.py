"""LEM: learning a feature tree from the root down (Gogate, Webb & Domingos 2010, Algorithm 2)."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.lem.node import INADMISSIBLE, ONE_BLOCK, SINGLETONS, Settings
from mnlearn.kernels.lem.search import divide_node
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
from mnlearn.learning.parameters import parameter
from mnlearn.models.feature_tree import ROOT, FeatureTree
from mnlearn.models.features import features_of
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.progress import pulse
from mnlearn.variables.schema import Schema

SEARCHES = ("greedy", "exhaustive")
SIDE_SCORES = ("joint", "sum")
SMALL_SIDES = {"one-block": ONE_BLOCK, "singletons": SINGLETONS, "inadmissible": INADMISSIBLE}
LITERALS = ("positive", "both")


@dataclass(eq=False)
class LemSettings:
    """The hyperparameters of LEM. What the paper leaves open is a hyperparameter of its own."""

    delta: float = parameter(
        0.05, "variables that share more nats of information stay together", low=0, high=1e9
    )
    # q of the paper.
    subset_size: int = parameter(
        3, "variables looked at together for shared information", low=2, high=6
    )
    # k of the paper.
    max_feature_length: int = parameter(3, "most literals of a feature", low=1, high=100)
    # "greedy" is Section 4, "exhaustive" Algorithm 2.
    search: str = parameter("greedy", "how features are found", choices=SEARCHES)
    # d is the sum of the numbers of states of the blocks of a side; the paper's score is the sum.
    side_score: str = parameter(
        "joint", "score of a feature: 1/(d1 + d0) or 1/d1 + 1/d0", choices=SIDE_SCORES
    )
    # "singletons" is the paper's Algorithm 1.
    small_side: str = parameter(
        "one-block", "what a side with too few examples counts as", choices=SMALL_SIDES
    )
    min_rows: int = parameter(10, "examples needed to look for shared information", low=0, high=1e9)
    pseudocount: float = parameter(1.0, "added to every count", low=1e-9, high=1e9)
    bias_correction: bool = parameter(
        False, "subtract the expected bias of the estimate of shared information"
    )
    table_below: int = parameter(
        5, "fewer variables that do not fall apart get a table", low=1, high=20
    )
    similar: float = parameter(0.0, "share by which similar scores may differ", low=0, high=1)
    balance: bool = parameter(True, "of similar features, take that with the most even sides")
    # "positive": features ask binary variables for 1 only. "both": for 0 as well, where they have
    # several literals.
    literals: str = parameter(
        "positive", "values that longer features ask binary variables for", choices=LITERALS
    )

    def for_kernels(self) -> Settings:
        """Return the settings as the kernels take them."""
        return Settings(
            # Information that exceeds it by rounding errors only does not.
            float(self.delta) + EQUAL,
            self.subset_size,
            self.max_feature_length,
            self.search == "exhaustive",
            self.side_score == "joint",
            SMALL_SIDES[self.small_side],
            self.min_rows,
            self.bias_correction,
            float(self.similar),
            self.balance,
            self.literals == "both",
        )


class Draft:
    """Takes F-nodes and tables in the order in which they are found."""

    def __init__(self) -> None:
        # Of each F-node: the A-node above it, and its literals.
        self._f_nodes: list[tuple[int, Sequence[Literal]]] = []
        self._n_branches: list[int] = []
        # Of each A-node, the root first: its log-probability, and what is fixed there.
        self._log_prob: list[float] = [0.0]
        self._fixed: list[Sequence[Literal]] = [()]

    def add_feature(
        self,
        above: int,
        literals: Sequence[Literal],
        log_prob: Sequence[float],
        fixed: Iterable[Sequence[Literal]],
    ) -> int:
        """Add an F-node below an A-node; return its first A-node, that of 0."""
        first = len(self._log_prob)
        self._f_nodes.append((above, literals))
        self._n_branches.append(len(log_prob))
        self._log_prob += log_prob
        self._fixed += fixed
        return first

    def fix(self, above: int, literals: Sequence[Literal]) -> None:
        """Fix more variables at an A-node."""
        self._fixed[above] = [*self._fixed[above], *literals]

    def tree(self, schema: Schema) -> FeatureTree:
        """Return the tree."""
        literals = features_of(own for _, own in self._f_nodes)
        fixed = features_of(self._fixed)
        above = np.array([a for a, _ in self._f_nodes])
        n_children = np.bincount(above, minlength=len(self._fixed))
        return FeatureTree(
            schema,
            literal_start=literals.start,
            literal_var=literals.var,
            literal_value=literals.value,
            branch_start=np.cumsum([ROOT + 1, *self._n_branches]),
            log_prob=np.array(self._log_prob),
            fixed_start=fixed.start,
            fixed_var=fixed.var,
            fixed_value=fixed.value,
            child_start=np.concatenate([[0], np.cumsum(n_children)]),
            child=np.argsort(above, kind="stable").astype(np.int32),
        )


def learn_feature_tree(train: Dataset, settings: LemSettings) -> FeatureTree:
    """Return the feature tree that LEM learns."""
    schema = train.schema
    values = schema.values(_examples(train))
    growth = _Growth(np.ascontiguousarray(values.T), schema.arity, settings)
    growth.grow()
    return growth.draft.tree(schema)


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
            pulse(f"feature tree: {len(self._waiting)} parts left")

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
        own = [part.slot_value[a:b] for a, b in itertools.pairwise(part.slot.tolist())]
        cells = np.stack(np.meshgrid(*own, indexing="ij"), axis=-1).reshape(-1, len(own))
        cell = np.zeros(len(part.examples), np.int64)
        for v, known in zip(part.variable.tolist(), own, strict=True):
            position = np.zeros(256, np.int64)
            position[known] = np.arange(len(known))
            cell = cell * len(known) + position[self._values[v, part.examples]]
        count = np.bincount(cell, minlength=len(cells))
        place = {v: j for j, v in enumerate(part.variable.tolist())}
        allowed = np.ones(len(cells), bool)
        for clause in part.clauses:
            allowed &= ~np.all([cells[:, place[v]] == x for v, x in clause], axis=0)
        count, cells = count[allowed], cells[allowed]
        alpha = self._settings.pseudocount
        log_prob = np.log((count + alpha) / (len(part.examples) + alpha * len(count)))
        names = part.variable.tolist()
        fixed = [list(zip(names, cell, strict=True)) for cell in cells.tolist()]
        self.draft.add_feature(part.above, (), log_prob.tolist(), fixed)
