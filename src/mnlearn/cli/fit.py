"""The commands that learn: `fit`, `weights`, and `methods`, the list of what can be learned."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.examples import REFUSE, Reader, Treatment
from mnlearn.cli.files import (
    check_data,
    check_model_file,
    check_outputs,
    read_grid,
)
from mnlearn.cli.options import (
    FILE,
    FOLDER,
    parse_settings,
    reading_options,
    seed_option,
    threads_option,
)
from mnlearn.runtime.errors import InputError, at, name_data
from mnlearn.runtime.random_streams import SEED

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.learning.learner import Learner
    from mnlearn.learning.tuning import Tuned
    from mnlearn.models.dependency_network import DependencyNetwork
    from mnlearn.models.markov_network import MarkovNetwork
    from mnlearn.models.model import Model


@click.command()
@click.argument("method", metavar="METHOD")
@click.option("--train", type=FILE, required=True, help="Training data.")
@click.option("--valid", type=FILE, help="Validation data, to choose from a grid.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter.")
@click.option(
    "--grid",
    "grid_path",
    type=FILE,
    help="YAML file of parameter: [values]. Some methods choose in stages, such as kappa of dtsl "
    "first, from the score of its trees: not all points of the grid are tried then.",
)
@click.option("--network", type=FILE, help="Dependency network to build on (dn2mn, dn_mixed, lw).")
@reading_options
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop", "impute", "em"]),
    default="refuse",
    show_default=True,
    help="What is done about missing cells: drop the rows; fill the cells in; or em, which fills "
    "them in to learn a structure and then sums them out to learn the parameters of a circuit.",
)
@click.option(
    "--out",
    type=FILE,
    required=True,
    help="Model file, in one of the forms that `mnlearn convert` reads.",
)
@click.option(
    "--checkpoints",
    type=FOLDER,
    help="Folder of finished grid points and of long steps, where an interrupted search resumes.",
)
@click.option("--trace", type=FILE, help="Write every grid point to this CSV.")
@threads_option
@seed_option
def fit(
    *,
    method: str,
    train: Path,
    valid: Path | None,
    settings: tuple[str, ...],
    grid_path: Path | None,
    network: Path | None,
    reader: Reader,
    missing: str,
    out: Path,
    checkpoints: Path | None,
    trace: Path | None,
    threads: int,
    seed: int,
) -> None:
    """Learn a model with METHOD: see `mnlearn methods`.

    Without --grid the given or default parameters are used. With --grid and --valid the values
    that score best on the validation data are chosen. The score is the exact log-likelihood for
    acbn, acmn, chow_liu, hclt, junction_tree, lem, ltm, mixture and tree_bag, and the
    log-pseudo-likelihood for all other methods, both as from `mnlearn score`.
    """
    from mnlearn.learning.missing_cells import refine
    from mnlearn.methods import find_learner, load_learner
    from mnlearn.models.io.formats import load_model
    from mnlearn.models.io.native import as_dependency_network
    from mnlearn.runtime.progress import say

    method = find_learner(method)
    learner = load_learner(method)
    chosen = {**read_grid(grid_path), **parse_settings(settings)}
    with at("--seed"):
        seeds = learner.seeds(seed)
    grid = learner.grid({**seeds, **chosen})
    _check_files(method, learner, out, network)
    check_outputs((out, trace), train, valid, grid_path, network)
    if valid is None and any(len(values) > 1 for values in grid.values()):
        raise InputError("--grid: expected --valid, the data to choose values on.")
    treatment = _treatment(missing, learner, seed, threads)
    examples = reader.load(train)
    data = treatment.complete(examples, train)
    given = None if network is None else as_dependency_network(load_model(network), network)
    valid_data = None
    if valid is not None:
        valid_data = treatment.complete(reader.like(data).load(valid), valid)
        check_data(valid, data, valid_data)
    if given is not None and network is not None:
        check_data(network, data, given)
    with name_data(train):
        tuned = _tune(method, data, valid_data, given, grid, checkpoints, threads)
        refined = refine(tuned.best.fitted.model, examples.data, missing, threads)
    if refined is not None:
        say(f"{train}: EM, {refined.describe(examples.data.n_examples)}.")
    model = tuned.best.fitted.model if refined is None else refined.model
    _save(model, out, tuned.trace, trace)
    learned = ", ".join(f"{name}={value}" for name, value in tuned.best.parameters.items())
    click.echo(f"{out}: {method} with {learned}", err=True)


def _tune(
    method: str,
    train: "Dataset",
    valid: "Dataset | None",
    network: "DependencyNetwork | None",
    grid: Mapping[str, list[Any]],
    checkpoints: Path | None,
    threads: int,
) -> "Tuned":
    """Return the outcome of a search, which chooses by the score that `mnlearn score` gives."""
    from mnlearn.learning.tuning import tune
    from mnlearn.methods import load_learner

    learner, criterion, more = load_learner(method), None, {}
    if valid is not None:
        from mnlearn.api.scores import How, validation_criterion

        # Neither pll nor ll reads the seed.
        how = How(None, None, None, {}, SEED, threads)
        criterion = validation_criterion(learner.criterion, valid, how)
    if checkpoints is not None:
        from mnlearn.api.search import checkpoints_of

        data = [train] if valid is None else [train, valid]
        more = {"checkpoints": checkpoints_of(checkpoints, method, data, network, grid)}
    return tune(learner, train, grid, criterion, threads=threads, network=network, **more)


def _treatment(missing: str, learner: "type[Learner]", seed: int, threads: int) -> Treatment:
    """Return what is done about missing cells before a structure is learned."""
    from mnlearn.learning.missing_cells import treatment_of

    if missing == REFUSE:
        return Treatment(missing, seed, threads)
    with at("--missing em"):
        return Treatment(treatment_of(missing, learner.criterion) or REFUSE, seed, threads)


def _check_files(method: str, learner: "type[Learner]", out: Path, network: Path | None) -> None:
    """Refuse a file whose form cannot hold the model, and a network that is missing."""
    from mnlearn.models.io.suffixes import READ, form_of

    check_model_file(out)
    if form_of(out) not in learner.formats:
        *first, last = (suffix for suffix in learner.formats if suffix in READ)
        raise InputError(
            f"{out}: expected a file that ends in {', '.join(first)} or {last}, which can hold a "
            f"model of {method}."
        )
    if network is None and learner.network == "required":
        raise InputError(
            f"{method}: expected a dependency network to build on; --network FILE names one, such "
            "as 'mnlearn fit dn_tree' writes."
        )


def _save(
    model: "Model",
    out: Path,
    rows: Sequence[Mapping[str, Any]],
    trace: Path | None,
) -> None:
    """Write a model, and the grid points if they have a file."""
    from mnlearn.api.files import save_own
    from mnlearn.runtime.atomic import atomic_path
    from mnlearn.runtime.files import compress_for, to_csv
    from mnlearn.runtime.progress import say

    with ExitStack() as stack:
        # The trace takes its place only if the model is written too.
        if trace is not None:
            content = compress_for(trace, to_csv(rows).encode())
            stack.enter_context(atomic_path(trace)).write_bytes(content)
        save_own(model, out, say)


@click.command()
def methods() -> None:
    """List the methods and their parameters."""
    from mnlearn.methods import learner_names, load_learner

    for name in learner_names():
        learner = load_learner(name)
        click.echo(f"{name}: {learner.title} ({learner.citation})")
        for parameter, field in learner.fields().items():
            click.echo(f"    {parameter}={field.default}    {field.metadata['help']}")


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
    with at(path):
        network: MarkovNetwork = model.to_markov_network()
        return network
