"""Sums over listed places of an array, and sums and additions under a mask of bits.

A mask is the AND of runs of words, and is summed 64 numbers at a time, with vector instructions;
Numba would test bit by bit.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.wide_vectors import allow_wide_vectors


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


def _pointer(context, builder, array_type, array, place):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [place])


def _each_word(context, builder, signature, args, work):
    """Call `work` on the 64 numbers of each word and their mask."""
    x_type, words_type = signature.args[:2]
    x, words, places, n_words = args[:4]
    runs = [
        _pointer(context, builder, words_type, words, place)
        for place in cgutils.unpack_tuple(builder, places)
    ]
    with cgutils.for_range(builder, n_words) as loop:
        word = builder.load(builder.gep(runs[0], [loop.index]))
        for run in runs[1:]:
            word = builder.and_(word, builder.load(builder.gep(run, [loop.index])))
        lane = builder.mul(loop.index, ir.Constant(_INT, _LANES))
        numbers = _pointer(context, builder, x_type, x, lane)
        work(builder.bitcast(numbers, _VECTOR.as_pointer()), builder.bitcast(word, _MASK))


@intrinsic
def add_where(typingctx, x, words, places, n_words, amount):
    """Add `amount` to the float32 numbers `x` whose bit is set in all of some runs of words.

    A run of `n_words` words begins at each of `places`, a tuple; 64 numbers belong to each word.
    """

    def codegen(context, builder, signature, args):
        allow_wide_vectors(builder)
        zero = ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[4], zero)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
        amount = builder.shuffle_vector(first, first, everywhere)

        def add(numbers, mask):
            old = builder.load(numbers, align=4)
            builder.store(builder.select(mask, builder.fadd(old, amount), old), numbers, 4)

        _each_word(context, builder, signature, args, add)
        return context.get_dummy_value()

    return types.void(x, words, places, types.int64, types.float32), codegen


@intrinsic
def sum_where(typingctx, x, words, places, n_words):
    """Return the sum of the numbers of `x` whose bit is set in all runs, in a fixed order."""

    def codegen(context, builder, signature, args):
        allow_wide_vectors(builder)
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
