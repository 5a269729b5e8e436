"""Libra's text formats: `.mn`, `.dn` and `.bn` of networks, `.ac` of circuits.

Line ends may stand around braces and inside trees, where Libra has none. What a person cannot mean
is refused: both values of one variable, a second CPD, other values than the schema has.
"""
