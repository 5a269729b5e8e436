"""What all learners have in common as scikit-learn estimators."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mnlearn.api.inputs import (
    LATER,
    Dataset,
    IncompleteData,
    check_data,
    check_finite,
    make_dataset,
    to_complete_dataset,
    to_threads,
    to_whole_seed,
    warn_user,
)
from mnlearn.api.scores import score
from mnlearn.data.column_checks import names_rows
from mnlearn.data.frames import check_shape, columns_of_frame, read_table
from mnlearn.data.tables import Table, some_of
from mnlearn.learning.imputation import complete
from mnlearn.learning.missing_cells import TREATMENTS, refine, treatment_of
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.progress import shown
from mnlearn.runtime.random_streams import SEED
from mnlearn.variables.frames import as_frame, column_names, counts, is_frame
from mnlearn.variables.schema import Schema

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
    schema_ : Schema
        The variables and their states.
    feature_names_in_ : ndarray of str
        Names of the variables, if the data had names.
    details_, seconds_ : dict
        Counts and diagnostics of learning, and its processor seconds by part; not of `Ising`.
    """

    criterion: ClassVar[str] = "pll"
    missing: str | None
    model_: Any
    schema_: Schema
    random_state: Any
    n_jobs: int | None
    # Columns of the table of `fit` that number its rows.
    _left_out: tuple[str, ...] = ()

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, verbose: bool = False
    ) -> Self:
        """Learn a model.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
            The examples: a table or matrix of words, whole numbers or booleans.
        y : None
            Ignored; scikit-learn passes it.
        sample_weight : array-like of float, shape (n_samples,), optional
            Weights of the examples; an example of weight 2 counts as two.
        verbose : bool
            Whether lines about the progress of long work are printed to stderr. The logger
            "mnlearn" has them at the level INFO in any case.

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
        try:
            with shown(verbose):
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
        check_is_fitted(self)
        return score(self, X, self.criterion, sample_weight=sample_weight, n_jobs=self.n_jobs).mean

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each example in nats: "ll" or "pll", as `criterion` says.

        It is NaN for an example that `missing="drop"` leaves out.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
        """
        check_is_fitted(self)
        return score(self, X, self.criterion, n_jobs=self.n_jobs).per_example

    def sample(self, n_samples: int = 1, random_state: Any = SEED, **settings: Any) -> Any:
        """Draw examples in the dtypes of the data of `fit`; see `mnlearn.MarkovNetwork.sample`."""
        check_is_fitted(self)
        settings = {"n_jobs": self.n_jobs, **settings}
        return self.model_.sample(n_samples, random_state=random_state, **settings)

    def query(self, evidence: Any = None, variables: Any = None, **settings: Any) -> Any:
        """Return conditional probabilities; see `mnlearn.MarkovNetwork.query`."""
        check_is_fitted(self)
        return self.model_.query(evidence, variables, **{"n_jobs": self.n_jobs, **settings})

    def probability(
        self, event: Mapping[Any, Any], given: Mapping[Any, Any] | None = None
    ) -> float:
        """Return the probability of an event; see `mnlearn.MarkovNetwork.probability`."""
        check_is_fitted(self)
        return float(self.model_.probability(event, given))

    def joint(self, variables: Any, given: Mapping[Any, Any] | None = None) -> "pd.Series[float]":
        """Return a table of joint probabilities; see `mnlearn.MarkovNetwork.joint`."""
        check_is_fitted(self)
        return self.model_.joint(variables, given)

    def most_probable(self, evidence: Any = None) -> Any:
        """Return the most probable states; see `mnlearn.MarkovNetwork.most_probable`."""
        check_is_fitted(self)
        return self.model_.most_probable(evidence)

    def read_examples(self, X: Any, sample_weight: Any = None) -> Dataset | IncompleteData:
        """Return data as the estimator sees them, after `fit`; cells may be missing."""
        check_is_fitted(self)
        return self._read_cells(X, sample_weight, reset=False, missing=True)

    def complete_examples(self, data: Dataset | IncompleteData) -> Dataset | IncompleteData:
        """Return data whose missing cells are treated as in `fit`; unchanged if nothing is said."""
        return self._completed(data) if self.missing in TREATMENTS else data

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
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
        if isinstance(X, Dataset):
            return self._read_dataset(X, sample_weight, reset, argument)
        check_data(X, argument)
        X = as_frame(X)
        if not is_frame(X):
            # What is missing or infinite is refused below, with its place.
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=None,
                accept_sparse=("csr", "csc", "coo"),
                ensure_all_finite=False,
            )
            check_finite(X, argument, missing)
            schema = None if reset else self.schema_
            table = read_table(X, LATER, argument, schema, keeps_lists=True)
        else:
            table = self._read_frame(X, reset, argument)
        if reset:
            self.schema_ = table.schema
        return make_dataset(table, sample_weight, argument, repeat=reset, missing=missing)

    def _read_frame(self, X: Any, reset: bool, argument: str) -> Table:
        """Return the cells of a table, without columns that number the rows of that of `fit`."""
        check_shape(X.shape, argument)
        if reset:
            table = read_table(X, LATER, argument)
            self._left_out = table.left_out
            for note in table.notes:
                warn_user(f"{argument}: {note}.")
        numbering = self._left_out if reset else self._numbering(X, argument)
        names = column_names(X) or ()
        kept = [name not in numbering for name in names]
        # scikit-learn takes no names but texts, and numbers from 0 are none.
        named = X.set_axis(range(len(names)) if counts(names) else names, axis=1).loc[:, kept]
        if not reset and not all(isinstance(label, str) for label in X.columns):
            self._check_labels(X.loc[:, kept], argument)
        validate_data(self, named, reset=reset, skip_check_array=True)
        return table if reset else read_table(X.loc[:, kept], LATER, argument, self.schema_)

    def _check_labels(self, X: Any, argument: str) -> None:
        """Refuse other columns than those of `fit`; labels that are texts scikit-learn compares."""
        expected = self.schema_
        given = column_names(X, expected.names)
        if given is not None and expected.is_named and given != expected.names:
            raise InputError(
                f"{argument}: expected the columns {some_of(expected.names)} in this order, as in "
                f"fit, got {some_of(given)}."
            )

    def _numbering(self, X: Any, argument: str) -> list[str]:
        """Return the columns of a table that number its rows; `fit` may have had a Dataset."""
        schema, names = self.schema_, column_names(X, self.schema_.names)
        others = set(names or ()) - {*schema.names} if schema.is_named else set()
        if not others:
            return []
        columns = columns_of_frame(X, argument)
        return [
            column.name
            for v, column in enumerate(columns)
            if column.name in self._left_out
            or (column.name in others and names_rows(columns, v, LATER, argument))
        ]

    def _read_dataset(self, data: Dataset, weight: Any, reset: bool, argument: str) -> Dataset:
        if reset:
            self._left_out, self.schema_ = (), data.schema
            self.n_features_in_ = data.n_vars
            if data.schema.is_named:
                self.feature_names_in_ = np.array(data.schema.names, object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        schema = None if reset else self.schema_
        return to_complete_dataset(data, schema=schema, sample_weight=weight, argument=argument)

    @abstractmethod
    def _learn(self, data: Dataset) -> None:
        """Learn from data; each subclass has a form of its own."""
