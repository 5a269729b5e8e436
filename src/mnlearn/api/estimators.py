"""What all learners have in common as scikit-learn estimators."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mnlearn.api.frames import (
    PYTHON,
    check_order,
    column_names,
    is_frame,
    read_frame,
    reading_of_data,
)
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
    warn_of_cut_again,
)
from mnlearn.api.own_values import as_read, as_written
from mnlearn.api.saving import codes_of
from mnlearn.api.scores import score
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.domains import describe_overlaps
from mnlearn.data.reading import Reading
from mnlearn.learning.imputation import complete
from mnlearn.learning.missing_cells import TREATMENTS, refine, treatment_of
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.random_streams import SEED

if TYPE_CHECKING:
    import pandas as pd


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
    model_: Any
    random_state: Any
    n_jobs: int | None
    # How the table given to `fit` was read, and the names of its columns.
    _reading: Reading = PYTHON
    _names: tuple[str, ...] | None = None

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
            refined = refine(self.model_, cells, self.missing, to_threads(self.n_jobs))
            if refined is not None:
                self.model_ = refined.model
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
        """Draw examples from the model; see `mnlearn.MarkovNetwork.sample`.

        A DataFrame has the values of the data of `fit`, such as 1 and 2, or `<=3` and `>3` if
        `binarize` is 3. An array has 0 and 1.
        """
        self._check_fitted()
        settings = {"n_jobs": self.n_jobs, **settings}
        return self._written(self.model_.sample(n_samples, random_state=random_state, **settings))

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
        """Return a table of joint probabilities; see `mnlearn.MarkovNetwork.joint`.

        Its index has the values of the data of `fit`.
        """
        self._check_fitted()
        return self._written(
            self.model_.joint(variables, as_read(self, given, self._reading.codes))
        )

    def most_probable(self, evidence: Any = None) -> Any:
        """Return the most probable states; see `mnlearn.MarkovNetwork.most_probable`.

        They are those of the data of `fit`, or `<=3` and `>3` if `binarize` is 3.
        """
        self._check_fitted()
        evidence = as_read(self, evidence, self._reading.codes)
        return self._written(self.model_.most_probable(evidence))

    def read_examples(self, X: Any, sample_weight: Any = None) -> Dataset | IncompleteData:
        """Return data as the estimator sees them, after `fit`: checked, 0, 1 or missing."""
        self._check_fitted()
        return self._read_cells(X, sample_weight, reset=False, missing=True)

    def complete_examples(self, data: Dataset | IncompleteData) -> Dataset | IncompleteData:
        """Return data whose missing cells are treated as in `fit`; unchanged if nothing is said."""
        return self._completed(data) if self.missing in TREATMENTS else data

    def _written(self, answer: Any) -> Any:
        """Return an answer of the model in the values of the data of `fit`."""
        model = self.model_
        return as_written(answer, model, codes_of(self, model))

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
        return self._completed(cells, argument)

    def _completed(self, cells: Dataset | IncompleteData, argument: str = "X") -> Dataset:
        treatment = treatment_of(self.missing, self.criterion) or "impute"
        if isinstance(cells, Dataset):
            return cells
        seed = SEED if self.random_state is None else to_whole_seed(self.random_state)
        with name_data(argument):
            return complete(cells, treatment, seed=seed, threads=to_threads(self.n_jobs))

    def _read_cells(
        self, X: Any, sample_weight: Any, *, reset: bool, missing: bool, argument: str = "X"
    ) -> Dataset | IncompleteData:
        if reset:
            self._reading, self._names = PYTHON, None
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
        names = column_names(X, None if reset else self._names)
        if reset:
            self._names = names
            warn_of_binary_columns(checked, names, self.binarize)
        else:
            # Labels that are texts are compared by scikit-learn.
            check_order(names, self._names, argument)
            warn_of_cut_again(checked, self.binarize, argument)
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
            self._reading = reading_of_data(data)
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
