"""What every kind of model says of itself."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.questions import Questions, answers
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema


class Model(Questions):
    """A model of discrete variables. Each kind is a subclass.

    A subclass writes `log_likelihood` if it `has_own_likelihood`, and `with_parameters` if it
    `is_exact`; nobody asks others for these.

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
    has_own_likelihood : bool
        Whether the model computes the log-likelihood of complete rows itself, by `log_likelihood`.
    is_directed : bool
        Whether the edges of its graph lead from a parent to a child.
    schema : Schema
        The variables.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    has_joint: ClassVar[bool] = True
    is_exact: ClassVar[bool] = False
    has_exact_likelihood: ClassVar[bool] = False
    has_own_likelihood: ClassVar[bool] = False
    is_directed: ClassVar[bool] = False
    # The sizes in `describe`, and those in the representation.
    sizes: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()
    schema: Any

    if TYPE_CHECKING:

        @property
        def n_parameters(self) -> int:
            """Number of weights or probabilities."""

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.schema)

    @property
    def n_columns(self) -> int:
        """Number of indicator columns."""
        schema: Schema = self.schema
        return schema.n_columns

    def describe(self) -> dict[str, Any]:
        """Return the sizes of the model."""
        return {name: getattr(self, name) for name in ("n_vars", *self.sizes)}

    def graph(self) -> Any:
        """Return the network whose edges and features the model has.

        Raises
        ------
        InputError
            The model has hidden variables or is a circuit without features.
        """
        return self if self.is_directed else self.to_markov_network()

    def __repr__(self) -> str:
        sizes = {
            name.removeprefix("n_"): getattr(self, name, None) or self.describe()[name]
            for name in ("n_vars", *self.shown)
        }
        listed = ", ".join(f"{value:,} {word}" for word, value in sizes.items())
        return f"<{type(self).__name__}: {listed.replace('vars', 'variables')}>"

    def size(self) -> dict[str, float]:
        """Return the number of features or parameters that count, and the mean length if known."""
        return {"n_features": self.n_parameters}

    def is_deterministic(self) -> bool:
        """Tell whether the most probable state is exact, because no hidden variable is maximised.

        That is a question to models that are exact.
        """
        return True

    def log_likelihood(self, rows: NDArray[np.uint8], threads: int = 1, /) -> NDArray[np.float64]:
        """Return the log-probability of rows of columns, for a model that `has_own_likelihood`."""
        # The planner and the scores ask no other model.
        raise NotImplementedError

    def with_parameters(self, weight: NDArray[np.float64]) -> Any:
        """Return a model that `is_exact` with the parameters of its circuit, as logarithms."""
        # Learning with missing cells asks no other model.
        raise NotImplementedError

    def to_markov_network(self) -> Any:
        """Return the same distribution as a Markov network.

        Raises
        ------
        InputError
            There is none, or it would have too many features.
        """
        raise InputError(f"{self.title} has no joint distribution.", where="model")

    def to_circuit(self, max_edges: int | None = None) -> Any:
        """Return a circuit of the same distribution, which answers every query exactly.

        Parameters
        ----------
        max_edges : int, optional
            Edges at most of the circuit of a network, by default 5,000,000; memory and time grow
            with them. The circuit of a tree is linear in its size.

        Raises
        ------
        InputError
            There is none, or it would have more than `max_edges` edges.
        """
        if not self.has_joint:
            raise InputError(f"{self.title} has no joint distribution.", where="model")
        return answers().to_circuit(self, max_edges)
