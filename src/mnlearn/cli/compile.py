"""The command `mnlearn compile`: compiles kernels before somebody has to wait for them."""

import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.learning.learner import Learner
    from mnlearn.models.dependency_network import DependencyNetwork
    from mnlearn.models.model import Model

# Values with which learners that try much are quick on a few examples.
_QUICK = {
    "dn_bag": {"n_bags": 2},
    "dn_boost": {"n_rounds": 2},
    "gssl": {"n_generated": 200},
    "hclt": {"n_states": 2, "max_iterations": 2},
    "ltm": {"trial_iterations": 2},
    "mixture": {"n_components": 2, "max_edges": 200},
    "tree_bag": {"n_bags": 2},
}
_ISING = "ising"


@click.command()
@click.argument("methods", metavar="[METHOD]...", nargs=-1)
def compile(methods: tuple[str, ...]) -> None:  # noqa: A001
    """Compile what METHODs need, so that no later command waits for it.

    Without METHOD: all methods, and `ising`. Each is learned on a few examples with every choice
    of its parameters, and its model is scored and asked. What is compiled is kept in the user's
    cache folder, or in NUMBA_CACHE_DIR if that is set.
    """
    from mnlearn.methods import learner_names, load_learner
    from mnlearn.runtime.progress import track

    known = [*learner_names(), _ISING]
    for name in methods:
        if name not in known:
            raise click.UsageError(f"METHOD: expected some of {', '.join(known)}, got {name}.")
    trees = load_learner("dn_tree")
    for name in track(list(methods) or known, "methods"):
        began = time.perf_counter()
        for data in _few_examples():
            if name == _ISING:
                _use_ising(data)
                continue
            learner = load_learner(name)
            given = _learn(trees, "dn_tree", data, {}) if learner.network == "required" else None
            _use(learner, name, data, given)
        click.echo(f"{name}: {time.perf_counter() - began:.1f} s", err=True)


def _few_examples() -> "list[Dataset]":
    """Return examples of ten variables that depend on each other, of two and of three states."""
    import numpy as np

    from mnlearn.api.files import read_data

    rng = np.random.default_rng(20)
    hidden = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 10))
    threshold = np.linspace(0.0, 3.0, 10)
    values = hidden + rng.normal(size=hidden.shape)
    three = (values > np.quantile(values, [[0.5], [0.9]], axis=0)).sum(axis=0)
    # Of three states, few rows are alike, and each is asked by itself.
    return [read_data((values > threshold).astype(np.uint8)), read_data(three[:60])]


def _learn(
    learner: "type[Learner]",
    name: str,
    data: "Dataset",
    choice: dict[str, Any],
    network: "DependencyNetwork | None" = None,
) -> Any:
    """Return the model learned with one choice of a parameter."""
    from mnlearn.learning.tuning import tune

    grid = learner.grid({**_QUICK.get(name, {}), **choice})
    return tune(learner, data, grid, None, network=network).best.fitted.model


def _use(
    learner: "type[Learner]", name: str, data: "Dataset", network: "DependencyNetwork | None"
) -> None:
    """Learn with each choice of each parameter; score and ask each kind of model that comes out."""
    from mnlearn.runtime.errors import InputError

    # Kernels under an L1 penalty are others than those without.
    choices: list[dict[str, Any]] = [{}, {"l1": 1.0}] if "l1" in learner.fields() else [{}]
    for parameter, field in learner.fields().items():
        others = set(field.metadata["choices"] or ()) - {field.default}
        choices += [{parameter: other} for other in sorted(others)]
    used = set()
    for choice in choices:
        try:
            model = _learn(learner, name, data, choice, network)
        except InputError:
            # Some choices go only with a certain value of another parameter; defaults go together.
            if choice is choices[0]:
                raise
            continue
        if type(model) not in used:
            used.add(type(model))
            _descend(model, data)
            _ask(model, data)


def _descend(model: "Model", data: "Dataset") -> None:
    """Take a step of a descent of weights that is longer than any on few examples."""
    from mnlearn.learning.weights.heavy_cells import HeavyCells
    from mnlearn.models.markov_network import MarkovNetwork

    if isinstance(model, MarkovNetwork):
        cells, w = HeavyCells.of(model.features, data), model.weight
        cells.inverse_hessian(w, abs(w), 1.0)(w)


def _ask(model: "Model", data: "Dataset") -> None:
    """Compute every score of a model that was kept in a file, and answer a query in every way."""
    from mnlearn.api.scores import score
    from mnlearn.inference.settings import ANNEALED, METHODS
    from mnlearn.models.io.formats import load_model, save_model
    from mnlearn.runtime.errors import InputError
    from mnlearn.scoring.metrics import METRICS

    with TemporaryDirectory() as folder:
        path = Path(folder, "model.npz")
        save_model(model, path)
        # The file is checked when it is read.
        model = load_model(path)
    few: dict[Any, Any] = {m: {"burn_in": 2, "samples": 4} for m in ("gibbs", "mcsat")}
    few[ANNEALED] = {"chains": 2, "samples": 4}
    known = dict.fromkeys(range(1, data.n_vars), 0)
    # Not every kind of model takes every score and every kind of inference, or needs it.
    with catch_warnings(action="ignore"):
        for metric in METRICS:
            for method in metric.methods or (None,):
                with suppress(InputError):
                    score(model, data, metric.name, inference=method, **few.get(method, {}))
        for method in METHODS:
            with suppress(InputError):
                model.query(known, inference=method, **few.get(method, {}))


def _use_ising(data: "Dataset") -> None:
    """Estimate an Ising network and the stability of its edges."""
    from mnlearn.learning.ising.estimation import learn_ising
    from mnlearn.learning.ising.resampling import bootstrap

    learn_ising(data)
    # Of three states it would take a minute.
    if data.schema.is_binary:
        bootstrap(data, 2)
