"""What weight learning needs of a likelihood."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Likelihood(Protocol):
    """The negative log-likelihood of a feature set on a dataset, as a function of the weights.

    It is the pseudo-likelihood, or the likelihood where a circuit computes it, summed over
    examples, in nats.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian at w = 0 or an estimate of it, shape (n_features,)."""

    @property
    def dual_value(self) -> Callable[[NDArray[np.float64], float], float] | None:
        """Function of w and a factor: the dual of the loss at the residuals of w times the factor.

        None where this is not implemented.
        """

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log-likelihood of all examples and its gradient."""


class Restrictable(Likelihood, Protocol):
    """A likelihood of which some features can be taken alone."""

    def restrict(self, members: NDArray[np.bool_]) -> "Restrictable":
        """Return the likelihood of some of the features alone, in the same order."""
