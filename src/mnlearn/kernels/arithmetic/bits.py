"""Machine instructions that Numba does not expose: counts of bits, casts, prefetching of memory."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mnlearn.kernels.jit import kernel


@intrinsic
def popcount(typingctx, word):
    """Return the number of set bits of a uint64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def lowest_bit(typingctx, word):
    """Return the position of the lowest set bit of a uint64 that is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def float_bits(typingctx, x):
    """Return the bit pattern of a float64 as int64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def bits_float(typingctx, bits):
    """Return the float64 with the bit pattern of an int64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line of element `index` of a contiguous one-dimensional array."""

    def codegen(context, builder, signature, args):
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, args[0])
        pointer = builder.gep(view.data, [args[1]])
        byte = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, word, word, word]),
            "llvm.prefetch.p0",
        )
        # For reading, to be kept in all levels of the data cache.
        modes = [ir.Constant(word, mode) for mode in (0, 3, 1)]
        builder.call(function, [builder.bitcast(pointer, byte), *modes])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@kernel
def count_bits(words):
    """Return the number of bits that are set."""
    total = np.uint64(0)
    for w in range(len(words)):
        total += popcount(words[w])
    return np.int64(total)


@kernel
def count_both(one, other):
    """Return the number of bits set in both."""
    total = np.uint64(0)
    for w in range(len(one)):
        total += popcount(one[w] & other[w])
    return np.int64(total)


@kernel
def count_all(one, other, third):
    """Return the number of bits set in all three."""
    total = np.uint64(0)
    for w in range(len(one)):
        total += popcount(one[w] & other[w] & third[w])
    return np.int64(total)
