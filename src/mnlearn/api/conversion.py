"""Dependency networks as Markov networks."""

from typing import Any

from mnlearn.api.inputs import Dataset, data_for, is_whole, model_of
from mnlearn.learning.conversion import (
    BASES,
    ORDERS,
    choose_base,
    choose_orders,
    to_markov_network,
    uniform_marginals,
)
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError


def from_dependency_network(
    network: Any,
    X: Any = None,
    *,
    base: str = "marginals",
    orders: str = "both-rotations",
    max_length: int = 8,
) -> MarkovNetwork:
    """Convert a dependency network to a Markov network in closed form.

    Parameters
    ----------
    network : DependencyNetwork
        The network, or an estimator that learned one.
    X : array-like, sparse matrix, DataFrame or Dataset, optional
        The training data, from which the base distribution is taken; not needed for
        base="uniform".
    base : {"marginals", "uniform", "mode", "examples"}
        The base distribution.
    orders : {"one", "pair", "rotations", "both-rotations", "all"}
        Orders of the variables that are averaged over.
    max_length : int
        Longest features that orders="all" averages over all orders.

    Returns
    -------
    MarkovNetwork

    Raises
    ------
    InputError
        The model is no dependency network, the data have other variables, an argument is none of
        these, or a conditional probability is 0.

    References
    ----------
    Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012.
    """
    own = model_of(network)
    if own.has_joint:
        raise InputError(f"network: expected a dependency network, got {own.title}.")
    for name, value, known in (("base", base, BASES), ("orders", orders, ORDERS)):
        if value not in known:
            raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}.")
    if not is_whole(max_length) or not 1 <= max_length <= 20:
        raise InputError(f"max_length: expected a whole number from 1 to 20, got {max_length!r}.")
    if X is None and base != "uniform":
        raise InputError(f"X: expected the training data, of which base={base!r} is made.")
    given: Any = uniform_marginals(own.schema)
    if X is not None:
        data = data_for(own, X)
        # Missing cells are refused.
        assert isinstance(data, Dataset)
        given = choose_base(base, data)
    chosen = choose_orders(orders, own.n_vars, int(max_length))
    return to_markov_network(own, given, chosen)
