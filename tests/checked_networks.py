"""Two networks with the answers of an independent program: belief propagation, mean field.

The program made parallel updates with damping 0.5 on probabilities until no message changed by
more than 1e-10, and mean-field updates in the order of the variables until no change was above
1e-12.
"""

from typing import NamedTuple

import numpy as np

from mnlearn.models.features import features_of
from mnlearn.models.markov_network import MarkovNetwork, markov_network


class Checked(NamedTuple):
    """A network; log Z and marginals from enumeration, belief propagation and mean field."""

    network: MarkovNetwork
    log_z: dict[str, float]
    marginals: dict[str, np.ndarray]


_NETWORK_1 = """
8 18
0.017096 0:1
0.679874 1:1
0.612361 2:1
-0.255154 3:1
-0.148985 4:1
-0.263692 5:1
0.284863 6:1
-0.028032 7:1
1.253239 5:1 7:0
-0.109253 3:1 7:0
-0.162024 2:1 6:1
-0.696273 5:0 6:0
-1.536272 2:0 4:1
-0.954562 4:1 5:1
-0.186506 1:0 6:0
0.573789 0:0 7:0
-0.165565 5:0 6:1
0.198037 1:0 4:0
"""
_LOG_Z_1 = """
exact bp meanfield
6.28715887968512 6.29328242921636 6.18332230232759
"""
_MARGINALS_1 = """
exact bp meanfield
0.399905164295171 0.39998087515811 0.395162734912608
0.646002689693255 0.646068197492565 0.645053631924226
0.687914192478059 0.687986785574239 0.696097345180362
0.416673385799828 0.416687808504932 0.415941180751174
0.238465674163126 0.238977504837143 0.20383687615765
0.677616424771699 0.675454765157821 0.708523274324381
0.599267955103515 0.598058535472303 0.596996783234678
0.254300879138714 0.254841822521774 0.228361346516826
"""
_NETWORK_3 = """
12 36
0.913378 0:1
-1.539166 1:1
0.479032 2:1
0.034819 3:1
0.659125 4:1
0.192815 5:1
0.913629 6:1
0.015872 7:1
-0.258115 8:1
0.290242 9:1
0.216053 10:1
-0.178420 11:1
-0.740901 0:1 5:1 7:1
2.518811 9:0 10:0
2.305665 3:1 4:1 10:0
-2.220635 5:0 7:1 11:1
-0.514200 2:0 6:0 9:0
-1.869007 1:0 10:1
-0.796282 1:0 4:1 7:1
0.692782 7:0 9:1 11:1
2.118691 1:0 8:0
0.999955 0:1 4:1 11:0
-0.887790 2:1 6:1 8:0
1.091212 2:1 7:0
-1.610234 0:1 4:0 10:1
1.048234 3:1 7:0 11:1
-0.002257 5:1 10:1
1.264507 7:0 8:1 10:0
-0.510145 8:0 9:0
0.198108 3:1 4:1
2.078746 5:0 9:1
2.330500 1:0 7:1 10:1
-1.340465 6:0 7:0
-1.072818 3:1 5:0 9:1
-1.397550 2:0 9:1 10:0
-1.556101 0:1 5:0 7:0
"""
_LOG_Z_3 = """
exact bp meanfield
14.0249675329431 14.0901335680827 13.7078837512825
"""
_MARGINALS_3 = """
exact bp meanfield
0.691083659704537 0.680655541548141 0.724750997498758
0.104473173527284 0.112279525278443 0.0728987105426732
0.773711609336034 0.782609428934985 0.806450327167621
0.909634530902058 0.922485191861427 0.950030860158383
0.943713663940362 0.944236349865448 0.965661651354378
0.66587160344763 0.655511782941903 0.754689024084857
0.843511266424238 0.844961430223708 0.872744875341693
0.130245561096629 0.118107626258099 0.0445294610901589
0.474923377421352 0.474332647033387 0.508433669685604
0.225173150502822 0.257921813889332 0.166158176782125
0.0285783027414359 0.0228021253949723 0.0019322379044554
0.511433197267476 0.533088722118493 0.539662821041274
"""


def _columns(text: str) -> dict[str, np.ndarray]:
    names, *lines = (line.split() for line in text.strip().splitlines())
    return dict(zip(names, np.array(lines, float).T, strict=True))


def _checked(text: str, log_z: str, marginals: str) -> Checked:
    """The first line has the number of variables, the others have a weight and var:value."""
    (n_vars, _), *lines = (line.split() for line in text.strip().splitlines())
    conjunctions = [[tuple(map(int, x.split(":"))) for x in literals] for _, *literals in lines]
    weight = [float(weight) for weight, *_ in lines]
    network = markov_network(int(n_vars), features_of(conjunctions), weight)
    values = {name: float(column[0]) for name, column in _columns(log_z).items()}
    return Checked(network, values, _columns(marginals))


CHECKED = [
    _checked(_NETWORK_1, _LOG_Z_1, _MARGINALS_1),
    _checked(_NETWORK_3, _LOG_Z_3, _MARGINALS_3),
]
