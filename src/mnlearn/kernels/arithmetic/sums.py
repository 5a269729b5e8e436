"""Sums and products that round alike on any processor.

The compiler changes no order of additions in a kernel, so that it cannot add the numbers of a sum
side by side. A long sum here has `_LANES` parts by itself, whatever the width of the vectors.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mnlearn.kernels.arithmetic.bits import pointer_to
from mnlearn.kernels.jit import kernel

_LANES = 16
_INT = ir.IntType(64)


@intrinsic
def fused(typingctx, a, b, c):
    """Return a * b + c, rounded once: float32 if all three are, else float64."""
    number = types.float32 if {a, b, c} == {types.float32} else types.float64

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return number(number, number, number), codegen


@intrinsic
def _sums(typingctx, x, place, n):
    """Return the sum of `n` numbers of `x` from a place on, in double precision."""

    def codegen(context, builder, signature, args):
        load = _loader(context, builder, signature.args[0], args[0], types.float64)

        def add(sums, at, lanes):
            return [builder.fadd(sums[0], load(args[1], at, lanes))]

        return _add_up(builder, args[2], ir.DoubleType(), 1, add)[0]

    return types.float64(x, types.int64, types.int64), codegen


@intrinsic
def dots(typingctx, x, place, y, places, n):
    """Return the products of x[place:place + n] and the `n` numbers of `y` from each place on.

    `x` and `y` are contiguous, of one dimension; the products are in the precision of `x`. `places`
    is a tuple.
    """

    def codegen(context, builder, signature, args):
        real = context.get_data_type(x.dtype)
        load_x = _loader(context, builder, signature.args[0], args[0], x.dtype)
        load_y = _loader(context, builder, signature.args[2], args[2], x.dtype)
        others = cgutils.unpack_tuple(builder, args[3])

        def add(sums, at, lanes):
            one = load_x(args[1], at, lanes)
            bits = x.dtype.bitwidth
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(one.type, [one.type] * 3),
                f"llvm.fma.v{lanes}f{bits}",
            )
            return [
                builder.call(function, [one, load_y(other, at, lanes), old])
                for other, old in zip(others, sums, strict=True)
            ]

        found = _add_up(builder, args[4], real, len(others), add)
        return context.make_tuple(builder, signature.return_type, found)

    answer = types.UniTuple(x.dtype, len(places))
    return answer(x, types.int64, y, types.UniTuple(types.int64, len(places)), types.int64), codegen


def _loader(context, builder, array_type, array, number):
    """Return a function that loads elements of an array as a vector of floating point numbers."""
    if array_type.ndim != 1 or array_type.layout != "C":
        raise TypeError("expected contiguous arrays of one dimension")
    element, real = array_type.dtype, context.get_data_type(number)

    def load(place, at, lanes):
        pointer = pointer_to(context, builder, array_type, array, builder.add(place, at))
        vector = ir.VectorType(context.get_data_type(element), lanes)
        pointer = builder.bitcast(pointer, vector.as_pointer())
        loaded = builder.load(pointer, align=element.bitwidth // 8)
        if element == number:
            return loaded
        wanted = ir.VectorType(real, lanes)
        if isinstance(element, types.Float):
            return builder.fpext(loaded, wanted)
        return builder.uitofp(loaded, wanted)

    return load


def _add_up(builder, n, real, n_sums, add):
    """Return sums over `n` places; `add` adds the numbers at some places to parts of these sums."""
    whole = builder.and_(n, ir.Constant(_INT, -_LANES))
    first = ir.Constant(ir.IntType(32), 0)
    wide = _loop(builder, ir.Constant(_INT, 0), whole, _LANES, real, n_sums, add)
    rest = _loop(builder, whole, n, 1, real, n_sums, add)
    found = []
    for vector, last in zip(wide, rest, strict=True):
        lanes = _LANES
        while lanes > 1:
            lanes //= 2
            index = ir.VectorType(ir.IntType(32), lanes)
            low = ir.Constant(index, list(range(lanes)))
            high = ir.Constant(index, list(range(lanes, 2 * lanes)))
            low, high = (builder.shuffle_vector(vector, vector, part) for part in (low, high))
            vector = builder.fadd(low, high)
        one, other = (builder.extract_element(v, first) for v in (vector, last))
        found.append(builder.fadd(one, other))
    return found


def _loop(builder, start, stop, lanes, real, n_sums, add):
    """Return the sums over the places from `start` to `stop`, some in each step, as vectors."""
    zero = ir.Constant(ir.VectorType(real, lanes), [0.0] * lanes)
    slots = [cgutils.alloca_once(builder, zero.type) for _ in range(n_sums)]
    for slot in slots:
        builder.store(zero, slot)
    with cgutils.for_range_slice(builder, start, stop, ir.Constant(_INT, lanes)) as (at, _):
        for new, slot in zip(add([builder.load(s) for s in slots], at, lanes), slots, strict=True):
            builder.store(new, slot)
    return [builder.load(slot) for slot in slots]


@kernel
def sum_of(x):
    """Return the sum of a contiguous array of one dimension, in double precision."""
    return _sums(x, 0, len(x))


@kernel
def dot(x, y):
    """Return the product of two contiguous arrays of one dimension, in the precision of `x`."""
    return dots(x, 0, y, (0,), len(x))[0]
