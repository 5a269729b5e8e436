"""Approximate conditional marginals by MC-SAT (Poon & Domingos 2006)."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query
from mnlearn.kernels.sampling.mcsat import SlicePlan, sample_slices
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

# Variables that are drawn together; draws are exact where clauses tie no more than these.
BLOCK_SIZE = 8
# Gibbs sweeps to the first state, so that it meets most constraints of large weight.
_START_SWEEPS = 20


def sample_by_slices(
    asked: Query,
    evidence: NDArray[np.uint8],
    inference: Inference,
    *,
    n_batches: int,
    seed: int,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Return P(query column = 1 | evidence), (n_rows, n_batches, n_columns), by a chain per row.

    n_batches : number of parts of a chain, each of which has an estimate. seed : the chain of a row
    depends on this 64-bit seed and on the evidence of the row only.

    The weights of features on one variable are added up first. A feature of positive weight w that
    holds is kept with probability 1 - exp(-w); one of negative weight that does not hold is kept as
    a clause with probability 1 - exp(-|w|). Unit propagation then fixes variables. The others are
    drawn uniformly among the states that meet the kept clauses, up to 8 variables or 256 joint
    states at a time. That is exact if clauses tie no more, else one sweep over blocks from the last
    state. Both leave the model's distribution as it is (decision 0801).

    See Poon & Domingos, "Sound and efficient inference with probabilistic and deterministic
    dependencies", AAAI 2006.
    """
    if asked.owned:
        raise InputError("MC-SAT: expected a Markov network.")
    out = np.empty((len(evidence), n_batches, len(asked.columns)), np.float32)
    plan = SlicePlan(inference.burn_in, inference.samples, _START_SWEEPS, BLOCK_SIZE)

    def sample(first: int, last: int) -> None:
        how = (asked.blocks, np.uint64(seed), plan)
        sample_slices(asked.terms, evidence, *how, first, last, out)

    map_ranges(sample, len(evidence), threads)
    return out
