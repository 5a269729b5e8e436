"""Machine instructions that Numba does not expose, and sums of numbers under a mask of bits."""

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


_LANES = 64
_INT = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_MASK = ir.VectorType(ir.IntType(1), _LANES)


def _allow_wide_vectors(builder):
    """Let the function that an intrinsic is part of use vectors of 512 bits where there are any."""
    # LLVM keeps to 256 bits unless told otherwise; llvmlite has no names for these.
    for name in ("prefer-vector-width", "min-legal-vector-width"):
        set.add(builder.function.attributes, f'"{name}"="512"')


def pointer_to(context, builder, array_type, array, place):
    """Return a pointer to an element of a contiguous array of one dimension."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [place])


def _each_word(context, builder, signature, args, work):
    """Call `work` on the 64 numbers of each word and their mask."""
    x_type, words_type = signature.args[:2]
    x, words, places, n_words = args[:4]
    runs = [
        pointer_to(context, builder, words_type, words, place)
        for place in cgutils.unpack_tuple(builder, places)
    ]
    with cgutils.for_range(builder, n_words) as loop:
        word = builder.load(builder.gep(runs[0], [loop.index]))
        for run in runs[1:]:
            word = builder.and_(word, builder.load(builder.gep(run, [loop.index])))
        lane = builder.mul(loop.index, ir.Constant(_INT, _LANES))
        numbers = pointer_to(context, builder, x_type, x, lane)
        work(builder.bitcast(numbers, _VECTOR.as_pointer()), builder.bitcast(word, _MASK))


@intrinsic
def add_where(typingctx, x, words, places, n_words, amount):
    """Add `amount` to the float32 numbers `x` whose bit is set in all of some runs of words.

    A run of `n_words` words begins at each of `places`, a tuple; 64 numbers belong to each word.
    """

    def codegen(context, builder, signature, args):
        _allow_wide_vectors(builder)
        zero = ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[4], zero)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
        amount = builder.shuffle_vector(first, first, everywhere)
        # -0 changes no number. A choice between numbers would become a store of some of them, which
        # takes many steps on processors of AMD without AVX-512.
        nothing = ir.Constant(_VECTOR, [-0.0] * _LANES)

        def add(numbers, mask):
            added = builder.select(mask, amount, nothing)
            builder.store(builder.fadd(builder.load(numbers, align=4), added), numbers, 4)

        _each_word(context, builder, signature, args, add)
        return context.get_dummy_value()

    return types.void(x, words, places, types.int64, types.float32), codegen


@intrinsic
def sum_where(typingctx, x, words, places, n_words):
    """Return the sum of the numbers of `x` whose bit is set in all runs, in a fixed order."""

    def codegen(context, builder, signature, args):
        _allow_wide_vectors(builder)
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * _LANES))

        def add(numbers, mask):
            old = builder.load(total)
            new = builder.fadd(old, builder.load(numbers, align=4))
            builder.store(builder.select(mask, new, old), total)

        _each_word(context, builder, signature, args, add)
        vector, n = builder.load(total), _LANES
        while n > 1:
            n //= 2
            index = ir.VectorType(ir.IntType(32), n)
            low = builder.shuffle_vector(vector, vector, ir.Constant(index, list(range(n))))
            high = builder.shuffle_vector(vector, vector, ir.Constant(index, list(range(n, 2 * n))))
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float32(x, words, places, types.int64), codegen
