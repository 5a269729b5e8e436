"""What every kind of model says of itself."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.models.fields import States


class Model:
    """A model of binary variables. Each kind is a subclass, and `models.kinds` lists them.

    Attributes
    ----------
    kind : str
        Name of the kind in native files.
    title : str
        Name of the kind with its article, for sentences.
    has_joint : bool
        Whether the model is a joint distribution.
    is_exact : bool
        Whether the model sums variables out exactly, in time that is linear in its size.
    has_exact_likelihood : bool
        Whether the log-likelihood is exact and cheap for every model of the kind.
    n_vars : int
        Number of binary variables.
    names : tuple of str, optional
        Names of the variables.
    states : tuple of (str, str), optional
        Names of the values 0 and 1 of each variable.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    has_joint: ClassVar[bool] = True
    is_exact: ClassVar[bool] = False
    has_exact_likelihood: ClassVar[bool] = False
    states: "States | None" = None

    if TYPE_CHECKING:
        names: tuple[str, ...] | None

        @property
        def n_vars(self) -> int:
            """Number of binary variables."""

        @property
        def n_parameters(self) -> int:
            """Number of weights or probabilities."""

        def describe(self) -> dict[str, Any]:
            """Return the sizes of the model."""

    def size(self) -> dict[str, float]:
        """Return the number of features or parameters that count, and the mean length if known."""
        return {"n_features": self.n_parameters}

    def with_parameters(self, weight: NDArray[np.float64]) -> Any:
        """Return a model that `is_exact` with the parameters of its circuit, as logarithms."""
        raise NotImplementedError

    def to_markov_network(self) -> Any:
        """Return the same distribution as a Markov network.

        Raises
        ------
        InputError
            There is none, or it would have too many features.
        """
        raise InputError(f"{self.title} has no joint distribution.", where="model")

    def to_circuit(self) -> Any:
        """Return the same distribution as a circuit, for a model that `is_exact`.

        Raises
        ------
        InputError
            The circuit would be too large.
        """
        raise InputError(f"{self.title} has to be compiled into a circuit.", where="model")
