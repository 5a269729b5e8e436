"""The kinds of tables, figures and claims: the classes in the files of a folder."""

import importlib
import pkgutil
import sys
from typing import TypeVar

Kind = TypeVar("Kind")


def load_kinds(package: str, base: type[Kind]) -> dict[str, type[Kind]]:
    """Return the classes of the files of a package that derive from `base`, by their `kind_name`.

    The order is that of the files, and in a file that of the classes.
    """
    files = pkgutil.iter_modules(sys.modules[package].__path__)
    modules = [importlib.import_module(f"{package}.{file.name}") for file in files]
    return {
        vars(each)["kind_name"]: each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
        if issubclass(each, base) and "kind_name" in vars(each)
    }
