"""Kernels as parts of other kernels: compiled to LLVM code only, and never to machine code.

Numba makes machine code, and a wrapper for Python and one for C, of each function that it compiles.
A kernel that other kernels call needs none of these: its LLVM code is linked into each caller, and
becomes machine code there. A kernel must not call itself.

The classes of Numba below are not public. The import fails where they are missing or differ, and
`jit` then takes Numba's public decorator, which is slower at the first use of a kernel.
"""

from typing import Any

from numba.core import dispatcher, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder, Flags, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

# What is used of each class beyond its constructor.
_USED = {
    Flags: ("_values", "copy"),
    JITCodeLibrary: (
        "_optimize_final_module",
        "_finalize_final_module",
        "_finalize_dynamic_globals",
        "_verify_declare_only_symbols",
    ),
    NativeLowering: ("run_pass",),
    CompilerBase: ("define_pipelines",),
    DefaultPassBuilder: ("define_nopython_pipeline",),
    dispatcher._FunctionCompiler: ("_customize_flags",),  # type: ignore[attr-defined]
    CPUDispatcher: ("_compilation_chain_init_hook", "get_call_template", "get_overload"),
}
for _owner, _names in _USED.items():
    for _name in _names:
        getattr(_owner, _name)
if _LowerResult._fields != ("fndesc", "call_helper", "cfunc", "env"):
    raise ImportError("numba.core.compiler._LowerResult has other fields than expected")


class _Flags(Flags):
    """Numba's options of one compilation, compared by what is set.

    Numba looks up each function of its own under the options of the caller. Its comparison asks
    for all options one by one, which took a tenth of the time of a compilation.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Flags) and self._values == other._values:
            return True
        return super().__eq__(other)


# Numba's hash of options depends on their names alone.
_HASH = hash(Flags())


class _FunctionCompiler(dispatcher._FunctionCompiler):  # type: ignore[name-defined]
    def _customize_flags(self, flags: Flags) -> Flags:
        return _Flags(flags)


class _PartLibrary(JITCodeLibrary):
    """LLVM code that other libraries link. It is optimised there, after it has been inlined."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Lowers a function to LLVM code."""

    _name = "mnlearn_part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower, and tell Numba under which key callers find the function."""
        codegen = state.targetctx.codegen()
        state.library = _PartLibrary(codegen, state.func_id.func_qualname)
        state.library.enable_object_caching()
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        key = object()
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class _PartCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, with a lowering of our own."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        at = [step[0] for step in passes.passes].index(NativeLowering)
        passes.passes[at] = (_PartLowering, passes.passes[at][1])
        return [passes]


class _Part(CPUDispatcher):
    """The forms of a kernel that other kernels call."""

    def add_overload(self, cres: Any) -> None:
        """Keep a compiled form, out of sight of callers in Python."""
        self.overloads[tuple(cres.signature.args)] = cres


class KernelDispatcher(CPUDispatcher):
    """A kernel. Python calls its own compiled forms, and other kernels call those of its part."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:  # noqa: A002
        # The same options for both: Numba's own functions are compiled once for each set.
        self._options = {**(targetoptions or {}), "no_cfunc_wrapper": True}
        super().__init__(py_func, locals, self._options)
        self._compiler = self._function_compiler(Compiler)
        self._part: Any = None

    def _function_compiler(self, pipeline: type[CompilerBase]) -> _FunctionCompiler:
        return _FunctionCompiler(self.py_func, self.targetdescr, self._options, {}, pipeline)

    @property
    def part(self) -> Any:
        """The kernel as other kernels call it, made at the first such call."""
        if self._part is None:
            self._part = _Part(self.py_func, None, self._options, _PartCompiler)
            self._part._compiler = self._function_compiler(_PartCompiler)
        return self._part

    def _compilation_chain_init_hook(self) -> None:
        """Look for no extensions of Numba: kernels take arrays and numbers."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how another kernel calls this one; constants get no form of their own."""
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return self.part.get_call_template(tuple(map(types.unliteral, args)), named)

    def get_overload(self, sig: Any) -> Any:
        """Return the key of the form that another kernel calls."""
        return self.part.get_overload(sig)
