"""Where a result comes from: digest of the code that made it, versions, machine."""

import ast
import hashlib
import os
import platform
import resource
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
_LIBRARIES = ("numba", "numpy", "scipy", "mnlearn")


def code_digest(*modules: str) -> str:
    """Digest (16 hex digits) of modules of this package and of all they import from it.

    modules : names such as "methods.dtsl". The digest is of syntax trees without docstrings,
        so comments, docstrings and layout do not change it.
    """
    found: set[str] = set()
    for module in modules:
        _collect(module, found)
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + _syntax(name).encode() + b"\0")
    return digest.hexdigest()[:16]


def _collect(module: str, found: set[str]) -> None:
    if module in found:
        return
    found.add(module)
    for name in _imports(module):
        _collect(name, found)


def _path(module: str) -> Path | None:
    base = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _parsed(module: str) -> ast.Module:
    path = _path(module)
    assert path is not None, module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            node.body = body[1:] or [ast.Pass()]
    return tree


@cache
def _syntax(module: str) -> str:
    return ast.dump(_parsed(module))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the modules of this package that `module` imports, at whatever depth of its code."""
    names: set[str] = set()
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.Import):
            candidates = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            candidates = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        else:
            continue
        for name in candidates:
            inner = name.removeprefix("mnlearn.")
            if name.startswith("mnlearn.") and _path(inner) is not None:
                names.add(inner)
    return tuple(sorted(names))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


def machine() -> str:
    """Return the class of this machine: processor and number of cores in use by the process."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{model}, {os.cpu_count()} cores"


def peak_memory_mib() -> float:
    """Return the largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10, 1)


def provenance(*modules: str) -> dict[str, Any]:
    """Return what a record says of where it comes from."""
    return {"source": code_digest(*modules), "versions": versions(), "machine": machine()}
