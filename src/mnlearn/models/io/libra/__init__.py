"""Libra's text forms: `.mn`, `.dn` and `.bn` of networks, `.ac` of circuits.

Read are all kinds of factors, over binary variables only. The reader accepts line ends around
braces and inside trees where Libra does not, and refuses what Libra lets pass but cannot be meant:
a conjunction that asks one variable for both values (Libra drops all but its first literal), two
CPDs or none for a variable, values other than 0 and 1, and text after the closing brace. The forms
have no names of variables.
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
