"""The forms in which networks answer exactly, each of which is made once."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mnlearn.inference.circuits.compilation import (
    MAX_EDGES,
    CircuitTooLargeError,
    compile_network,
)
from mnlearn.inference.table_form import TableForm
from mnlearn.inference.tables.factors import factors_of
from mnlearn.inference.tables.orders import min_fill_order
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.memory import most_cells

# A circuit of up to so many edges, of networks of up to so many literals, takes about a second.
SMALL = 200_000
# While it is made, an edge of a circuit takes the memory of about so many cells of tables.
_CELLS = 8
_LITERALS = 50_000
# Nor is a small circuit sought of a network whose tables would have more entries than this.
_LOG2_ENTRIES = 20


@dataclass
class _Tried:
    """What is known of the circuit of a network: itself, or how many edges did not suffice.

    unlikely : whether it is probably not small.
    """

    circuit: ArithmeticCircuit | None = None
    too_few: int = 0
    why: str = ""
    unlikely: bool | None = None


_TABLES: "WeakKeyDictionary[Any, TableForm | None]" = WeakKeyDictionary()
_TRIED: "WeakKeyDictionary[Any, _Tried]" = WeakKeyDictionary()


def tables_of(model: Model) -> TableForm | None:
    """Return a model as tables; None if there are none, or one would be too large."""
    if model not in _TABLES:
        factors = factors_of(model)
        _TABLES[model] = None if factors is None else TableForm(factors, model.schema)
    return _TABLES[model]


def circuit_of(model: Model, max_edges: int = MAX_EDGES) -> ArithmeticCircuit:
    """Return the circuit of a network that has at most some number of edges, and fits in memory.

    Whether there is one does not depend on what was asked before.
    """
    tried = _TRIED.setdefault(model, _Tried())
    max_edges = min(max_edges, most_cells() // _CELLS)
    if max_edges <= SMALL:
        if tried.unlikely is None:
            tried.unlikely = _is_unlikely(model)
        if tried.unlikely:
            raise CircuitTooLargeError("its circuit would probably be too large.")
    if tried.circuit is None and tried.too_few < max_edges:
        try:
            tried.circuit = compile_network(model, max_edges)
        except (CircuitTooLargeError, RecursionError) as error:
            tried.too_few, tried.why = max_edges, str(error)
    if tried.circuit is None or tried.circuit.n_edges > max_edges:
        raise CircuitTooLargeError(tried.why or f"circuit: has more than {max_edges:,} edges.")
    return tried.circuit


def small_circuit(model: Model) -> ArithmeticCircuit | None:
    """Return the circuit of a network; None if there is none, or it would not be small."""
    if not model.has_joint:
        return None
    try:
        return circuit_of(model, SMALL)
    except InputError:
        return None


def _is_unlikely(model: Model) -> bool:
    """Tell whether the circuit is probably not small, without the work of compiling it."""
    network: MarkovNetwork = model.to_markov_network()
    return len(network.features.var) > _LITERALS or _log2_entries(network) > _LOG2_ENTRIES


def _log2_entries(network: MarkovNetwork) -> float:
    """Return the logarithm of the number of entries of tables, beyond the limit a lower bound."""
    features, schema = network.features, network.schema
    scopes = [
        {int(schema.variable_of[c]) for c, _ in features.literals(f)} for f in range(len(features))
    ]
    arity = schema.arity.tolist()
    return min_fill_order(len(schema), map(sorted, scopes), _LOG2_ENTRIES, arity)[1]
