"""The choice between sums that are equal within rounding: the first of them, not the last bit.

Sums that differ by at most `EQUAL` nats for each example are equal. Where candidates are compared
again and again in a heap or a tree, their sums are rounded to multiples of it instead, since
"differ by at most" is not transitive (decision 0023).
"""

import numpy as np

from mnlearn.kernels.jit import inlined, kernel

# Nats for each example. Rounding of double precision moves the sums by 1e-15 to 1e-13 of that.
EQUAL = 1e-9
# The same for gains at learned weights. Pseudo-likelihoods are summed in single precision, so that
# the weights of two columns with the same counts differ in their eighth digit.
EQUAL_AT_WEIGHTS = 1e-7


@kernel
def first_greatest(values, tolerance):
    """Return the first place of a value that is within the tolerance of the greatest."""
    greatest = values[0]
    for k in range(1, len(values)):
        greatest = max(greatest, values[k])
    k = 0
    while values[k] < greatest - tolerance:
        k += 1
    return k


@inlined
def rounded(value, tolerance):
    """Return the multiple of the tolerance that is nearest to a value."""
    return np.rint(value * (1.0 / tolerance)) * tolerance
