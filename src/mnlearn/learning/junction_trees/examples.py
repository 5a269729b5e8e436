"""The examples that a junction tree is learned from, and the parameters of its cliques."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.junction_trees.entropies import count_joint, entropies_with
from mnlearn.models.junction_tree import JunctionTree, shared
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

Clique = tuple[int, ...]
# Variables with more joint values than this are not counted together.
MAX_VALUES = 10_000_000


@dataclass(frozen=True, eq=False)
class Cliques:
    """The variables of each clique, ascending, and a clique before each, or NO_PARENT."""

    members: tuple[Clique, ...]
    parent: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct rows of values, uint8 of shape (n_variables, n_rows), with their weights."""

    data: Dataset
    schema: Schema
    values: NDArray[np.uint8]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_binary(self) -> bool:
        """Whether each variable is one column."""
        return self.schema.is_binary

    def check_joint_values(self, m: int) -> None:
        """Raise InputError if some m variables have too many joint values to count them."""
        most = np.sort(self.schema.arity.astype(np.float64))[::-1][:m].prod()
        if most > MAX_VALUES:
            raise InputError(
                f"junction tree: {m} variables have up to {most:,.0f} joint values, more than "
                f"{MAX_VALUES:,}; choose a smaller treewidth."
            )

    def entropies_with(self, members: Clique, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the entropy of some variables together with each of the others, in nats."""
        out = np.empty(len(others))
        own = np.array(members, np.int64)
        entropies_with(self.values, self.weight, self.schema.arity, own, others, out)
        return out

    def entropy(self, members: Clique) -> float:
        """Return the entropy of some variables in nats; 0 for none."""
        if not members:
            return 0.0
        return float(self.entropies_with(members[:-1], np.array(members[-1:], np.int64))[0])

    def fit(self, cliques: Cliques, pseudocount: float) -> JunctionTree:
        """Return the junction tree with the conditional distributions of the examples.

        Where a separator has no examples and no pseudocount, all values are equally likely.
        """
        tables = []
        for c, own in enumerate(cliques.members):
            above = cliques.parent[c]
            common = shared(own, cliques.members[above]) if above >= 0 else ()
            shape = tuple(self.schema.arity[list(own)].tolist())
            cells = np.zeros(int(np.prod(shape)))
            arity = self.schema.arity
            count_joint(self.values, self.weight, np.array(own, np.int64), arity, cells)
            new = tuple(k for k, v in enumerate(own) if v not in common)
            joint = cells.reshape(shape) + pseudocount
            total = joint.sum(axis=new, keepdims=True)
            joint = np.where(total > 0, joint, 1.0)
            with np.errstate(divide="ignore"):
                tables.append(np.log(joint / joint.sum(axis=new, keepdims=True)).ravel())
        return JunctionTree(
            self.schema,
            np.cumsum([0, *map(len, cliques.members)]),
            np.concatenate([np.array(own, np.int32) for own in cliques.members]),
            np.array(cliques.parent, np.int32),
            np.concatenate(tables),
        )


def examples_of(train: Dataset) -> Examples:
    """Return the examples of a dataset."""
    values = np.ascontiguousarray(train.schema.values(train.rows).T)
    return Examples(train, train.schema, values, train.weight)
