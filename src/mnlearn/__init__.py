"""Structure learning for Markov networks over binary variables."""

from importlib.metadata import version

__version__ = version("mnlearn")
