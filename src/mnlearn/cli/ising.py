"""The command `mnlearn ising`: an estimated Ising network as tables, figures and a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.examples import REFUSE, Reader, Treatment
from mnlearn.cli.files import check_outputs
from mnlearn.cli.options import (
    FILE,
    FOLDER,
    missing_option,
    reading_options,
    refuse_given,
    seed_option,
    threads_option,
)
from mnlearn.runtime.errors import InputError, name_data

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.learning.ising.estimate import Estimate
    from mnlearn.learning.ising.items import Ordered

_LEVEL = 0.05
# What the values of the tests of a comparison are.
_TESTED = {
    "global strength": "difference of global strength",
    "largest edge difference": "largest difference of an edge",
}
# Options that the summary has.
_SETTINGS = (
    *("gamma", "merge", "ordered", "seed", "coding", "bootstraps", "case_drops"),
    *("compare_by", "paired", "permutations", "missing"),
)


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
    "--ordered",
    metavar="all|none|COLUMN,...",
    help="Items of more than two states whose order counts.  [default: numbers and cuts]",
)
@click.option(
    "--bootstraps",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Resamples for the stability of the edges; 0: none.",
)
@click.option(
    "--case-drops",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Resamples for each of ten shares of dropped examples, for the CS coefficient; 0: none.",
)
@click.option(
    "--compare",
    "others",
    type=FILE,
    multiple=True,
    help="Data of another group with the same items, to compare with DATA; may be repeated.",
)
@click.option(
    "--compare-by",
    metavar="COLUMN",
    help="Column of DATA that names the group of each row, to compare these groups; no item.",
)
@click.option(
    "--paired",
    is_flag=True,
    help="Row i of each group is of the same person, so rows change places within persons.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Permutations of a comparison.",
)
@click.option(
    "--groups",
    "groups_path",
    type=FILE,
    help="CSV file with the columns item, group and perhaps colour, for the figures.",
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
@threads_option
@seed_option
def ising(
    *,
    data_path: Path,
    out: Path,
    gamma: float,
    merge: str,
    ordered: str | None,
    bootstraps: int,
    case_drops: int,
    others: tuple[Path, ...],
    compare_by: str | None,
    paired: bool,
    permutations: int,
    groups_path: Path | None,
    coding: str,
    reader: Reader,
    missing: str,
    threads: int,
    seed: int,
) -> None:
    """Estimate an Ising network from DATA, as in psychometrics.

    Every variable is regressed on all others with an L1 penalty that the EBIC chooses; the
    weight of an edge is the mean of its two regression weights. Written to the folder:

    \b
    edges.csv         edges and their weights, with the bootstrap
    thresholds.csv    states and their thresholds, strengths and penalties of variables
    weights.csv       the matrix of weights, as R's qgraph reads it
    centrality.csv    centrality and predictability of the variables
    differences_edges.csv, differences_strength.csv    with the bootstrap
    case_drop.csv, comparison_tests.csv, comparison_edges.csv    with these options
    network, centrality, stability, differences, case_drop, comparison   .pdf and .png
    model.npz         for mnlearn score, query, sample and convert
    summary.json      settings, CS coefficients and provenance
    """
    from mnlearn.drawing.ising_folder import write_folder
    from mnlearn.drawing.item_groups import read_item_groups
    from mnlearn.learning.ising.estimate import Estimate

    _check_out(out, [data_path, *others, groups_path], bootstraps, case_drops, compare_by)
    treatment = Treatment(missing, seed, threads)
    if paired and missing == "drop":
        raise InputError("--paired: expected --missing impute or refuse, got drop.")
    compared, data = _load([data_path, *others], compare_by, reader, treatment)
    with name_data(data_path):
        names, absent = data.schema.names, reader.rules.leave_out
        groups = groups_path and read_item_groups(groups_path, names, absent)
        how = {"ordered": _read_ordered(ordered), "coding": coding, "groups": groups}
        found = Estimate.learn(data, gamma, merge, threads, **how)
        if bootstraps:
            found.bootstrap(bootstraps, seed)
        if case_drops:
            found.drop_cases(case_drops, seed)
        if len(compared) > 1:
            found.compare(compared, permutations, seed, paired=paired)
    settings = {"compare": [] if compare_by else list(compared)[1:]}
    found.summary = _summarise(data_path, found, settings | reader.rules.as_settings())
    write_folder(out, found)
    _print(found, out)


def _check_out(
    out: Path, inputs: list[Path | None], bootstraps: int, case_drops: int, column: str | None
) -> None:
    """Refuse a folder in which a file that is read, or one of a person, would be replaced."""
    from mnlearn.drawing.ising_folder import FILES, check_folder

    check_outputs([out / name for name in FILES], *inputs)
    # The data and the groups of the items are always there.
    compares = len(inputs) > 2 or column is not None
    check_folder(out, resampled=bootstraps > 0, dropped=case_drops > 0, compared=compares)


def _read_ordered(text: str | None) -> "Ordered":
    """Return which items are ordered."""
    if text is None or text in ("all", "none"):
        return None if text is None else text == "all"
    return [name.strip() for name in text.split(",")]


def _load(
    paths: Sequence[Path], column: str | None, reader: Reader, treatment: Treatment
) -> tuple[dict[str, "Dataset"], "Dataset"]:
    """Return the data of the groups to compare, and those of which the network is learned."""
    from mnlearn.data.examples import join_groups, load_groups

    refuse = treatment.missing == REFUSE
    if column is not None:
        if len(paths) > 1:
            raise InputError("--compare-by: expected no --compare.")
        how = reader.limit, reader.rules
        first, cells = load_groups(paths[0], column, *how, leave_out=not refuse)
        loaded, path_of = [first], dict.fromkeys(cells, paths[0])
    else:
        path_of = _name_groups(paths)
        # All files are read like the first.
        first = reader.load(paths[0])
        loaded = [first, *(reader.like(first.data).load(path) for path in paths[1:])]
        cells = {name: one.data for name, one in zip(path_of, loaded, strict=True)}
    if refuse:
        for one, path in zip(loaded, paths, strict=True):
            one.complete(path)
    groups = treatment.complete_groups(cells, path_of)
    data = next(iter(groups.values())) if column is None else join_groups(groups)
    return groups, data


def _name_groups(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files of groups by the names of the groups; that of a single file has no name."""
    if len(paths) == 1:
        refuse_given(["permutations", "paired"], "without --compare or --compare-by")
        return {"": paths[0]}
    for names in ([path.name.partition(".")[0] for path in paths], list(map(str, paths))):
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    raise InputError("--compare: expected different files.")


def _warnings(found: "Estimate") -> list[str]:
    """Return what a person should know before trusting the network and the comparison."""
    lines = found.cautions()
    if found.comparison is not None:
        labels = next(iter(found.comparison.networks.values())).labels
        enough = round(len(labels) * (len(labels) - 1) / 2 / _LEVEL)
        if found.summary["settings"]["permutations"] + 1 < enough:
            lines.append(
                f"p-values after Holm's correction cannot reach {_LEVEL} for an edge: "
                f"take --permutations {enough}."
            )
    return lines


def _summarise(path: Path, found: "Estimate", settings: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a run; settings : those that are no option of the same name."""
    given = click.get_current_context().params
    from mnlearn.runtime.provenance import provenance

    n_examples = found.data.n_examples
    summary = {
        "data": path.name,
        "n_examples": int(n_examples) if n_examples == int(n_examples) else n_examples,
        "n_vars": found.data.n_vars,
        "n_edges": len(found.network.edges()),
        "dropped": found.network.dropped_labels,
        "settings": {name: given[name] for name in _SETTINGS} | settings,
        "provenance": provenance("mnlearn.learning.ising.estimate", "mnlearn.drawing.ising_folder"),
    }
    if found.comparison is not None:
        summary["not_compared"] = list(found.comparison.dropped)
    if found.cases is not None:
        summary["cs_coefficient"] = found.cs_coefficients()
    return summary


def _print(found: "Estimate", out: Path) -> None:
    """Print the ten strongest edges, the tests, and where everything else is."""
    import numpy as np

    for line in _warnings(found):
        click.echo(f"mnlearn: {line}", err=True)
    edges = found.network.edges_frame(found.stability, found.coding)
    edges = edges[edges["weight"] != 0]
    for row in edges[:10].to_dict("records"):
        share = row.get("bootstrap_share")
        stable = "" if share is None else f"   in {share:.0%} of the resamples"
        # A weight without a sign has none.
        weight = f"{row['weight']:{'+' if row.get('signed', True) else ' '}.3f}"
        click.echo(f"{weight}  {row['source']} – {row['target']}{stable}")
    if found.cases is not None:
        for name, coefficient in found.cs_coefficients().items():
            value = f"{coefficient:.2f}"
            if np.isnan(found.cases.correlation[name]).all():
                value += ", because no correlation is defined"
            click.echo(f"CS coefficient of {name.replace('_', ' ')}: {value}")
    if found.comparison is not None:
        scale = found.network.scale(found.coding)
        for row in found.comparison.tests.to_dict("records"):
            tested = f"{_TESTED[row['test']]} {scale * row['value']:.3f}"
            corrected = row["p_holm"] != row["p"]
            holm = f", {row['p_holm']:.4f} after Holm's correction" if corrected else ""
            click.echo(f"{row['groups']}: {tested}, p = {row['p']:.4f}{holm}")
        edges_of = found.comparison.edges.groupby("groups", sort=False)["p_holm"]
        for label, p in edges_of:
            which = f"{label}: " if len(edges_of) > 1 else ""
            n_differ = int((p <= _LEVEL).sum())
            differ = "edge differs" if n_differ == 1 else "edges differ"
            click.echo(f"{which}{n_differ} {differ} at {_LEVEL} after Holm's correction.")
    click.echo(f"{len(edges)} edges; {out} holds tables, figures and the model.")
