"""Libra's text formats: `.mn`, `.dn` and `.bn` of networks, `.ac` of circuits.

The reader accepts all kinds of factors over binary variables. It accepts line ends around braces
and inside trees, where Libra does not. It refuses what Libra accepts but a person cannot mean: a
conjunction that asks one variable for both values (Libra drops all but its first literal), two
CPDs or none for a variable, values other than 0 and 1, and text after the closing brace. The
formats have no names of variables.
"""

from mnlearn.models.io.libra.ac import read_ac, write_ac
from mnlearn.models.io.libra.read import read_bn, read_dn, read_mn
from mnlearn.models.io.libra.write import write_bn, write_dn, write_mn

__all__ = [
    "read_ac",
    "read_bn",
    "read_dn",
    "read_mn",
    "write_ac",
    "write_bn",
    "write_dn",
    "write_mn",
]
