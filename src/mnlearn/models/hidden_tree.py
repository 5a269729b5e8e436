"""Trees of hidden variables with several values, each with one observed binary variable."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.fields import check_names, set_array
from mnlearn.runtime.errors import InputError

NO_PARENT = -1
# How far the probabilities of a distribution may add up to something else than 1.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class HiddenTree:
    """A hidden variable Z_v for each observed X_v; the hidden ones form a rooted tree.

    P(x) is the sum over z of the product over v of P(z_v | z_parent) P(x_v | z_v). Its partition
    function is 1.

    Attributes
    ----------
    parent : ndarray of int32, shape (n_vars,)
        Parent of each hidden variable; NO_PARENT for the root, of which there is one.
    transition : ndarray of float64, shape (n_vars, n_states, n_states)
        P(Z_v = j | Z_parent = i) at [v, i, j]. All rows of the root are P(Z_root = j).
    emission : ndarray of float64, shape (n_vars, n_states)
        P(X_v = 1 | Z_v = j) at [v, j].
    names : tuple of str, optional
        Names of the observed variables.

    References
    ----------
    Liu & Van den Broeck, "Tractable regularization of probabilistic circuits", NeurIPS 2021.
    """

    parent: NDArray[np.int32]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        parent = set_array(self, "parent", np.int32, (None,))
        if not len(parent):
            raise InputError("hidden tree: expected at least one variable.")
        n_vars = len(parent)
        emission = set_array(self, "emission", np.float64, (n_vars, None))
        n_states = emission.shape[1]
        if not n_states:
            raise InputError("hidden tree: expected at least one value of each hidden variable.")
        transition = set_array(self, "transition", np.float64, (n_vars, n_states, n_states))
        for name, array in (("transition", transition), ("emission", emission)):
            if not ((array >= 0) & (array <= 1 + _ROUNDING)).all():
                raise InputError(f"hidden tree, {name}: expected probabilities.")
        if (np.abs(transition.sum(axis=2) - 1.0) > _ROUNDING).any():
            raise InputError("hidden tree, transition: expected rows that add up to 1.")
        if ((parent < NO_PARENT) | (parent >= n_vars)).any():
            raise InputError(f"hidden tree, parent: expected variables 0 to {n_vars - 1} or -1.")
        if int((parent == NO_PARENT).sum()) != 1 or len(self.order) != n_vars:
            raise InputError("hidden tree, parent: expected a tree with one root.")
        if (transition[self.order[0]] != transition[self.order[0], 0]).any():
            raise InputError("hidden tree, transition: expected equal rows at the root.")
        check_names(self, self.names, n_vars)

    @property
    def n_vars(self) -> int:
        """Number of observed variables."""
        return len(self.parent)

    @property
    def n_states(self) -> int:
        """Number of values of each hidden variable."""
        return self.emission.shape[1]

    @property
    def root(self) -> int:
        """The root of the tree."""
        return self.order[0]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Return the children of each variable, ascending."""
        return children_of(self.parent)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The root and the variables below it, parents before children."""
        order = np.flatnonzero(self.parent == NO_PARENT)[:1].tolist()
        for v in order:
            order += self.children[v]
        return tuple(order)

    @property
    def n_parameters(self) -> int:
        """Number of probabilities that can be chosen freely."""
        k = self.n_states
        return (k - 1) + (self.n_vars - 1) * k * (k - 1) + self.n_vars * k

    def describe(self) -> dict[str, Any]:
        """Return the sizes of the model."""
        return {
            "n_vars": self.n_vars,
            "n_states": self.n_states,
            "n_parameters": self.n_parameters,
        }


def children_of(parent: NDArray[np.int32]) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node of a forest, ascending."""
    below: list[list[int]] = [[] for _ in parent]
    for v, above in enumerate(parent.tolist()):
        if above != NO_PARENT:
            below[above].append(v)
    return tuple(map(tuple, below))
