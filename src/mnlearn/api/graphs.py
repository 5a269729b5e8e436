"""The graph of a model as a NetworkX graph and as tables."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.inference.evidence import find_variable
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.interactions import edge_weights, interaction_tables, joined_pairs
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Literal, Schema

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def to_networkx(model: Model) -> "nx.Graph | nx.DiGraph":
    """Answer `Questions.to_networkx`."""
    import networkx as nx

    network = model.graph()
    schema = network.schema
    graph = nx.DiGraph() if network.is_directed else nx.Graph()
    nodes: Any = schema.names if schema.is_named else range(len(schema))
    graph.add_nodes_from(nodes)
    for (u, v), weight in sorted(edge_weights(network).items()):
        graph.add_edge(nodes[u], nodes[v], weight=weight)
    return graph


def edges_frame(model: Model) -> "pd.DataFrame":
    """Answer `Questions.edges_frame`."""
    import pandas as pd

    network = model.graph()
    labels = np.array(network.schema.names, dtype=object)
    edges = edge_weights(network)
    pairs = np.array(list(edges), np.int64).reshape(-1, 2)
    weight = np.array(list(edges.values()), np.float64)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -np.abs(weight)))
    columns = {
        "source": labels[pairs[order, 0]],
        "target": labels[pairs[order, 1]],
        "weight": weight[order],
    }
    name, count = "n_uses", network.edges()
    if not network.is_directed:
        joined = joined_pairs(network.schema, network.features, network.weight)
        name, count = "n_features", Counter(pair for _, pair, _ in joined)
    columns[name] = np.array([count[u, v] for u, v in pairs[order].tolist()], int)
    return pd.DataFrame(columns)


def interactions(model: Model, one: Any, other: Any) -> "pd.DataFrame":
    """Answer `Questions.interactions`."""
    import pandas as pd

    schema: Schema = model.schema
    u, v = (find_variable(schema, given, "interactions") for given in (one, other))
    tables = interaction_tables(model.graph())
    table = tables.get((u, v))
    if table is None and (v, u) in tables:
        table = tables[v, u].T
    if table is None:
        table = np.zeros((schema.arity[u], schema.arity[v]))
    rows, columns = (pd.Index(schema[w].states, name=schema.names[w]) for w in (u, v))
    return pd.DataFrame(table, rows, columns)


def features_frame(model: Model) -> "pd.DataFrame":
    """Answer `Questions.features_frame`."""
    import pandas as pd

    network = model.graph()
    if network.is_directed and network.has_joint:
        network = network.to_markov_network()
    if not (len(network.features) or network.has_joint):
        raise InputError(f"features_frame: {network.title} of trees has no features.")
    schema, features = network.schema, network.features
    order = np.argsort(-np.abs(network.weight), kind="stable").tolist()
    literals = [features.literals(f) for f in order]
    columns: dict[str, Any] = {
        "feature": [describe_conjunction(schema, own) for own in literals],
        "weight": network.weight[order],
        "length": [len({schema.variable_of[c] for c, _ in own}) for own in literals],
    }
    if network.is_directed:
        columns["target"] = [schema.names[v] for v in network.target[order].tolist()]
    return pd.DataFrame(columns)


def describe_conjunction(schema: Schema, literals: Sequence[Literal]) -> str:
    """Return what a conjunction asks for, such as `sex=f & mood!=low`."""
    texts = []
    for column, value in literals:
        v = int(schema.variable_of[column])
        variable = schema[v]
        is_single = variable.arity == 2
        state = variable.texts[value if is_single else column - int(schema.start[v])]
        texts.append(f"{variable.name}{'=' if value or is_single else '!='}{state}")
    return " & ".join(texts)


def coefficients_frame(network: DependencyNetwork) -> "pd.DataFrame":
    """Answer `DependencyNetwork.coefficients_frame`."""
    import pandas as pd

    if not network.trees.is_leaf.all():
        raise InputError(
            "coefficients_frame: expected logistic regressions; the network has trees, whose log "
            "odds are no weighted sum."
        )
    schema = network.schema
    n, labels = schema.n_columns, schema.column_labels
    intercept, weights = np.zeros(n), np.zeros((n, n))
    for v in range(len(schema)):
        leaf = network.trees.log_prob[network.trees.start[v]]
        own = schema.columns(v)
        intercept[list(own)] = leaf[1] - leaf[0] if len(own) == 1 else leaf[: len(own)]
    for f, (v, w) in enumerate(zip(network.target.tolist(), network.weight.tolist(), strict=True)):
        literals = dict(network.features.literals(f))
        of_target = [c for c in literals if schema.variable_of[c] == v]
        if len(of_target) != 1 or len(literals) > 2:
            raise InputError(
                "coefficients_frame: expected features of the target and one other variable, got "
                f"one of {len(literals)} variables."
            )
        target = of_target[0]
        # Where the target has another state the feature does not hold.
        w = w if literals.pop(target) else -w
        if not literals:
            intercept[target] += w
        for column, value in literals.items():
            # w (1 - x) is w - w x.
            weights[target, column] += w if value else -w
            intercept[target] += 0.0 if value else w
    name = None if "target" in labels else "target"
    table = pd.DataFrame(weights, pd.Index(labels, name=name), labels)
    table.insert(0, "(Intercept)", intercept)
    return table
