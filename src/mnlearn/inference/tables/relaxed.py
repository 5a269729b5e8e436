"""Tables that are nowhere less than a network whose own tables would be too large."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tables.factors import Factors, factors_of, factors_of_features
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# Weights above this, which rule states out, have no place in a table.
_MOST = 1e6
# So many cells a table may have, as a logarithm to base 2: the first that makes all few enough.
# Larger tables share more variables, so fewer of them are a forest, and the bound is worse.
_LOG2_CELLS = (5.0, 3.0)


def relaxed_factors(model: Model) -> Factors:
    """Return the tables of a network, or greater ones where these would be too large.

    A long feature of positive weight asks for its first variables only, so that it holds in more
    states. One of negative weight is left out. Both can only raise log Z.
    """
    found = factors_of(model)
    if found is not None:
        return found
    network: MarkovNetwork = model.to_markov_network()
    weight = np.minimum(network.weight, _MOST)
    for most in _LOG2_CELLS:
        features, is_whole = _shortened(network.schema, network.features, most)
        kept = is_whole | (weight > 0.0)
        found = factors_of_features(network.schema, features.select(kept), weight[kept])
        if found is not None:
            return found
    raise InputError("inference trw: the model has too many features for tables.")


def _shortened(
    schema: Schema, features: FeatureSet, most: float
) -> tuple[FeatureSet, NDArray[np.bool_]]:
    """Return the features without literals beyond a size of table, and which have all of theirs."""
    variable = schema.variable_of[features.var]
    same = (variable[1:] == variable[:-1]) & (features.owner[1:] == features.owner[:-1])
    is_new = np.concatenate([[True], ~same])[: len(variable)]
    size = np.concatenate([[0.0], np.cumsum(is_new * np.log2(schema.arity)[variable])])
    fits = size[1:] - size[features.start[:-1]][features.owner] <= most
    length = np.bincount(features.owner[fits], minlength=len(features))
    start = np.concatenate([[0], np.cumsum(length)])
    shorter = feature_set(start, features.var[fits], features.value[fits])
    return shorter, length == features.length
