"""Sums over listed places of an array."""

from mnlearn.kernels.jit import kernel


@kernel
def sum_listed(x, listed, begin, end):
    """Return the sum of x over listed[begin:end]; four sums keep the adder busy."""
    a = b = c = d = 0.0
    k = begin
    while k + 4 <= end:
        a += x[listed[k]]
        b += x[listed[k + 1]]
        c += x[listed[k + 2]]
        d += x[listed[k + 3]]
        k += 4
    while k < end:
        a += x[listed[k]]
        k += 1
    return (a + b) + (c + d)
