"""Features that people write by hand: how they are given, and what they have to be."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.inputs import find_variable
from mnlearn.models.features import FeatureSet
from mnlearn.runtime.errors import InputError


def to_features(
    given: Sequence[Mapping[str | int, int]], names: Sequence[str] | None, n_vars: int
) -> FeatureSet:
    """Return features that are given as mappings of variables to values.

    Raises
    ------
    InputError
        The features are no list; or a feature is no mapping, has a variable that does not exist,
        or asks for another value than 0 or 1.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"features: expected a list of mappings, got {given!r}.")
    literals: list[tuple[int, int]] = []
    start = [0]
    for f, feature in enumerate(given):
        where = f"features, number {f}"
        if not isinstance(feature, Mapping):
            raise InputError(f"{where}: expected a mapping of variables to 0 or 1.")
        own = []
        for variable, value in feature.items():
            if np.ndim(value) or value not in (0, 1):
                raise InputError(f"{where}, {variable!r}: expected 0 or 1, got {value!r}.")
            own.append((find_variable(variable, names, n_vars, where), int(value)))
        literals += sorted(own)
        start.append(len(literals))
    pairs = np.array(literals, np.int64).reshape(-1, 2)
    return FeatureSet(np.array(start), pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.uint8))


def check_features(features: FeatureSet, weight: NDArray[np.float64], n_vars: int) -> None:
    """Refuse features that kernels cannot read.

    Raises
    ------
    InputError
        A feature is empty, has a variable twice, out of order or one that does not exist, or asks
        for another value than 0 or 1; or a weight is not a number.
    """
    beside = (features.var < 0) | (features.var >= n_vars)
    for wrong, expected in (
        (beside, f"variables from 0 to {n_vars - 1}"),
        (features.value > 1, "values 0 and 1"),
    ):
        if wrong.any():
            f = int(features.owner[np.argmax(wrong)])
            raise InputError(f"features, number {f}: expected {expected}.")
    if len(features) and features.length.min() == 0:
        f = int(np.argmin(features.length))
        raise InputError(f"features, number {f}: expected at least one variable.")
    place = features.owner * n_vars + features.var
    distinct, n_times = np.unique(place, return_counts=True)
    if (n_times > 1).any():
        f, v = divmod(int(distinct[np.argmax(n_times > 1)]), n_vars)
        raise InputError(f"features, number {f}: expected each variable once, {v} is repeated.")
    if (np.diff(place) < 0).any():
        f = int(features.owner[np.argmax(np.diff(place) < 0)])
        raise InputError(f"features, number {f}: expected its variables in ascending order.")
    if np.isnan(weight).any():
        f = int(np.argmax(np.isnan(weight)))
        raise InputError(f"weight, number {f}: is not a number (NaN).")
