"""How marginals are computed: the method and its settings."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from mnlearn.runtime.errors import InputError

# For queries: exact where that takes about a second at most, and Gibbs sampling elsewhere.
AUTO = "auto"
EXACT = "exact"
SAMPLED = ("gibbs", "mcsat")
ITERATIVE = ("bp", "meanfield")
METHODS = ("gibbs", "exact", "mcsat", "bp", "meanfield")
# Annealed importance sampling estimates partition functions only.
ANNEALED = "ais"
# Tree-reweighted belief propagation bounds partition functions from above.
UPPER = "trw"
# The methods that give the partition function of a network, first those for its likelihood.
LIKELIHOOD_METHODS = ("exact", *ITERATIVE, ANNEALED)
PARTITION_METHODS = (*LIKELIHOOD_METHODS, UPPER)
# How examples are drawn.
SAMPLERS = (AUTO, EXACT, "gibbs")
SCHEDULES = ("sequential", "parallel", "residual")
# Samples that are not counted and that are; those of MC-SAT are the DTSL paper's.
_SAMPLES = {"mcsat": (1000, 10000)}


@dataclass(frozen=True)
class Inference:
    """How marginals are computed.

    method : as planned ("auto"), Gibbs sampling, enumeration of up to 2^20 states of the query
    variables, MC-SAT, loopy belief propagation, or mean field. burn_in : samples at the start of
    each chain that are not counted. samples : samples that are counted. iterations : most
    iterations of belief propagation and mean field. tolerance : both have converged when the
    log-odds of each marginal change by at most this in an iteration. damping : share of the old
    message that an update of belief propagation keeps, against oscillation in loops; at least 0 and
    below 1. schedule : whether belief propagation computes a message from the newest messages, or
    all messages of an iteration from those of the iteration before, or next the messages for which
    most has changed.
    """

    method: str = "gibbs"
    burn_in: int = 100
    samples: int = 1000
    _: KW_ONLY
    iterations: int = 100
    tolerance: float = 1e-5
    damping: float = 0.5
    schedule: str = "sequential"

    def __post_init__(self) -> None:
        if self.method not in (AUTO, *METHODS):
            expected = ", ".join(METHODS[:-1]) + f" or {METHODS[-1]}"
            raise InputError(f"expected {expected}, got {self.method!r}.", where="inference")
        if self.burn_in < 0 or self.samples < 1:
            raise InputError(
                "expected burn_in of at least 0 and samples of at least 1.", where="inference"
            )
        if self.iterations < 1 or not self.tolerance >= 0.0:
            raise InputError(
                "expected iterations of at least 1 and tolerance of at least 0.", where="inference"
            )
        if not 0.0 <= self.damping < 1.0:
            raise InputError("expected damping of at least 0 and below 1.", where="inference")
        if self.schedule not in SCHEDULES:
            raise InputError(
                f"expected the schedule {SCHEDULES[0]}, {SCHEDULES[1]} or {SCHEDULES[2]}, "
                f"got {self.schedule!r}.",
                where="inference",
            )

    def as_record(self) -> dict[str, Any]:
        """Return the method and the settings that it reads; those of sampling for "exact" too."""
        names = ["burn_in", "samples"]
        if self.method in ITERATIVE:
            names = ["iterations", "tolerance"]
        if self.method == "bp":
            names += ["damping", "schedule"]
        return {"method": self.method} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Annealing:
    """How much work goes into an estimate of the partition function.

    n_chains : number of independent chains, at least 2. n_steps : number of steps of each chain
    from the starting distribution to the model, at least 1.
    """

    n_chains: int = 100
    n_steps: int = 1000

    def __post_init__(self) -> None:
        if self.n_chains < 2 or self.n_steps < 1:
            raise InputError("annealing: expected at least 2 chains and 1 step.")


def inference_of(
    method: str, *, burn_in: int | None = None, samples: int | None = None, **more: Any
) -> Inference:
    """Return settings with the method's usual numbers of samples where they are not given."""
    usual = _SAMPLES.get(method, (Inference.burn_in, Inference.samples))
    return Inference(
        method,
        usual[0] if burn_in is None else burn_in,
        usual[1] if samples is None else samples,
        **more,
    )
