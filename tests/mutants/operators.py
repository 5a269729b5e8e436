"""Small changes of a module, one at a time: its mutants."""

import ast
import copy
from collections import Counter
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.MatMult: ast.Mult,
}  # fmt: skip
# `zip` is told to check what its callers keep anyway; results are the same for all numbers of
# threads.
WITHOUT_EFFECT = ("strict", "threads")
_WORDS_OF_SENTENCE = 5


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    function : first line of the function that holds it, decorators included; 0 outside of all.
    holder : qualified name of that function; empty outside of all.
    nth : its number among the same changes of the same holder, from 0.
    place : number of the changed node among all of the tree, in the order of `ast.walk`.
    """

    line: int
    function: int
    holder: str
    nth: int
    place: int
    kind: str
    before: str
    after: str


def _changed(node):
    """Yield copies of a node with one change, by the kind of change."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new.ops[0] = COMPARISONS[type(node.ops[0])]()
        yield "comparison", new
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        new.op = OPERATORS[type(node.op)]()
        yield "operator", new
    elif isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", new
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "sign", new.operand
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        new.test = ast.UnaryOp(ast.Not(), new.test)
        yield "condition", new
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        new.value = ast.Constant(None)
        yield "return", new
    elif isinstance(node, ast.Call):
        yield from _without_arguments(node)
    elif isinstance(node, ast.Continue | ast.Break):
        yield "loop", ast.Break() if isinstance(node, ast.Continue) else ast.Continue()
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(
        node, ast.Raise
    ):
        yield "statement", ast.Pass()


def _without_arguments(node):
    """Yield copies of a call without one of the arguments that have a name."""
    for k, argument in enumerate(node.keywords):
        if argument.arg not in (None, *WITHOUT_EFFECT):
            new = copy.deepcopy(node)
            del new.keywords[k]
            yield f"argument {argument.arg}", new


def _changed_constant(node):
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, float):
        yield "constant", ast.Constant(value * 2 if value else 1.0)
    elif isinstance(value, str) and value:
        yield "constant", ast.Constant(f"{value}X")


def _left_out(tree):
    """Return the nodes whose change is of no behaviour: annotations, docstrings, sentences."""
    out = set()
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        parts += getattr(node, "decorator_list", [])
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
            parts.append(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A sentence for people may be worded in any way.
            parts += [node] if len(node.value.split()) >= _WORDS_OF_SENTENCE else []
        if isinstance(node, ast.Raise):
            parts += [node.exc, node.cause]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("say", "track", "TypeVar"):
            parts.append(node)
        if isinstance(node, ast.keyword) and node.arg in WITHOUT_EFFECT:
            parts.append(node)
        if isinstance(node, ast.arguments):
            parts += _defaults_without_effect(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            parts.append(node)
        for part in parts:
            if part is not None:
                out |= {id(inner) for inner in ast.walk(part)}
    return out


def _defaults_without_effect(arguments):
    by_place = [*arguments.posonlyargs, *arguments.args]
    with_default = by_place[len(by_place) - len(arguments.defaults) :]
    pairs = [*zip(with_default, arguments.defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [default for argument, default in pairs if argument.arg in WITHOUT_EFFECT]


def _first_line(function):
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _holders(tree):
    """Return the first line and the qualified name of the function that holds each node."""
    holder = {}

    def visit(node, names):
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if inside or isinstance(node, ast.ClassDef):
            names = (*names, getattr(node, "name", "<lambda>"))
        if inside:
            line = node.lineno if isinstance(node, ast.Lambda) else _first_line(node)
            # Inner functions come later, and take their nodes over.
            nodes = [inner for part in _body(node) for inner in ast.walk(part)]
            holder.update(dict.fromkeys(map(id, nodes), (line, ".".join(names))))
        for child in ast.iter_child_nodes(node):
            visit(child, names)

    visit(tree, ())
    return holder


def mutants(source):
    """Return all mutants of the source of a module, in a fixed order."""
    tree = ast.parse(source)
    skipped, holder = _left_out(tree), _holders(tree)
    found, seen = [], Counter()
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        function, name = holder.get(id(node), (0, ""))
        for kind, new in _changed(node):
            change = (kind, _shown(node), _shown(new))
            line, nth = getattr(node, "lineno", 0), seen[name, change]
            seen[name, change] += 1
            found.append(Mutant(line, function, name, nth, place, *change))
    return found


def _body(function):
    return [function.body] if isinstance(function, ast.Lambda) else function.body


def _shown(node):
    return ast.unparse(ast.fix_missing_locations(node)).splitlines()[0][:80]


def mutate(source, mutant):
    """Return the syntax tree of a module with one change."""
    tree = ast.parse(source)
    node = next(node for k, node in enumerate(ast.walk(tree)) if k == mutant.place)
    new = next(new for kind, new in _changed(node) if kind == mutant.kind)
    ast.copy_location(new, node)

    class Replace(ast.NodeTransformer):
        def visit(self, found):
            return new if found is node else self.generic_visit(found)

    return ast.fix_missing_locations(Replace().visit(tree))
