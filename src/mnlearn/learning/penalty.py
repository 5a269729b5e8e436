"""The penalty on weights, which is a prior."""

from dataclasses import dataclass

import numpy as np

from mnlearn.runtime.errors import InputError


@dataclass(frozen=True)
class Penalty:
    """Gaussian prior of standard deviation `sd` and L1 penalty `l1`; either may be absent."""

    sd: float | None = None
    l1: float = 0.0

    def __post_init__(self) -> None:
        if self.sd is not None and not self.sd > 0:
            raise InputError(f"sd: expected a positive number, got {self.sd}.")
        if not 0 <= self.l1 < np.inf:
            raise InputError(f"l1: expected a number of at least 0, got {self.l1}.")

    @property
    def precision(self) -> float:
        """1 / sd^2, or 0 without a Gaussian prior."""
        return 0.0 if self.sd is None else self.sd**-2
