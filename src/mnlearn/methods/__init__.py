"""Learners, one file each; the registry is the list of files."""

import ast
import difflib
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import Any

from mnlearn.data.dataset import Dataset as Dataset
from mnlearn.learning.learner import Learner
from mnlearn.runtime.errors import InputError


def learner_names() -> list[str]:
    """Return the names of all learners, in alphabetical order."""
    return list(_names())


# A plan of a study asks thousands of times.
@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def load_learner(name: str) -> type[Learner]:
    """Return the learner `name`: the class in the file of that name."""
    module = importlib.import_module(f"{__name__}.{_known(name)}")
    learner: type[Learner] = getattr(module, _class_name(name))
    _check_declaration(name, learner)
    return learner


def _check_declaration(name: str, learner: Any) -> None:
    """Refuse a class that does not declare all that a learner has to declare."""
    place = f"methods/{name}.py: class {learner.__name__}"
    if not (isinstance(learner, type) and issubclass(learner, Learner)):
        raise InputError(f"{place}: expected a subclass of learning.learner.Learner.")
    if "__dataclass_fields__" not in vars(learner):
        raise InputError(f"{place}: expected the decorator @dataclass(eq=False, kw_only=True).")
    for attribute in ("title", "citation", "formats", "stages"):
        if not hasattr(learner, attribute):
            raise InputError(f"{place}: expected a class attribute {attribute}.")
    known = learner.fields()
    for parameter in (p for stage in learner.stages for p in stage.parameters):
        if parameter not in known:
            expected = ", ".join(known)
            raise InputError(f"{place}: stages name {parameter!r}, expected one of {expected}.")


def learner_root(name: str) -> str:
    """Return the place of a learner's class, as `code_digest` takes it, without importing it."""
    return f"mnlearn.methods.{name}.{_class_name(_known(name))}"


def learner_file(name: str) -> Path:
    """Return the file of a learner."""
    return Path(__path__[0]) / f"{_known(name)}.py"


@cache
def class_names() -> dict[str, str]:
    """Return the name of the file of each learner by the name of its class."""
    return {_class_name(name): name for name in learner_names()}


def find_learner(text: str) -> str:
    """Return the name of a learner written in any capitals, or as its class is called."""
    bare = re.sub("[^a-z0-9]", "", text.lower())
    return _known(next((name for name in _names() if name.replace("_", "") == bare), text))


def _known(name: str) -> str:
    if name not in _names():
        like = difflib.get_close_matches(name.lower(), _names(), 3)
        advice = f"did you mean {' or '.join(like)}" if like else None
        expected = f"expected one of {', '.join(_names())}."
        raise InputError(expected, where=f"method {name}", advice=advice)
    return name


@cache
def _class_name(name: str) -> str:
    path = learner_file(name)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name.lower() == name.replace("_", ""):
            return node.name
    wanted = name.replace("_", "").capitalize()
    raise InputError(f"methods/{name}.py: expected a class named {wanted}, in any capitals.")
