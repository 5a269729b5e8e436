"""The time of the conversion of dependency networks in closed form."""

import numpy as np

from benchmarks.measure import (
    Bench,
    Figure,
    compare_seconds,
    describe_score,
    measure_seconds,
)
from mnlearn.data.dataset import Dataset
from mnlearn.learning.conversion import Orders, smooth_marginals, to_markov_network
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll


def measure_conversion(
    bench: Bench,
    task: str,
    name: str,
    network: DependencyNetwork,
    parts: tuple[Dataset, Dataset],
    of_libra: str,
) -> MarkovNetwork:
    """Measure the conversion to a Markov network over all rotations of two opposite orders.

    parts : training and test data. of_libra : name of the network of Libra, without its suffix.
    """
    train, test = parts
    base, orders = smooth_marginals(train), Orders(np.arange(train.n_vars))
    seconds = measure_seconds(lambda: to_markov_network(network, base, orders))
    converted = to_markov_network(network, base, orders)
    peer = bench.peer(name, rf"dn2mn -m {of_libra}\.dn -i {name}\.train\.data -uniq")
    note = describe_score(pll(converted, test).mean, peer)
    rate = f"{len(converted.features):,} features"
    bench.add(Figure(task, name, seconds, rate, **compare_seconds(peer, seconds), note=note))
    return converted
