"""Features that people write by hand: how they are given, and what they have to be."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mnlearn.inference.evidence import find_variables
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import match_state
from mnlearn.variables.schema import Literal, Schema, Variable, binary_schema


def to_schema(variables: Any) -> Schema:
    """Return the variables that a person names: a schema, names, states by name, or a number."""
    if isinstance(variables, Schema):
        return variables
    if isinstance(variables, int | np.integer):
        return binary_schema(int(variables))
    if isinstance(variables, Mapping):
        return Schema(tuple(Variable(str(name), tuple(own)) for name, own in variables.items()))
    return binary_schema(len(variables), tuple(variables))


def to_features(given: Sequence[Mapping[str | int, Any]], schema: Schema) -> FeatureSet:
    """Return features that are given as mappings of variables to a state, or to several states."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"features: expected a list of mappings, got {given!r}.")
    conjunctions: list[list[Literal]] = []
    for f, feature in enumerate(given):
        where = f"features, number {f}"
        if not isinstance(feature, Mapping):
            raise InputError(f"{where}: expected a mapping of variables to states.")
        found = find_variables(schema, feature, where)
        own: list[Literal] = []
        for v, states in zip(found, feature.values(), strict=True):
            own += _literals(schema, v, states, where)
        conjunctions.append(sorted(own))
    return features_of(conjunctions)


def _literals(schema: Schema, v: int, states: Any, where: str) -> list[Literal]:
    """Return what says that a variable is in one of some states."""
    several = isinstance(states, Sequence | set | frozenset) and not isinstance(states, str)
    place = f"{where}, {schema.names[v]!r}"
    wanted = {match_state(schema[v], s, place) for s in (states if several else [states])}
    if len(wanted) == 1 and schema.arity[v] > 1:
        return [schema.literal(v, wanted.pop())]
    others = set(range(schema.arity[v])) - wanted
    if not wanted:
        raise InputError(f"{place}: expected at least one state.")
    return [(schema.literal(v, state)[0], 0) for state in sorted(others)]
