"""Learners, one file each; the registry is the list of files."""

import importlib
import pkgutil

from mnlearn.learning.method import Method
from mnlearn.runtime.errors import InputError


def method_names() -> list[str]:
    """Return the names of all methods, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_method(name: str) -> Method:
    """Return the method `name`, the `METHOD` of the file of that name.

    Raises
    ------
    InputError
        There is no such file.
    """
    if name not in method_names():
        raise InputError(f"method {name}: expected one of {', '.join(method_names())}.")
    method: Method = importlib.import_module(f"{__name__}.{name}").METHOD
    return method
