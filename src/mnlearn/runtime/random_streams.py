"""Independent random streams, each with a name that says its purpose."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Hyperparameters that are seeds write this number themselves: it belongs to their recipes.
SEED = 20


def stream_seed(seed: int, *names: str) -> int:
    """Return the 64-bit seed of a stream, which its names alone decide."""
    text = "\0".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def stream(seed: int, *names: str) -> "np.random.Generator":
    """Return NumPy's generator for a stream; see `stream_seed`."""
    # The command line has SEED in its help, for which NumPy takes too long to load.
    import numpy as np

    return np.random.default_rng(stream_seed(seed, *names))
