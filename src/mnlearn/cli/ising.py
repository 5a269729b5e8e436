"""The command `mnlearn ising`: an estimated Ising network as tables, figures and a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.files import name_file, treat_missing
from mnlearn.cli.options import (
    FILE,
    FOLDER,
    expansion_option,
    missing_option,
    reading_options,
    seed_option,
    threads_option,
)
from mnlearn.runtime.decompression import ExpansionLimit

if TYPE_CHECKING:
    import pandas as pd

    from mnlearn.data.dataset import Dataset
    from mnlearn.data.reading import Reading
    from mnlearn.learning.ising.network import IsingNetwork
    from mnlearn.learning.ising.stability import EdgeStability

# A value that occurs less often says little about the other variables.
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
@reading_options
@missing_option
@expansion_option
@threads_option
@seed_option
def ising(
    *,
    data_path: Path,
    out: Path,
    gamma: float,
    merge: str,
    bootstraps: int,
    coding: str,
    reading: "Reading",
    missing: str,
    limit: ExpansionLimit,
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
    from mnlearn.data.examples import load_examples
    from mnlearn.learning.ising.estimation import learn_ising
    from mnlearn.learning.ising.resampling import bootstrap

    found = load_examples(data_path, limit, reading)
    data = treat_missing(found, missing, data_path, seed=seed, threads=threads)
    stability = None
    with name_file(data_path):
        network = learn_ising(data, gamma, merge, threads)
        if bootstraps:
            stability = bootstrap(
                data, bootstraps, gamma=gamma, merge=merge, seed=seed, threads=threads
            )
    for line in _warnings(data, network):
        click.echo(f"mnlearn: {line}", err=True)
    edges = network.edges_frame(stability, coding)
    settings = {
        "gamma": gamma, "merge": merge, "bootstraps": bootstraps, "coding": coding, "seed": seed,
    }  # fmt: skip
    summary = _summarise(data_path, data, network, settings)
    _write(out, network=network, stability=stability, edges=edges, summary=summary)
    _print_edges(edges, out)


def _warnings(data: "Dataset", network: "IsingNetwork") -> list[str]:
    """Return what a person should know before trusting the network."""
    import numpy as np

    from mnlearn.learning.ising.estimation import FEWEST

    ones = data.weight @ data.rows
    rare = np.flatnonzero(np.minimum(ones, data.n_examples - ones) < _RARE)
    lines = []
    rare = rare[~network.dropped[rare]]
    if network.dropped.any():
        listed = ", ".join(network.dropped_labels)
        lines.append(f"no edges for what has a value fewer than {FEWEST} times: {listed}.")
    if len(rare):
        listed = ", ".join(network.labels[v] for v in rare)
        lines.append(f"a value occurs fewer than {_RARE} times in {listed}: trust these little.")
    if network.at_end.any():
        listed = ", ".join(network.labels[v] for v in np.flatnonzero(network.at_end))
        lines.append(f"the smallest penalty of the path was chosen for {listed}.")
    return lines


def _summarise(
    path: Path, data: "Dataset", network: "IsingNetwork", settings: dict[str, Any]
) -> dict[str, Any]:
    from mnlearn.runtime.provenance import provenance

    return {
        "data": path.name,
        "n_examples": data.n_examples,
        "n_vars": data.n_vars,
        "n_edges": len(network.edges()),
        "dropped": [
            label for label, out in zip(network.labels, network.dropped, strict=True) if out
        ],
        "settings": settings,
        "provenance": provenance("learning.ising.estimation", "learning.ising.resampling"),
    }


def _write(
    out: Path,
    *,
    network: "IsingNetwork",
    stability: "EdgeStability | None",
    edges: "pd.DataFrame",
    summary: dict[str, Any],
) -> None:
    """Write all files of the folder; nothing is written before all figures are drawn."""
    from mnlearn.models.io.formats import save_model
    from mnlearn.report.figures.canvas import render
    from mnlearn.report.figures.ising import draw_edge_stability, draw_ising_network
    from mnlearn.runtime.files import write_bytes, write_json, write_text

    figures = {"network": draw_ising_network(network, network.labels)}
    if stability is not None:
        figures["stability"] = draw_edge_stability(network, stability, network.labels)
    drawn = {name: render(figure) for name, figure in figures.items()}
    write_text(out / "edges.csv", edges.to_csv(index=False, lineterminator="\n"))
    coding = summary["settings"]["coding"]
    variables = network.variables_frame(coding).to_csv(index=False, lineterminator="\n")
    write_text(out / "thresholds.csv", variables)
    write_text(out / "weights.csv", network.weights_frame(coding).to_csv(lineterminator="\n"))
    for name, (pdf, png) in drawn.items():
        write_bytes(out / f"{name}.pdf", pdf)
        write_bytes(out / f"{name}.png", png)
    save_model(network.markov_network(), out / "model.npz")
    write_json(out / "summary.json", summary)


def _print_edges(edges: "pd.DataFrame", out: Path) -> None:
    """Print the ten strongest edges, and where everything else is."""
    found = edges[edges["weight"] != 0]
    for row in found[:10].to_dict("records"):
        share = row.get("bootstrap_share")
        stable = "" if share is None else f"   in {share:.0%} of the resamples"
        click.echo(f"{row['weight']:+.3f}  {row['source']} – {row['target']}{stable}")
    click.echo(f"{len(found)} edges; {out} holds tables, figures and the model.")
