"""The arithmetic circuit of a feature tree or graph."""

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_nodes import PRODUCT, SUM, CircuitNodes
from mnlearn.models.feature_tree import ROOT, FeatureTree


def circuit_of(tree: FeatureTree) -> ArithmeticCircuit:
    """Return the circuit with a sum for each F-node and a product for each A-node.

    Its size is linear in that of the tree, a value of a group counted once with all its columns.
    Its parameters are the probabilities of the A-nodes, and its value of all states is 1.
    """
    nodes = CircuitNodes(tree.variables, 2 * tree.n_vars + tree.n_a_nodes)
    sums = [0] * tree.n_f_nodes
    for f in range(tree.n_f_nodes - 1, -1, -1):
        products = []
        for a in tree.branches(f):
            parameter = 2 * tree.n_vars + a - 1
            fixed = [nodes.value(v, x) for v, x in tree.fixed(a)]
            below = [sums[c] for c in tree.children(a)]
            products.append(nodes.add(PRODUCT, [parameter, *fixed, *below]))
        sums[f] = nodes.add(SUM, products)
    nodes.add(PRODUCT, [sums[f] for f in tree.children(ROOT)])
    return ArithmeticCircuit(tree.n_vars, *nodes.arrays(), tree.log_prob[1:], names=tree.names)
