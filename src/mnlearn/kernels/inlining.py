"""The `inlined` decorator, for parts of kernels that must cost no call.

Numba copies the body into each caller before it compiles the caller, with the caller's rules for
floating point numbers. A call of a compiled function passes all fields of its arrays and counts
references to them, which is slow inside short loops.
"""

from numba import njit

inlined = njit(nogil=True, error_model="numpy", inline="always")


@inlined
def copy_into(out, values):
    """Copy an array to the beginning of another that is as long or longer.

    An assignment to a slice does the same, but Numba then compiles its error message for arrays of
    different shapes, with all that formats numbers: seconds at the first use of a kernel.
    """
    for k in range(len(values)):
        out[k] = values[k]
