"""The partition function of a model, exact or by an approximation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """log Z in nats; the standard error of an estimate; whether an approximation converged."""

    log_partition: float
    monte_carlo_error: float = 0.0
    converged: bool | None = None


def partition_of(
    model: Any, inference: str, settings: Mapping[str, Any], seed: int, threads: int
) -> Partition:
    """Return the partition function; see `Questions.log_partition`.

    Parameters
    ----------
    model : Model
        The model.
    inference : str
        One of `PARTITION_METHODS`; models that are no Markov networks always get the exact value.
    settings : mapping
        Settings of the method.
    seed, threads : int
        For annealed importance sampling.

    Raises
    ------
    InputError
        An argument is not as expected, the model has no joint distribution, or its circuit would
        be too large.
    """
    if inference not in PARTITION_METHODS:
        expected = ", ".join(PARTITION_METHODS)
        raise InputError(f"inference: expected one of {expected}, got {inference!r}.")
    check_read(inference, settings)
    chosen = plan(model, VALUE, method=EXACT if model.is_directed else inference)
    if chosen.form is not None:
        return Partition(log_partition(chosen.form))
    if inference == ANNEALED:
        annealing = annealing_of(settings)
        return Partition(
            *estimate_log_partition(model, annealing, stream_seed(seed, "ais"), threads)
        )
    # The messages of "trw" have the settings of those of "bp".
    if inference == UPPER:
        value, converged = bound_log_partition_above(model, settings_of("bp", settings))
    else:
        approximate = bethe_log_partition if inference == "bp" else bound_log_partition
        value, converged = approximate(model, settings_of(inference, settings))
    return Partition(value, converged=converged)
