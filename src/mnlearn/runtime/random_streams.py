"""Independent random streams named by what they are for."""

import hashlib

import numpy as np


def stream_seed(seed: int, *names: str) -> int:
    """Return the 64-bit seed of the stream `names` under `seed`.

    The same names give the same stream whatever else was drawn before, so results do not
    depend on the order in which jobs run. Usual names: dataset, method, purpose.
    """
    text = "\0".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return NumPy's generator for the stream `names` under `seed`."""
    return np.random.default_rng(stream_seed(seed, *names))
