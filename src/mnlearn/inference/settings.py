"""Settings of approximate inference."""

from dataclasses import dataclass

from mnlearn.runtime.errors import InputError


@dataclass(frozen=True)
class Inference:
    """How marginals are computed.

    Attributes
    ----------
    method : {"gibbs", "exact"}
        Gibbs sampling, or enumeration of up to 2^20 states of the query variables.
    burn_in : int
        Sweeps at the start of each Gibbs chain that are not counted.
    samples : int
        Sweeps that are counted.
    """

    method: str = "gibbs"
    burn_in: int = 100
    samples: int = 1000

    def __post_init__(self) -> None:
        if self.method not in ("gibbs", "exact"):
            raise InputError(f"inference: expected gibbs or exact, got {self.method!r}.")
        if self.burn_in < 0 or self.samples < 1:
            raise InputError("inference: expected burn_in of at least 0 and samples of at least 1.")
