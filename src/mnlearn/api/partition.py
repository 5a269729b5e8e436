"""The partition function of a model, exact or by an approximation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mnlearn.api.queries import advised
from mnlearn.api.settings import annealing_of, check_read, settings_of
from mnlearn.inference.annealing import estimate_log_partition
from mnlearn.inference.exact import log_partition
from mnlearn.inference.plan import VALUE, plan
from mnlearn.inference.settings import ANNEALED, EXACT, PARTITION_METHODS, UPPER
from mnlearn.inference.variational import (
    bethe_log_partition,
    bound_log_partition,
    bound_log_partition_above,
)
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream_seed


@dataclass(frozen=True)
class Partition:
    """log Z in nats, and the way to it.

    monte_carlo_error : the standard error of an estimate by sampling. converged : whether an
    iterative approximation did. is_exact : whether it is no estimate.
    """

    log_partition: float
    inference: str
    is_exact: bool = True
    monte_carlo_error: float = 0.0
    converged: bool | None = None


def partition_of(
    model: Any,
    inference: str,
    settings: Mapping[str, Any],
    seed: int,
    threads: int,
    estimates: str = 'inference="ais" or inference="bp"',
) -> Partition:
    """Return the partition function; see `Questions.log_partition`.

    inference : One of `PARTITION_METHODS`; models that are no Markov networks always get the exact
        value.
    settings : Settings of the method.
    seed, threads : For annealed importance sampling.
    estimates : How a person asks for an estimate.
    """
    if inference not in PARTITION_METHODS:
        expected = ", ".join(PARTITION_METHODS)
        raise InputError(f"inference: expected one of {expected}, got {inference!r}.")
    check_read(inference, settings)
    with advised(f"{estimates} estimates log Z"):
        chosen = plan(model, VALUE, method=EXACT if model.is_directed else inference)
    if chosen.form is not None:
        return Partition(log_partition(chosen.form), chosen.way)
    if inference == ANNEALED:
        annealing = annealing_of(settings)
        seed = stream_seed(seed, "ais")
        value, error = estimate_log_partition(model, annealing, seed, threads)
        return Partition(value, inference, is_exact=False, monte_carlo_error=error)
    # The messages of "trw" have the settings of those of "bp".
    if inference == UPPER:
        value, converged = bound_log_partition_above(model, settings_of("bp", settings))
    else:
        approximate = bethe_log_partition if inference == "bp" else bound_log_partition
        value, converged = approximate(model, settings_of(inference, settings))
    return Partition(value, inference, is_exact=False, converged=converged)
