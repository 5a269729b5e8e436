"""Learners as scikit-learn estimators.

A learner of `mnlearn.methods` declares its hyperparameters once. `make_estimator` gives them to the
constructor of a class that follows scikit-learn's conventions.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from mnlearn.api.column_names import column_names
from mnlearn.api.frames import PYTHON, is_frame, read_frame
from mnlearn.api.inputs import (
    Dataset,
    IncompleteData,
    check_columns,
    check_threshold,
    to_complete_dataset,
    to_dataset,
    to_threads,
    to_whole_seed,
    warn_of_binary_columns,
)
from mnlearn.api.kinds import core
from mnlearn.api.model_data import warn_of_order
from mnlearn.api.models import public
from mnlearn.api.names import describe_ignored_groups
from mnlearn.api.own_values import as_read
from mnlearn.api.scores import score
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.domains import describe_overlaps
from mnlearn.data.reading import Reading
from mnlearn.inference.score import check_variables
from mnlearn.learning.imputation import TREATMENTS, complete
from mnlearn.learning.incomplete_circuits import EM, run_em
from mnlearn.learning.learner import Learner
from mnlearn.learning.parameters import public_name
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.seed import SEED

if TYPE_CHECKING:
    import pandas as pd

# Arguments that all estimators have beside their hyperparameters: type, meaning. The default of
# each is None.
COMMON = {
    "binarize": (
        "float | None",
        "numbers above this threshold count as 1; None refuses all but 0 and 1",
    ),
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
    "dependency network to build on, or the estimator that learns it; None for probability trees",
)


class Estimator(DensityMixin, BaseEstimator, ABC):
    """What all learners have in common as scikit-learn estimators of a density.

    Attributes
    ----------
    criterion : {"pll", "ll"}
        What `score` returns: the log-pseudo-likelihood, or the log-likelihood where it is exact.
    model_ : Model
        What was learned.
    n_features_in_ : int
        Number of variables.
    feature_names_in_ : ndarray of str
        Names of the variables, if the data had names.
    details_, seconds_ : dict
        Counts and diagnostics of learning, and its processor seconds by part; not of `Ising`.
    """

    criterion: ClassVar[str] = "pll"
    binarize: float | None
    missing: str | None
    random_state: Any
    n_jobs: int | None
    # How the table given to `fit` was read.
    _reading: Reading = PYTHON

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a model.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
            The examples: 0 and 1, or any numbers if `binarize` is set.
        y : None
            Ignored; scikit-learn passes it.
        sample_weight : array-like of float, shape (n_samples,), optional
            Weights of the examples; an example of weight 2 counts as two.

        Returns
        -------
        self

        Raises
        ------
        InputError
            A value of the data or of an argument is not as expected; the message names it.
        """
        cells = self._read_cells(X, sample_weight, reset=True, missing=self.missing is not None)
        data = self._completed(cells)
        overlaps = describe_overlaps(data)
        if overlaps is not None:
            warn_user(overlaps)
        try:
            self._learn(data)
            if isinstance(cells, IncompleteData) and self.missing == EM:
                self._run_em(cells)
        except InputError as error:
            # Some learners need two variables, or a variable that varies.
            for name, n in (("n_samples", len(data.row_of)), ("n_features", data.n_vars)):
                if n == 1:
                    raise InputError(f"X has {name} = 1; {error}") from error
            raise
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `score_samples`, weighted by `sample_weight`.

        The metric is `criterion`: "ll" for learners of circuits and of trees, "pll" for learners of
        Markov networks and dependency networks. `mnlearn.score` has other metrics. "ll" sums
        missing cells (NaN) out. "pll" treats them as `missing` says; cells are filled in from the
        examples that are scored.
        """
        self._check_fitted()
        return score(self, X, self.criterion, sample_weight=sample_weight, n_jobs=self.n_jobs).mean

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each example in nats: "ll" or "pll", as `criterion` says.

        It is NaN for an example that `missing="drop"` leaves out.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
        """
        self._check_fitted()
        return score(self, X, self.criterion, n_jobs=self.n_jobs).per_example

    def sample(self, n_samples: int = 1, random_state: Any = SEED, **settings: Any) -> Any:
        """Draw examples from the model; see `mnlearn.MarkovNetwork.sample`."""
        self._check_fitted()
        settings = {"n_jobs": self.n_jobs, **settings}
        return self.model_.sample(n_samples, random_state=random_state, **settings)

    def query(self, evidence: Any = None, variables: Any = None, **settings: Any) -> Any:
        """Return conditional probabilities; see `mnlearn.MarkovNetwork.query`.

        Evidence has the values of the data of `fit`, such as 1 and 2.
        """
        self._check_fitted()
        evidence = as_read(self, evidence, self._reading.codes)
        return self.model_.query(evidence, variables, **{"n_jobs": self.n_jobs, **settings})

    def probability(
        self, event: Mapping[Any, Any], given: Mapping[Any, Any] | None = None
    ) -> float:
        """Return the probability of an event; see `mnlearn.MarkovNetwork.probability`."""
        self._check_fitted()
        event = as_read(self, event, self._reading.codes, "event")
        return float(self.model_.probability(event, as_read(self, given, self._reading.codes)))

    def joint(self, variables: Any, given: Mapping[Any, Any] | None = None) -> "pd.Series[float]":
        """Return a table of joint probabilities; see `mnlearn.MarkovNetwork.joint`."""
        self._check_fitted()
        return self.model_.joint(variables, as_read(self, given, self._reading.codes))

    def most_probable(self, evidence: Any = None, *, states: bool | None = None) -> Any:
        """Return the most probable values; see `mnlearn.MarkovNetwork.most_probable`."""
        self._check_fitted()
        evidence = as_read(self, evidence, self._reading.codes)
        return self.model_.most_probable(evidence, states=states)

    def read_examples(self, X: Any, sample_weight: Any = None) -> Dataset | IncompleteData:
        """Return data as the estimator sees them, after `fit`: checked, 0, 1 or missing."""
        self._check_fitted()
        return self._read_cells(X, sample_weight, reset=False, missing=True)

    def complete_examples(self, data: Dataset | IncompleteData) -> Dataset | IncompleteData:
        """Return data whose missing cells are treated as in `fit`; unchanged if nothing is said."""
        return self._completed(data) if self.missing in TREATMENTS else data

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        return tags

    def _read(self, X: Any, sample_weight: Any, *, reset: bool, argument: str = "X") -> Dataset:
        """Return data whose missing cells are refused, dropped or filled in."""
        missing = self.missing is not None
        cells = self._read_cells(X, sample_weight, reset=reset, missing=missing, argument=argument)
        return self._completed(cells)

    def _completed(self, cells: Dataset | IncompleteData) -> Dataset:
        if self.missing not in (None, *TREATMENTS, EM):
            expected = ", ".join((*TREATMENTS, EM))
            raise InputError(f"missing: expected {expected} or None, got {self.missing!r}.")
        if self.missing == EM and self.criterion != "ll":
            raise InputError("missing: em needs a learner of circuits; expected drop or impute.")
        if isinstance(cells, Dataset):
            return cells
        treatment = "drop" if self.missing == "drop" else "impute"
        seed = SEED if self.random_state is None else to_whole_seed(self.random_state)
        return complete(cells, treatment, seed=seed, threads=to_threads(self.n_jobs))

    def _run_em(self, cells: IncompleteData) -> None:
        learned: Any = vars(self)["model_"]
        found = run_em(core(learned), cells, threads=to_threads(self.n_jobs))
        self.model_ = public(found.model)

    def _read_cells(
        self, X: Any, sample_weight: Any, *, reset: bool, missing: bool, argument: str = "X"
    ) -> Dataset | IncompleteData:
        if reset:
            self._reading = PYTHON
        if isinstance(X, Dataset):
            return self._read_dataset(X, sample_weight, reset, argument)
        if is_frame(X) and self.binarize is None:
            # Other data are read like those of `fit`.
            X, found = read_frame(X, self._reading, argument)
            if reset:
                self._reading = found
        check_columns(X, argument)
        # What is missing or infinite is refused below, where the column is named.
        checked = validate_data(
            self, X, reset=reset, accept_sparse=("csr", "csc", "coo"), ensure_all_finite=False
        )
        check_threshold(self.binarize)
        names = column_names(X)
        if reset:
            warn_of_binary_columns(checked, names, self.binarize)
        return to_dataset(
            checked,
            names=names,
            sample_weight=sample_weight,
            binarize=self.binarize,
            repeat=reset,
            missing=missing,
            argument=argument,
        )

    def _read_dataset(self, data: Dataset, weight: Any, reset: bool, argument: str) -> Dataset:
        if reset:
            self.n_features_in_ = data.n_vars
            if data.names is not None:
                self.feature_names_in_ = np.array(data.names, object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif data.n_vars != self.n_features_in_:
            raise InputError(
                f"{argument}: expected {self.n_features_in_} variables, got {data.n_vars}."
            )
        return to_complete_dataset(data, sample_weight=weight)

    @abstractmethod
    def _learn(self, data: Dataset) -> None:
        """Learn from data; each subclass has a form of its own."""


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
            seed = to_whole_seed(self.random_state)
            defaults = self.learner.defaults()
            # A seed that differs from its default was given by name.
            values |= {
                name: seed
                for name, value in values.items()
                if name.endswith("_seed") and value == defaults[name]
            }
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
        found: DependencyNetwork = core(given)
        check_variables(found, data)
        warn_of_order(found, data, "network")
        return found

    def _learn(self, data: Dataset) -> None:
        if (ignored := describe_ignored_groups(self.learner_name, data)) is not None:
            warn_user(ignored)
        # A list would count as several values.
        grid = self.learner.grid({name: [v] for name, v in self.chosen_values().items()})
        network = self.given_network(data)
        threads = to_threads(self.n_jobs)
        fitted = tune(self.learner, data, grid, None, threads=threads, network=network).best.fitted
        self.model_ = public(fitted.model)
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
