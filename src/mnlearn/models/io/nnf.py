"""Circuits as d-DNNF for programs of knowledge compilation, in the form of the compiler d4.

A file `.nnf` has the nodes first, `o N 0` for a sum, `a N 0` for a product and `t N 0` for the
constant 1; node 1 is the root. Then each line `PARENT CHILD LITERAL... 0` is an edge, and the
literals are factors of the child. Literal v is variable v (from 1) with the value 1 and -v is it
with the value 0. Parameters are further literals. A second file `.nnf.csv` has the weight of each.
"""

import csv
import io
import math
from pathlib import Path

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import InputError


def write_nnf(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit, and the weights of its literals to a file that has `.csv` behind the name.

    The value of the circuit for some evidence is the sum over products of the weights of literals,
    where the literals that the evidence rules out have the weight 0.

    Raises
    ------
    InputError
        A parameter is too large to write.
    """
    weights = _weights(circuit, path)
    n_inner = len(circuit.is_sum)
    # The root is the last inner node, and number 1; the constant has the highest number.
    number = {circuit.n_leaves + i: n_inner - i for i in range(n_inner)}
    constant = n_inner + 1
    lines = [f"{'o' if is_sum else 'a'} {n_inner - i} 0" for i, is_sum in enumerate(circuit.is_sum)]
    lines = [*reversed(lines), f"t {constant} 0"]
    start, child = circuit.start.tolist(), circuit.child.tolist()
    for i, is_sum in enumerate(circuit.is_sum.tolist()):
        own = child[start[i] : start[i + 1]]
        parent = n_inner - i
        literals = [str(_literal(circuit, c)) for c in own if c < circuit.n_leaves]
        lines += [f"{parent} {number[c]} 0" for c in own if c >= circuit.n_leaves]
        if is_sum:
            lines += [f"{parent} {constant} {literal} 0" for literal in literals]
        elif literals:
            lines.append(f"{parent} {constant} {' '.join(literals)} 0")
    # Both files or none.
    with atomic_path(f"{path}.csv") as of_weights, atomic_path(path) as of_circuit:
        of_weights.write_text(weights, encoding="utf-8")
        of_circuit.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _literal(circuit: ArithmeticCircuit, leaf: int) -> int:
    """Return the literal of a leaf of the circuit."""
    if leaf < 2 * circuit.n_vars:
        v, x = divmod(leaf, 2)
        return v + 1 if x else -(v + 1)
    return leaf - circuit.n_vars + 1


def _weights(circuit: ArithmeticCircuit, path: Path | str) -> str:
    """Return the table of variables, weights of both literals, and meanings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "positive", "negative", "name"])
    names = circuit.names or tuple(f"V{v}" for v in range(circuit.n_vars))
    for v, name in enumerate(names, start=1):
        writer.writerow([v, 1.0, 1.0, name])
    for k, weight in enumerate(circuit.weight.tolist(), start=circuit.n_vars + 1):
        try:
            writer.writerow([k, repr(math.exp(weight)), 1.0, ""])
        except OverflowError:
            raise InputError(f"{path}: a parameter of exp({weight:g}) is too large.") from None
    return text.getvalue()
