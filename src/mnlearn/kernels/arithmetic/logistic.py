"""Exponential and logarithm without branches, so that loops over them use vector instructions.

Both are accurate to a few units in the last place. Products may be fused with sums, which needs no
assumption about infinities.
"""

from mnlearn.kernels.arithmetic.bits import bits_float, float_bits
from mnlearn.kernels.arithmetic.sums import fused
from mnlearn.kernels.jit import kernel

_LOG2_E = 1.4426950408889634
# ln 2 in two parts: multiples of the first are exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding this rounds to a whole number and leaves it in the lowest bits of the sum.
_ROUND = 6755399441055744.0
_SMALLEST = -708.0
_SQRT2_MINUS_1 = 0.41421356237309503
_LN2 = 0.6931471805599453
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@kernel
def exp_nonpositive(x):
    """Return exp(x) for x <= 0; below -708 the value at -708 (3e-308)."""
    x = x if x > _SMALLEST else _SMALLEST
    shifted = fused(x, _LOG2_E, _ROUND)
    k = shifted - _ROUND
    r = fused(-k, _LN2_LOW, fused(-k, _LN2_HIGH, x))
    # Taylor series on |r| <= ln(2) / 2: the first term left out is below 2^-52.
    p = 1.0 / 479001600.0
    p = fused(p, r, 1.0 / 39916800.0)
    p = fused(p, r, 1.0 / 3628800.0)
    p = fused(p, r, 1.0 / 362880.0)
    p = fused(p, r, 1.0 / 40320.0)
    p = fused(p, r, 1.0 / 5040.0)
    p = fused(p, r, 1.0 / 720.0)
    p = fused(p, r, 1.0 / 120.0)
    p = fused(p, r, 1.0 / 24.0)
    p = fused(p, r, 1.0 / 6.0)
    p = fused(p, r, 0.5)
    p = fused(p, r, 1.0)
    p = fused(p, r, 1.0)
    return p * bits_float((float_bits(shifted) + 1023) << 52)


@kernel
def exp_or_zero(x):
    """Return exp(x) for x <= 0; 0 below -708."""
    return exp_nonpositive(x) if x > _SMALLEST else 0.0


@kernel
def _twice_artanh(s):
    """Return 2 artanh(s) = log((1 + s) / (1 - s)) for |s| <= 0.172, by its Taylor series."""
    t = s * s
    p = 1.0 / 21.0
    p = fused(p, t, 1.0 / 19.0)
    p = fused(p, t, 1.0 / 17.0)
    p = fused(p, t, 1.0 / 15.0)
    p = fused(p, t, 1.0 / 13.0)
    p = fused(p, t, 1.0 / 11.0)
    p = fused(p, t, 1.0 / 9.0)
    p = fused(p, t, 1.0 / 7.0)
    p = fused(p, t, 1.0 / 5.0)
    p = fused(p, t, 1.0 / 3.0)
    return 2.0 * fused(s * t, p, s)


@kernel
def log1p_unit(e):
    """Return log(1 + e) for 0 <= e <= 1, as 2 artanh(e / (2 + e)), or from half of 1 + e."""
    upper = e > _SQRT2_MINUS_1
    s = (e - 1.0 if upper else e) / (e + (3.0 if upper else 2.0))
    return _twice_artanh(s) + (_LN2 if upper else 0.0)


@kernel
def log_normal(x):
    """Return log(x) for a positive x that is neither subnormal nor infinite."""
    bits = float_bits(x)
    # The mantissa moved to [sqrt(1/2), sqrt(2)), and the exponent that goes with it.
    shifted = bits - _SQRT_HALF_BITS
    k = shifted >> 52
    m = bits_float(bits - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    return fused(k, _LN2_HIGH, fused(k, _LN2_LOW, _twice_artanh(s)))


@kernel
def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    e = exp_nonpositive(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


@kernel
def log_sigmoid(x):
    """Return log(1 / (1 + exp(-x)))."""
    return (x if x < 0.0 else 0.0) - log1p_unit(exp_nonpositive(-abs(x)))
