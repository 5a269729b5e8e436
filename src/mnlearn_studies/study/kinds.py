"""Lists of kinds: the classes in the files of a folder."""

import importlib
import pkgutil
import sys
from typing import TypeVar

Kind = TypeVar("Kind")


def load_kinds(package: str, base: type[Kind]) -> list[type[Kind]]:
    """Return the public classes in the files of a package that derive from `base`, in order."""
    files = pkgutil.iter_modules(sys.modules[package].__path__)
    modules = [importlib.import_module(f"{package}.{file.name}") for file in files]
    return [
        each
        for module in modules
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, base) and not name.startswith("_")
        if each.__module__ == module.__name__ and each is not base
    ]
