"""Exponential and logarithm in single precision, 16 to a vector; see `kernels.arithmetic.logistic`.

Accurate to a few units in the last place of a float32.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mnlearn.kernels.arithmetic.sums import fused
from mnlearn.kernels.jit import kernel

_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)
# Adding this rounds to a whole number and leaves it in the lowest bits of the sum.
_ROUND = np.float32(12582912.0)
_SMALLEST = np.float32(-87.0)
_ONE, _TWO, _HALF = np.float32(1.0), np.float32(2.0), np.float32(0.5)
_E3, _E4, _E5, _E6 = (np.float32(1.0 / n) for n in (6, 24, 120, 720))
_A3, _A5, _A7, _A9, _A11, _A13 = (np.float32(1.0 / n) for n in (3, 5, 7, 9, 11, 13))


@intrinsic
def _exponent_of(typingctx, shifted):
    """Return 2^k as float32, where `shifted` is k + _ROUND."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(32)
        bits = builder.add(builder.bitcast(args[0], word), ir.Constant(word, 127))
        return builder.bitcast(builder.shl(bits, ir.Constant(word, 23)), ir.FloatType())

    return types.float32(types.float32), codegen


@kernel
def exp_nonpositive(x):
    """Return exp(x) for a float32 x <= 0; below -87 the value at -87 (1.6e-38)."""
    x = x if x > _SMALLEST else _SMALLEST
    shifted = fused(x, _LOG2_E, _ROUND)
    k = shifted - _ROUND
    r = fused(-k, _LN2_LOW, fused(-k, _LN2_HIGH, x))
    # Taylor series on |r| <= ln(2) / 2: the first term left out is below 2^-22 / 5.
    p = _E6
    p = fused(p, r, _E5)
    p = fused(p, r, _E4)
    p = fused(p, r, _E3)
    p = fused(p, r, _HALF)
    p = fused(p, r, _ONE)
    p = fused(p, r, _ONE)
    return p * _exponent_of(shifted)


@kernel
def log1p_unit(e):
    """Return log(1 + e) for a float32 0 <= e <= 1, as 2 artanh(e / (2 + e))."""
    s = e / (_TWO + e)
    t = s * s
    p = _A13
    p = fused(p, t, _A11)
    p = fused(p, t, _A9)
    p = fused(p, t, _A7)
    p = fused(p, t, _A5)
    p = fused(p, t, _A3)
    return _TWO * fused(s * t, p, s)
