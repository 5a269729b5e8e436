"""How marginals are computed where they are not exact by themselves."""

from dataclasses import dataclass

from mnlearn.runtime.errors import InputError


@dataclass(frozen=True)
class Inference:
    """How marginals are computed.

    method : "gibbs", or "exact" for enumeration of up to 2^20 query states.
    burn_in, samples : sweeps of one Gibbs chain per evidence, not counted and counted.
    """

    method: str = "gibbs"
    burn_in: int = 100
    samples: int = 1000

    def __post_init__(self) -> None:
        if self.method not in ("gibbs", "exact"):
            raise InputError(f"inference: expected gibbs or exact, got {self.method!r}.")
        if self.burn_in < 0 or self.samples < 1:
            raise InputError("inference: expected burn_in of at least 0 and samples of at least 1.")
