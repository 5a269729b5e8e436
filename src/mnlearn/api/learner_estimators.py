"""Learners of `mnlearn.methods` as scikit-learn estimators, made of their hyperparameters."""

import dataclasses
from typing import Any, ClassVar

from sklearn.base import clone

from mnlearn.api.estimators import Estimator
from mnlearn.api.inputs import Dataset, to_threads, to_whole_seed, warn_user
from mnlearn.data.tables import describe_order
from mnlearn.inference.score import check_variables
from mnlearn.learning.learner import Learner
from mnlearn.learning.parameters import public_name
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.runtime.errors import InputError

# Arguments that all estimators have beside their hyperparameters: type, meaning. The default of
# each is None.
COMMON = {
    "missing": (
        "str | None",
        "missing cells (NaN) in fit: drop the rows, impute the cells, or em, which then learns the "
        "parameters of a circuit with these cells summed out; None refuses them",
    ),
    "random_state": (
        "int | None",
        "seed of learning, in place of a hyperparameter named ..._seed that has its default",
    ),
    "n_jobs": ("int | None", "threads; -1 for all processors; no effect on results"),
}
NETWORK = (
    "Any",
    "dependency network to build on, or an estimator, which learns it anew from the same data; "
    "None for probability trees",
)


class LearnerEstimator(Estimator):
    """An estimator of one of the learners in `mnlearn.methods`."""

    learner: ClassVar[type[Learner]]
    # The name on the command line.
    learner_name: ClassVar[str]
    title: ClassVar[str]

    def chosen_values(self) -> dict[str, Any]:
        """Return the hyperparameters by the names that the command line knows, with the seed."""
        values = {
            public_name(field): getattr(self, field.name)
            for field in dataclasses.fields(self.learner)  # type: ignore[arg-type]
        }
        if self.random_state is not None:
            seeds = self.learner.seeds(to_whole_seed(self.random_state))
            defaults = self.learner.defaults()
            # A seed that differs from its default was given by name.
            values |= {name: seed for name, seed in seeds.items() if values[name] == defaults[name]}
        return values

    def given_network(self, data: Dataset) -> DependencyNetwork | None:
        """Return the dependency network to build on, learned from the same data if need be."""
        kind = self.learner.network
        given = getattr(self, "network", None)
        if given is None and kind == "required":
            given = make_estimator("dn_tree")(n_jobs=self.n_jobs)
        if given is None:
            return None
        if isinstance(given, LearnerEstimator):
            given = clone(given)
            given._learn(data)
        given = getattr(given, "model_", given)
        if not isinstance(given, DependencyNetwork):
            raise InputError(
                f"network: expected a dependency network or an estimator of one, got {given!r}."
            )
        found: DependencyNetwork = given
        check_variables(found, data)
        if data.schema.is_named and (note := describe_order(found.schema, data.schema.names)):
            warn_user(f"network: {note}.")
        return found

    def _learn(self, data: Dataset) -> None:
        # A list would count as several values.
        grid = self.learner.grid({name: [v] for name, v in self.chosen_values().items()})
        network = self.given_network(data)
        threads = to_threads(self.n_jobs)
        fitted = tune(self.learner, data, grid, None, threads=threads, network=network).best.fitted
        self.model_ = fitted.model
        self.details_ = dict(fitted.details)
        self.seconds_ = dict(fitted.seconds)


_MADE: dict[str, type[LearnerEstimator]] = {}


def make_estimator(name: str) -> type[LearnerEstimator]:
    """Return the estimator of the learner in `methods/NAME.py`; it is made once."""
    if name in _MADE:
        return _MADE[name]
    learner = load_learner(name)
    own = [(f.name, f.type, f.default) for f in dataclasses.fields(learner)]  # type: ignore[arg-type]
    if learner.network != "none":
        own.append(("network", NETWORK[0], None))
    own += [(common, kind, None) for common, (kind, _) in COMMON.items()]
    made = dataclasses.make_dataclass(
        learner.__name__,
        [(field, kind, dataclasses.field(default=default)) for field, kind, default in own],
        bases=(LearnerEstimator,),
        namespace={
            "learner": learner,
            "learner_name": name,
            "criterion": learner.criterion,
            "title": learner.title,
        },
        eq=False,
        repr=False,
        kw_only=True,
    )
    # Pickles and the representation say `mnlearn.DTSL`, which is where people find the class.
    made.__module__ = "mnlearn"
    made.__doc__ = _docstring(learner)
    # Of two threads that make it at once, both get the class of the first.
    return _MADE.setdefault(name, made)


def _docstring(learner: type[Learner]) -> str:
    """Return the docstring of an estimator: summary and parameters of the learner."""
    summary = (learner.__doc__ or learner.title).strip()
    lines = [summary, "", "Parameters", "----------"]
    for field in dataclasses.fields(learner):  # type: ignore[arg-type]
        kind = getattr(field.type, "__name__", str(field.type))
        lines += [f"{field.name} : {kind}, default={field.default!r}"]
        lines += [f"    {_sentence(field.metadata['help'])}"]
    if learner.network != "none":
        lines += ["network : DependencyNetwork or estimator, optional"]
        lines += [f"    {_sentence(NETWORK[1])}"]
    for name, (kind, meaning) in COMMON.items():
        lines += [f"{name} : {kind}, default=None", f"    {_sentence(meaning)}"]
    lines += ["", "References", "----------", f"{learner.citation}.", ""]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
