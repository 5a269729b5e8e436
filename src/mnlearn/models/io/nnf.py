"""Circuits as d-DNNF for programs of knowledge compilation, in the form of the compiler d4.

A file `.nnf` has the nodes first, `o N 0` for a sum, `a N 0` for a product and `t N 0` for the
constant 1; node 1 is the root. Then each line `PARENT CHILD LITERAL... 0` is an edge. Literal c
says that column c (from 1) is 1, and -c that it is 0; parameters are further literals.
"""

import csv
import io
from pathlib import Path

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.printed import exp_of
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.files import compress_for


def write_nnf(circuit: ArithmeticCircuit, path: Path | str) -> None:
    """Write a circuit, and the weights of its literals to a file with `.csv` behind the name."""
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
        literals = [" ".join(map(str, _literals(circuit, c))) for c in own if c < circuit.n_leaves]
        lines += [f"{parent} {number[c]} 0" for c in own if c >= circuit.n_leaves]
        if is_sum:
            lines += [f"{parent} {constant} {literal} 0" for literal in literals]
        elif literals:
            lines.append(f"{parent} {constant} {' '.join(literals)} 0")
    # Both files or none.
    with atomic_path(f"{path}.csv") as of_weights, atomic_path(path) as of_circuit:
        of_weights.write_text(weights, encoding="utf-8")
        of_circuit.write_bytes(compress_for(path, ("\n".join(lines) + "\n").encode()))


def _literals(circuit: ArithmeticCircuit, leaf: int) -> list[int]:
    """Return the literals of a leaf of the circuit, that of its own column first."""
    schema = circuit.schema
    if leaf >= 2 * circuit.n_columns:
        return [leaf - circuit.n_columns + 1]
    column, value = divmod(leaf, 2)
    others = [c for c in schema.columns(int(schema.variable_of[column])) if c != column]
    return [column + 1 if value else -(column + 1), *(-(c + 1) for c in others)]


def _weights(circuit: ArithmeticCircuit, path: Path | str) -> str:
    """Return the table of variables, weights of both literals, and meanings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "positive", "negative", "name"])
    for c, label in enumerate(circuit.schema.column_labels, start=1):
        writer.writerow([c, 1.0, 1.0, label])
    for k, weight in enumerate(circuit.weight.tolist(), start=circuit.n_columns + 1):
        writer.writerow([k, repr(exp_of(weight, path)), 1.0, ""])
    return text.getvalue()
