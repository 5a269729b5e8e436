"""Digests of the code that a result can reach: functions, classes and constants, not modules.

Each definition is hashed as its syntax tree, with the hashes of what its names resolve to and the
settings of `runtime/target.py`. The place of a definition, comments, docstrings, layout and what
people read (`runtime/words.py`) play no part.
"""

import ast
import hashlib
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mnlearn.runtime.digest_cache import digest_file, keep_digest, read_digest
from mnlearn.runtime.target import SETTINGS
from mnlearn.runtime.words import without_words

# The folder that has the packages whose code is followed: `src`, or where both are installed.
SOURCES = Path(__file__).parents[2]
PACKAGES = ("mnlearn", "mnlearn_studies")

# Modules that cannot change a number: messages, progress, provenance itself, the cache of compiled
# kernels, the step in which a finished file takes its place on disk, suffixes of files, and how a
# job is handed to the process that makes a record.
LEFT_OUT = frozenset(
    {
        "mnlearn.runtime.errors",
        "mnlearn.runtime.progress",
        "mnlearn.runtime.provenance",
        "mnlearn.runtime.code_digest",
        "mnlearn.runtime.digest_cache",
        "mnlearn.runtime.words",
        "mnlearn.runtime.atomic",
        "mnlearn.kernels.cache",
        "mnlearn.models.io.suffixes",
        "mnlearn_studies.records.record",
    }
)
# Statements of a module that define no name, on which all its definitions depend.
_EFFECTS = "(effects)"
# What guards statements that only type checkers read.
_CHECKED = ("TYPE_CHECKING", "typing.TYPE_CHECKING")

Definition = tuple[str, str]
Optional = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass
class _Module:
    """What a module of these packages defines and imports, according to its syntax tree.

    definitions : the statements that define each name. own : names that are imported from these
    packages, as (module, name); the second item is empty for a module. external : other names.
    """

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    own: dict[str, Definition] = field(default_factory=dict)
    external: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _References:
    """What a definition refers to in these packages and outside: a name, and what it stands for."""

    inside: tuple[tuple[str, Definition], ...]
    outside: tuple[tuple[str, str], ...]


def code_digest(*roots: str, optional: Optional = ()) -> str:
    """Return the digest, 16 hexadecimal digits, of all that definitions or modules can reach.

    optional : a module, and modules that count only if the first root alone reaches that module.
    """
    return _digest_of(SOURCES, roots, optional)


def clear_caches() -> None:
    """Forget all sources that were read; call this after an edit of a source."""
    for cached in (_digest_of, _file, _module, _numeric, _references, _syntax):
        cached.cache_clear()


@cache
def _digest_of(sources: Path, roots: tuple[str, ...], optional: Optional) -> str:
    file = _file(sources)
    key = (*roots, *(f"?{module}" for module, _ in optional))
    digest = read_digest(file, key)
    if digest is None:
        found = [definition for root in roots for definition in _definitions_of(root)]
        without: tuple[str, ...] = ()
        if optional:
            modules = {module for module, _ in reached(roots[0])}
            without = tuple(p for module, own in optional if module not in modules for p in own)
        hashes = _hashes(found, without)
        settings = [f"{name}={value}" for name, value in sorted(SETTINGS.items())]
        digest = _hash(*settings, *sorted({hashes[definition] for definition in found}))[:16]
        keep_digest(file, key, digest)
    return digest


@cache
def _file(sources: Path) -> Path:
    return digest_file([sources / package for package in PACKAGES])


def reached(*roots: str) -> set[Definition]:
    """Return the definitions, as (module, name), that a digest of `roots` covers."""
    return set(_hashes([definition for root in roots for definition in _definitions_of(root)]))


def _definitions_of(root: str) -> list[Definition]:
    if _path(root) is not None:
        return [(root, name) for name in _module(root).definitions]
    module, _, name = root.rpartition(".")
    target = _resolve(module, name) if _path(module) is not None else None
    if target is None or not target[1]:
        raise LookupError(f"{root}: no such definition in {SOURCES}")
    return [target]


def _hashes(roots: list[Definition], without: tuple[str, ...] = ()) -> dict[Definition, str]:
    """Return the hash of every definition that the roots reach, but through some modules.

    Definitions that refer to each other in a circle are hashed together.
    """
    # Most processes find their digests kept on disk, and need not load this library.
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(roots)
    waiting = list(roots)
    while waiting:
        definition = waiting.pop()
        for _, target in _followed(definition, without):
            if target not in graph:
                waiting.append(target)
            graph.add_edge(definition, target)
    hashes: dict[Definition, str] = {}
    circles = nx.condensation(graph)
    for number in reversed(list(nx.topological_sort(circles))):
        members = circles.nodes[number]["members"]
        own = {member: _own_hash(member, hashes, without) for member in members}
        together = _hash(*sorted(own.values()))
        hashes |= {member: _hash(own[member], together) for member in members}
    return hashes


def _followed(definition: Definition, without: tuple[str, ...]) -> list[tuple[str, Definition]]:
    """Return what a definition refers to, without what is in some modules or packages."""
    inside = _references(*definition).inside
    return [(name, to) for name, to in inside if not f"{to[0]}.".startswith(without)]


def _own_hash(
    definition: Definition, known: dict[Definition, str], without: tuple[str, ...]
) -> str:
    """Hash a definition with the known hashes of what it refers to, else with their syntax."""
    followed = _followed(definition, without)
    inside = [f"{name}={known.get(to) or _syntax(*to)}" for name, to in followed]
    outside = [f"{name}:{text}" for name, text in _references(*definition).outside]
    return _hash(_syntax(*definition), *sorted(inside), *sorted(outside))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _path(module: str) -> Path | None:
    base = SOURCES.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _module(module: str) -> _Module:
    path = _path(module)
    assert path is not None, module
    out = _Module()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if _is_text(statement) or _is_for_type_checkers(statement):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _add_imports(statement, out.own, out.external)
            continue
        for name in _defined(statement):
            out.definitions.setdefault(name, []).append(statement)
    return out


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_for_type_checkers(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in _CHECKED


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    names = [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and names:
        return names
    return [*names, _EFFECTS]


def _add_imports(
    statement: ast.Import | ast.ImportFrom, own: dict[str, Definition], external: dict[str, str]
) -> None:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name.partition(".")[0] in PACKAGES and alias.asname:
                own[alias.asname] = (alias.name, "")
            else:
                name = alias.asname or alias.name.partition(".")[0]
                external[name] = alias.name if alias.asname else name
        return
    module = statement.module or ""
    for alias in statement.names:
        name = alias.asname or alias.name
        if not _is_own(statement):
            external[name] = f"{module}.{alias.name}"
            continue
        whole = f"{module}.{alias.name}"
        own[name] = (whole, "") if _path(whole) is not None else (module, alias.name)


def _is_own(node: ast.AST) -> bool:
    """Whether a statement imports from this package."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in PACKAGES
    return isinstance(node, ast.Import) and any(
        alias.name.partition(".")[0] in PACKAGES for alias in node.names
    )


def _resolve(module: str, name: str) -> Definition | None:
    """Return what a name of a module is, a definition or (module, ""); None if not ours."""
    if module in LEFT_OUT or f"{module}.{name}" in LEFT_OUT:
        return None
    found = _module(module)
    if name in found.definitions:
        return module, name
    if name in found.own:
        target, inner = found.own[name]
        return _resolve(target, inner) if inner else _whole(target)
    return None


def _whole(module: str) -> Definition | None:
    return None if module in LEFT_OUT or _path(module) is None else (module, "")


@cache
def _numeric(module: str, name: str) -> tuple[ast.stmt, ...]:
    """Return the statements of a definition without what people read."""
    parsed = _module(module)

    def module_of(used: str) -> str:
        return parsed.own.get(used, ("", ""))[0]

    return tuple(without_words(each, module_of) for each in parsed.definitions[name])


@cache
def _references(module: str, name: str) -> _References:
    found = _module(module)
    inside: list[tuple[str, Definition]] = []
    outside: list[tuple[str, str]] = []
    if name != _EFFECTS and _EFFECTS in found.definitions:
        inside.append((_EFFECTS, (module, _EFFECTS)))
    for statement in _numeric(module, name):
        within = _imported_within(statement)
        for used in sorted(_global_names(statement) | set(within)):
            target: Definition | None
            if used in within:
                place, inner = within[used]
                target = _resolve(place, inner) if inner else _whole(place)
            else:
                target = _resolve(module, used)
            if target is None:
                if used in found.external:
                    outside.append((used, found.external[used]))
            elif target[1]:
                inside.append((used, target))
            else:
                inside += _of_module(statement, used, target[0])
    return _References(tuple(x for x in inside if x[1] != (module, name)), tuple(outside))


def _imported_within(statement: ast.stmt) -> dict[str, Definition]:
    """Return what a statement imports of these packages inside its functions, by name."""
    within: dict[str, Definition] = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom) and _is_own(node):
            _add_imports(node, within, {})
    return within


def _of_module(statement: ast.stmt, alias: str, module: str) -> list[tuple[str, Definition]]:
    """Return what a statement refers to of a module: some attributes, or all its definitions."""
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == alias]
    attributes = [
        n.attr
        for n in ast.walk(statement)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == alias
    ]
    if len(attributes) < len(names):
        return [(f".{name}", (module, name)) for name in _module(module).definitions]
    targets = ((f".{name}", _resolve(module, name)) for name in sorted(set(attributes)))
    return [(name, target) for name, target in targets if target is not None and target[1]]


def _global_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement looks up outside its own functions and classes."""
    table = symtable.symtable(ast.unparse(statement), "", "exec")
    return set(_globals_of(table))


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() if top else symbol.is_global():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals_of(child)


@cache
def _syntax(module: str, name: str) -> str:
    """Return the syntax of a definition as text; names of modules are left out of it."""
    found = _module(module)
    modules = {alias for alias, (_, inner) in found.own.items() if not inner}
    parts = []
    for statement in _numeric(module, name):
        within = _imported_within(statement)
        local = {alias for alias, (_, inner) in within.items() if not inner}
        parts.append(_dump(statement, modules | local))
    return "\n".join(parts)


def _dump(node: object, modules: set[str]) -> str:
    """Return syntax as text that is the same in every version of Python."""
    if isinstance(node, list):
        return "[" + ",".join(_dump(item, modules) for item in _stripped(node)) + "]"
    if isinstance(node, ast.Name) and node.id in modules:
        return "module"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_dump(value, modules)}"
        for name, value in ast.iter_fields(node)
        if value not in (None, []) or isinstance(node, ast.Constant)
        if name not in ("kind", "type_comment", "ctx")
    ]
    return f"{type(node).__name__}({','.join(fields)})"


def _stripped(nodes: list[ast.AST]) -> list[ast.AST]:
    """Return the items of a list without imports from this package and texts that do nothing."""
    return [
        node
        for node in nodes
        if not _is_own(node) and not (isinstance(node, ast.stmt) and _is_text(node))
    ]
