"""Asking for memory before it is needed, where the addresses are known ahead and random."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


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
