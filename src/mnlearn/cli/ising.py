"""The command `mnlearn ising`: an estimated Ising network as tables, figures and a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mnlearn.cli.options import FILE, FOLDER, seed_option, threads_option
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.learning.ising import EdgeStability, IsingNetwork

# A value seen less often says little about the rest.
_RARE = 10


@click.command()
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--out", type=FOLDER, required=True, help="Folder for the results.")
@click.option("--gamma", default=0.25, show_default=True, help="Gamma of the EBIC.")
@click.option(
    "--merge",
    type=click.Choice(["and", "or"]),
    default="and",
    show_default=True,
    help="An edge needs both regressions, or one.",
)
@click.option(
    "--bootstraps",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Resamples for the stability of the edges; 0: none.",
)
@click.option(
    "--coding",
    type=click.Choice(["0/1", "-1/1"]),
    default="0/1",
    show_default=True,
    help="Values that weights and thresholds are for.",
)
@threads_option
@seed_option
def ising(
    data_path: Path,
    out: Path,
    gamma: float,
    merge: str,
    bootstraps: int,
    coding: str,
    threads: int,
    seed: int,
) -> None:
    """Estimate an Ising network from DATA, as in psychometrics.

    Every variable is regressed on all others with an L1 penalty that the EBIC chooses; the
    weight of an edge is the mean of its two regression weights. Written to the folder:

    \b
    edges.csv         edges and their weights, with the bootstrap
    thresholds.csv    variables, their thresholds, strengths and penalties
    weights.csv       the matrix of weights
    network.pdf, .png, stability.pdf, .png
    model.npz         for mnlearn score, query, sample and convert
    summary.json      settings and provenance
    """
    from mnlearn.data.text import load_dataset
    from mnlearn.learning.ising import bootstrap, learn_ising
    from mnlearn.models.io.formats import save_model
    from mnlearn.report.figures.canvas import render
    from mnlearn.report.figures.ising import draw_edge_stability, draw_ising_network
    from mnlearn.runtime.files import write_bytes, write_csv, write_json
    from mnlearn.runtime.progress import track
    from mnlearn.runtime.provenance import provenance

    data = load_dataset(data_path)
    try:
        network = learn_ising(data, gamma, merge, threads)
    except InputError as error:
        raise InputError(f"{data_path}: {str(error).removeprefix('data: ')}") from error
    stability = None
    if bootstraps:
        stability = bootstrap(
            data, bootstraps, gamma, merge, seed, threads, lambda b: track(b, "bootstrap")
        )
    names = data.names or tuple(f"V{v}" for v in range(data.n_vars))
    for line in _warnings(data, network, names):
        click.echo(f"mnlearn: {line}", err=True)
    scale, threshold = 1.0, network.threshold
    if coding == "-1/1":
        scale, threshold = 0.25, network.plus_minus()[1]
    edges = _edge_rows(network, stability, names, scale)
    figures = {"network": draw_ising_network(network, names)}
    if stability is not None:
        figures["stability"] = draw_edge_stability(network, stability, names)
    drawn = {name: render(figure) for name, figure in figures.items()}

    write_csv(out / "edges.csv", edges)
    write_csv(out / "thresholds.csv", _variable_rows(data, network, names, scale, threshold))
    write_csv(out / "weights.csv", _matrix_rows(network, names, scale))
    for name, (pdf, png) in drawn.items():
        write_bytes(out / f"{name}.pdf", pdf)
        write_bytes(out / f"{name}.png", png)
    save_model(network.markov_network(), out / "model.npz")
    summary = {
        "data": data_path.name,
        "n_examples": data.n_examples,
        "n_vars": data.n_vars,
        "n_edges": len(network.edges()),
        "settings": {
            "gamma": gamma, "merge": merge, "bootstraps": bootstraps, "coding": coding,
            "seed": seed,
        },
        "provenance": provenance("learning.ising"),
    }  # fmt: skip
    write_json(out / "summary.json", summary)
    _show(edges, out)


def _warnings(data: "Dataset", network: "IsingNetwork", names: tuple[str, ...]) -> list[str]:
    ones = data.weight @ data.rows
    rare = np.flatnonzero(np.minimum(ones, data.n_examples - ones) < _RARE)
    lines = []
    if len(rare):
        listed = ", ".join(names[v] for v in rare)
        lines.append(f"a value occurs fewer than {_RARE} times in {listed}: trust these little.")
    if network.at_end.any():
        listed = ", ".join(names[v] for v in np.flatnonzero(network.at_end))
        lines.append(f"the smallest penalty of the path was chosen for {listed}.")
    return lines


def _edge_rows(
    network: "IsingNetwork",
    stability: "EdgeStability | None",
    names: tuple[str, ...],
    scale: float,
) -> list[dict[str, Any]]:
    """Return the edges, strongest first, then those that only resamples have."""
    pairs = network.edges().tolist()
    if stability is not None:
        others = np.argwhere(np.triu((stability.share > 0) & (network.weight == 0), 1))
        share = stability.share[tuple(others.T)]
        pairs += others[np.argsort(-share, kind="stable")].tolist()
    rows = []
    for u, v in pairs:
        row: dict[str, Any] = {
            "source": names[u],
            "target": names[v],
            "weight": scale * network.weight[u, v],
            "in_regression_of_source": scale * network.regression[u, v],
            "in_regression_of_target": scale * network.regression[v, u],
        }
        if stability is not None:
            row["bootstrap_share"] = stability.share[u, v]
            row["bootstrap_mean"] = scale * stability.mean[u, v]
            row["bootstrap_low"] = scale * stability.low[u, v]
            row["bootstrap_high"] = scale * stability.high[u, v]
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def _variable_rows(
    data: "Dataset",
    network: "IsingNetwork",
    names: tuple[str, ...],
    scale: float,
    threshold: Any,
) -> list[dict[str, Any]]:
    degree = (network.weight != 0).sum(axis=1)
    strength = scale * np.abs(network.weight).sum(axis=1)
    return [
        {
            "variable": names[v],
            "frequency": _plain(data.frequency[v]),
            "threshold": _plain(threshold[v]),
            "degree": int(degree[v]),
            "strength": _plain(strength[v]),
            "penalty": _plain(network.penalty[v]),
            "ebic": _plain(network.ebic[v]),
        }
        for v in range(data.n_vars)
    ]


def _matrix_rows(
    network: "IsingNetwork", names: tuple[str, ...], scale: float
) -> list[dict[str, Any]]:
    matrix = (scale * network.weight).tolist()
    return [
        {"variable": name, **dict(zip(names, row, strict=True))}
        for name, row in zip(names, matrix, strict=True)
    ]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _show(edges: list[dict[str, Any]], out: Path) -> None:
    """Print the ten strongest edges and where the rest is."""
    found = [row for row in edges if row["weight"] != 0]
    for row in found[:10]:
        share = row.get("bootstrap_share")
        stable = "" if share is None else f"   in {share:.0%} of the resamples"
        click.echo(f"{row['weight']:+.3f}  {row['source']} – {row['target']}{stable}")
    click.echo(f"{len(found)} edges; {out} holds tables, figures and the model.")
