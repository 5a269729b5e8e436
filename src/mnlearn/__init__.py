"""Structure learning for Markov networks over binary variables.

Importing the package imports nothing else. Its attributes are loaded when they are asked for.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        # Reading the metadata of a package takes 30 ms, a sixth of `mnlearn --help`.
        from importlib.metadata import version

        return version("mnlearn")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
