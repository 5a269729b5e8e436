"""How much memory the tables of exact inference may take."""

import sys

# Most cells of the tables of one answer, of 8 bytes each.
MOST_CELLS = 2**27
# Bytes for each cell: messages in both directions, and the tables that they are made from.
_BYTES = 24

_limit: float | None = None


def limit_memory(gigabytes: float | None) -> None:
    """Limit the memory of tables in this process; None takes the limit away."""
    global _limit
    _limit = None if gigabytes is None else gigabytes * 1e9


def most_cells() -> int:
    """Return how many cells the tables of one answer may have."""
    limits = [MOST_CELLS * float(_BYTES)]
    if _limit is not None:
        limits.append(_limit)
    if sys.platform != "win32":
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft / 2)
    return int(min(limits) / _BYTES)
