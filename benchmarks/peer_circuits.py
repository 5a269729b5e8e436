"""Evaluation and differentiation of circuits by other public libraries, where they are installed.

Both take arbitrary circuits and run on a CPU; the extra `peers` of the package names them.
"""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit

Work = Callable[[], Any]


def find_peers() -> dict[str, Callable[[ArithmeticCircuit, NDArray[np.uint8]], Work]]:
    """Return what prepares the evaluation of a circuit for rows, for each library at hand."""
    known = {"sparc": ("SparC", prepare_sparc), "klay": ("KLay, JAX", prepare_klay)}
    return dict(entry for module, entry in known.items() if find_spec(module) is not None)


def prepare_sparc(circuit: ArithmeticCircuit, rows: NDArray[np.uint8]) -> Work:
    """Return the evaluation of the mean log-likelihood of rows and of its derivatives by SparC.

    Sums must have weights that sum to 1 there, so that they become means; the edges are the same.
    The parameters are literals of further variables, which are all 1.
    """
    import sparc

    sparc.set_num_threads(1)
    n_parameters = len(circuit.weight)
    literals = [(v, x) for v in range(circuit.n_vars) for x in (0, 1)]
    parameters = [(circuit.n_vars + p, 1) for p in range(n_parameters)]
    nodes = [sparc.LiteralInputNode(v, x) for v, x in literals + parameters]
    for is_sum, below in _inner(circuit):
        children = [nodes[c] for c in below]
        share = [1.0 / len(children)] * len(children)
        nodes.append(sparc.SumNode(children, share) if is_sum else sparc.ProductNode(children))
    compiled = nodes[-1].compile()
    ones = np.ones((len(rows), n_parameters), np.int64)
    values = np.concatenate([rows.astype(np.int64), ones], axis=1)
    return lambda: compiled.mean_log_likelihood_and_grad(values)


def prepare_klay(circuit: ArithmeticCircuit, rows: NDArray[np.uint8]) -> Work:
    """Return the evaluation of the root's log-value for rows and of its derivatives by KLay.

    KLay (Maene, Derkinderen & Zuidberg Dos Martires 2025) in its own, single precision.
    """
    # Read when JAX starts: one thread, as everywhere in this bench.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import klay

    layers = klay.Circuit()
    n_parameters = len(circuit.weight)
    variables = [sign * (v + 1) for v in range(circuit.n_vars) for sign in (-1, 1)]
    parameters = [circuit.n_vars + 1 + p for p in range(n_parameters)]
    nodes = [layers.literal_node(literal) for literal in variables + parameters]
    for is_sum, below in _inner(circuit):
        children = [nodes[c] for c in below]
        nodes.append(layers.or_node(children) if is_sum else layers.and_node(children))
    layers.set_root(nodes[-1])
    root = layers.to_jax_function("log")
    with np.errstate(divide="ignore"):
        true, false = np.log(rows), np.log(1.0 - rows)
    weight = np.tile(circuit.weight, (len(rows), 1))
    positive = jax.numpy.array(np.concatenate([true, weight], axis=1))
    negative = jax.numpy.array(np.concatenate([false, np.zeros_like(weight)], axis=1))
    one = jax.value_and_grad(lambda p, n: root(p, n)[0], argnums=(0, 1))
    evaluate = jax.jit(jax.vmap(one))
    # It is compiled by the first call.
    jax.block_until_ready(evaluate(positive, negative))
    return lambda: jax.block_until_ready(evaluate(positive, negative))


def _inner(circuit: ArithmeticCircuit) -> list[tuple[bool, list[int]]]:
    """Return of each sum and product whether it is a sum, and its children."""
    below = np.split(circuit.child, circuit.start[1:-1])
    return [(bool(s), c.tolist()) for s, c in zip(circuit.is_sum, below, strict=True)]
