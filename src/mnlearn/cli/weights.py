"""The command `mnlearn weights`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnlearn.cli.examples import Reader
from mnlearn.cli.files import check_data, check_model_file, check_outputs
from mnlearn.cli.options import FILE, reading_options, threads_option
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.models.markov_network import MarkovNetwork
    from mnlearn.models.model import Model


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--out", type=FILE, required=True, help="Model file to write.")
@click.option(
    "--sd",
    type=click.FloatRange(min=0.0, min_open=True),
    default=1.0,
    show_default=True,
    help="Standard deviation of the Gaussian prior on the weights; inf for no such prior.",
)
@click.option(
    "--l1",
    type=click.FloatRange(min=0.0, max=1e15),
    default=0.0,
    show_default=True,
    help="L1 penalty on the weights.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    help="Most iterations of weight learning.  [default: 200]",
)
@reading_options
@threads_option
def weights(
    *,
    model_path: Path,
    data_path: Path,
    out: Path,
    sd: float,
    l1: float,
    iterations: int | None,
    reader: Reader,
    threads: int,
) -> None:
    """Learn new weights for the features of MODEL from DATA.

    The structure stays. The weights maximise the pseudo-likelihood of DATA under their prior; those
    of MODEL are not read. Bayesian networks and circuits of features are taken as Markov networks.
    """
    from mnlearn.api.files import save_own
    from mnlearn.learning.weights.arrangement import learn_weights
    from mnlearn.learning.weights.descent import Penalty
    from mnlearn.learning.weights.fit import MAX_ITERATIONS
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.progress import say

    check_model_file(out)
    check_outputs([out], model_path, data_path)
    network = _network_of(load_model(model_path), model_path)
    found = reader.like(network).load(data_path)
    data = found.complete(data_path, "fill them in with mnlearn impute")
    check_data(data_path, network, data)
    learned, fit = learn_weights(
        network,
        data,
        Penalty(sd, l1),
        max_iterations=iterations or MAX_ITERATIONS,
        threads=threads,
    )
    save_own(learned, out, say)
    gap = fit.gap / data.n_examples
    near = f", at most {gap:.2g} nats per example from the best" if gap < math.inf else ""
    n_features = len(learned.features)
    say(f"{out}: weights of {n_features:,} features, {fit.n_iterations} iterations{near}.")


def _network_of(model: "Model", path: Path) -> "MarkovNetwork":
    """Return the model in a file as a Markov network."""
    if not model.has_joint:
        raise InputError(
            f"{path}: expected a model with a joint distribution, got a dependency network; "
            "`mnlearn fit lw --network` learns weights for its features."
        )
    try:
        network: MarkovNetwork = model.to_markov_network()
        return network
    except InputError as error:
        error.where = path
        raise
