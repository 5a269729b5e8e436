"""What people read in code, which changes no number: it is taken out before code is hashed."""

import ast
import copy
from collections.abc import Callable

# Attributes of classes, and methods, that only describe.
_DESCRIPTIONS = ("title", "citation", "formats", "__repr__", "__str__", "describe")
# Statements that call these only tell something.
_TELLING = ("say", "pulse", "warn_user", "warnings.warn", "click.echo", "print", "work.advance")
_PROGRESS = "mnlearn.runtime.progress"
# Modules to which nothing is told that moves a number.
_TOLD = ("mnlearn.runtime.errors", "mnlearn.runtime.provenance")
# The argument of `parameter` that is its help, by place and by name.
_HELP_OF = {"parameter": (1, "help_text")}


def without_words(statement: ast.stmt, module_of: Callable[[str], str]) -> ast.stmt:
    """Return a copy without what people read; `module_of` says where a name is from."""
    stripped: ast.stmt = _WithoutWords(module_of).visit(copy.deepcopy(statement))
    return stripped


class _WithoutWords(ast.NodeTransformer):
    """Takes words out of syntax; `module_of` as in `without_words`."""

    def __init__(self, module_of: Callable[[str], str]) -> None:
        self._module_of = module_of

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        """Keep which error is raised, for those that catch it."""
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = raised if isinstance(raised, ast.Name | ast.Attribute) else None
        return ast.Raise(exc=name, cause=None)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leave out a statement that only tells something."""
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _TELLING:
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Leave out what errors and provenance are told, help of parameters, labels of progress."""
        if isinstance(node.func, ast.Name):
            name = node.func.id
            module = self._module_of(name)
            if module in _TOLD:
                return ast.Call(func=node.func, args=[], keywords=[])
            if module == _PROGRESS:
                node.args = [arg for arg in node.args if not _is_text(arg)]
            if name in _HELP_OF:
                place, keyword = _HELP_OF[name]
                node.args = [arg for i, arg in enumerate(node.args) if i != place]
                node.keywords = [each for each in node.keywords if each.arg != keyword]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave out the attributes and methods that describe."""
        node.body = [each for each in node.body if not _describes(each)] or [ast.Pass()]
        return self.generic_visit(node)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _describes(statement: ast.stmt) -> bool:
    """Whether a statement of a class only says what people read."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name in _DESCRIPTIONS
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return bool(targets) and all(
        isinstance(target, ast.Name) and target.id in _DESCRIPTIONS for target in targets
    )
