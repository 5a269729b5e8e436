"""Vectors of 512 bits in kernels that round alike on any processor.

The compiler fixes the order of additions in a kernel without `fastmath`, whatever the width of its
vectors.
"""

from typing import Any

import numba
from llvmlite.binding import get_host_cpu_features

_FEATURES = ("avx512f", "avx512bw", "avx512dq", "avx512vl")


def _find_features() -> str:
    if numba.config.CPU_FEATURES is None:  # type: ignore[attr-defined]
        return ""
    try:
        features = get_host_cpu_features()
    except RuntimeError:  # LLVM does not know the features of some processors.
        return ""
    has_all = all(features.get(name, False) for name in _FEATURES)
    return ",".join(f"+{name}" for name in _FEATURES) if has_all else ""


# The features that this processor adds to the one that kernels are compiled for. Empty if they are
# compiled for this processor, or if it has no such vectors.
WIDE_FEATURES = _find_features()


def allow_wide_vectors(builder: Any) -> None:
    """Let the function that an intrinsic is part of use vectors of 512 bits.

    It must have no sums or products whose rounding the compiler may choose: no part of a
    `sum_kernel` or a `fused_kernel`.
    """
    # LLVM keeps to 256 bits unless told otherwise; llvmlite has no names for these.
    wanted = {"prefer-vector-width": "512", "min-legal-vector-width": "512"}
    if WIDE_FEATURES:
        wanted["target-features"] = WIDE_FEATURES
    for name, value in wanted.items():
        set.add(builder.function.attributes, f'"{name}"="{value}"')
