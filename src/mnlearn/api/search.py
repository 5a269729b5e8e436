"""The search of a grid on validation data."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from mnlearn.api.inputs import Dataset, IncompleteData, to_count, to_threads, to_whole_seed
from mnlearn.api.learner_estimators import LearnerEstimator
from mnlearn.api.scores import FOLDS, How, validation_criterion
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.missing_cells import EM
from mnlearn.learning.parameters import public_name
from mnlearn.learning.tuning import Tuned, tune
from mnlearn.methods import learner_root
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import SEED, stream


@dataclass(eq=False, repr=False)
class GridSearch(MetaEstimatorMixin, BaseEstimator):
    """Choice of hyperparameters on validation data, as the studies do it.

    The points of the grid share what they have in common, such as trees or features, and each
    starts from the weights of a point before it. This is faster than `sklearn`'s GridSearchCV,
    which learns each point from nothing. There is one set of validation data, no cross-validation.

    Parameters
    ----------
    estimator : estimator
        A learner such as `mnlearn.DTSL()`; its own arguments hold where the grid names none.
    grid : mapping of str to sequence
        Values to try, by name of the hyperparameter.
    criterion : {"pll", "cmll", "cll", "ll"}, optional
        Score on the validation data, see `mnlearn.score`. Default: the criterion of the learner.
        Earlier stages, such as the choice of `kappa` in `DTSL`, always use that of the learner.
    folds : int, optional
        Number of query groups of "cmll" and "cll"; default 4.
    inference : str, optional
        How "cmll" gets its marginals, or "ll" its partition function; see `mnlearn.score`.
    checkpoints : path-like, optional
        Folder that keeps the finished grid points. A search that was interrupted resumes there.
    random_state : int, generator or None, default=20
        Seed of the query groups, of the samplers and of the split of the data.
    n_jobs : int, optional
        Threads; default: that of the estimator.

    Attributes
    ----------
    best_estimator_ : estimator
        The estimator with the best point, learned from the training data alone.
    best_params_ : dict
        Hyperparameters of the best point that the grid names.
    best_score_ : float
        Its validation score in nats; higher is better.
    cv_results_ : dict of ndarray
        A row for each point: `params`, `param_NAME`, `mean_test_score` (on the validation data),
        `rank_test_score` and `stage`. Some learners choose in stages: the values chosen in one
        stage are fixed in the next, and scores of different stages cannot be compared.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [1, 1]] * 20 + [[0, 1]] * 5
    >>> search = mn.GridSearch(mn.Atomic(), {"pseudocount": [0.1, 1.0]})
    >>> search.fit(X, validation=X).best_params_
    {'pseudocount': 0.1}
    """

    estimator: Any
    grid: Any
    criterion: str | None = None
    folds: int | None = None
    inference: str | None = None
    checkpoints: Path | str | None = None
    random_state: Any = SEED
    n_jobs: int | None = None

    def fit(
        self, X: Any, y: Any = None, *, validation: Any = 0.2, sample_weight: Any = None
    ) -> Self:
        """Learn at every point of the grid and choose the best.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
            The training data.
        y : None
            Ignored; scikit-learn passes it.
        validation : data as X, or float, default=0.2
            The validation data, or the share of the rows of `X` to hold out, drawn at random.
        sample_weight : array-like of float, shape (n_samples,), optional
            Weights of the training data.

        Returns
        -------
        self

        Raises
        ------
        InputError
            A hyperparameter or a value of one does not exist, or the data or another argument are
            not as expected.
        """
        if not isinstance(self.estimator, LearnerEstimator):
            raise InputError(f"estimator: expected a learner of mnlearn, got {self.estimator!r}.")
        best = clone(self.estimator)
        seed = to_whole_seed(self.random_state)
        train, valid = self._read(best, X, validation, sample_weight, seed)
        grid, named = self._grid(best)
        threads = to_threads(best.n_jobs if self.n_jobs is None else self.n_jobs)
        usual = best.learner.criterion
        folds = None if self.folds is None else to_count(self.folds, "folds")
        last = How(folds, None, self.inference, {}, seed, threads)
        last_criterion = validation_criterion(self.criterion or usual, valid, last)
        is_usual = self.criterion in (None, usual) and self.inference is None
        network = best.given_network(train)
        learner = best.learner
        tuned = tune(
            learner,
            train,
            grid,
            validation_criterion(usual, valid, replace(last, folds=None, inference=None)),
            threads=threads,
            checkpoints=checkpoints_of(
                self.checkpoints,
                best.learner_name,
                [train, valid],
                network,
                grid,
                [self.criterion, last.folds or FOLDS, last.inference or "gibbs", last.seed],
            ),
            last_criterion=None if is_usual else last_criterion,
            network=network,
        )
        self._take(best, tuned, named)
        return self

    def _read(
        self, best: LearnerEstimator, X: Any, validation: Any, sample_weight: Any, seed: int
    ) -> tuple[Dataset, Dataset]:
        if best.missing == EM:
            raise InputError("estimator, missing: expected drop, impute or None in a search.")
        if not isinstance(validation, int | float | np.number):
            train = best._read(X, sample_weight, reset=True)
            return train, best._read(validation, None, reset=False, argument="validation")
        if not 0 < validation < 1:
            raise InputError(f"validation: expected data or a share in (0, 1), got {validation}.")
        if sample_weight is not None:
            raise InputError("validation: expected data, not a share, with sample_weight.")
        data = best._read(X, None, reset=True)
        n = len(data.row_of)
        held_out = round(n * float(validation))
        if not 0 < held_out < n or data.is_weighted:
            raise InputError("validation: expected data; X has too few rows, or weights.")
        order = stream(seed, "validation split").permutation(n)
        return data.take(order[held_out:]), data.take(order[:held_out])

    def _grid(self, best: LearnerEstimator) -> tuple[dict[str, list[Any]], dict[str, str]]:
        """Return the grid by the names of the learner, and the names that were given for them."""
        if not isinstance(self.grid, Mapping):
            raise InputError(f"grid: expected values by hyperparameter, got {self.grid!r}.")
        field_of = {f.name: public_name(f) for f in fields(best.learner)}  # type: ignore[arg-type]
        named: dict[str, str] = {}
        chosen = {name: [value] for name, value in best.chosen_values().items()}
        for given, values in self.grid.items():
            name = str(field_of.get(given, given))
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise InputError(f"grid, {given}: expected a list of values, got {values!r}.")
            chosen[name] = list(values)
            named[name] = given
        return best.learner.grid(chosen), named

    def _take(self, best: LearnerEstimator, tuned: Tuned, named: Mapping[str, str]) -> None:
        """Keep the outcome under the names that scikit-learn uses."""
        own = {public_name(f): f.name for f in fields(best.learner)}  # type: ignore[arg-type]
        chosen = tuned.best.parameters
        best.set_params(**{own[name]: value for name, value in chosen.items()})
        best.model_ = tuned.best.fitted.model
        best.details_ = dict(tuned.best.fitted.details)
        best.seconds_ = dict(tuned.best.fitted.seconds)
        self.best_estimator_: LearnerEstimator = best
        self.best_params_ = {given: chosen[name] for name, given in named.items()}
        self.best_score_ = tuned.best.score
        self.cv_results_ = _results(tuned.trace, named)
        self.n_features_in_ = best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def model_(self) -> Any:
        """The model of the best point."""
        check_is_fitted(self)
        return self.best_estimator_.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.score(X)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each example by the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def read_examples(self, X: Any, sample_weight: Any = None) -> Dataset | IncompleteData:
        """Return data as the best estimator sees them."""
        check_is_fitted(self)
        return self.best_estimator_.read_examples(X, sample_weight)

    def complete_examples(self, data: Dataset | IncompleteData) -> Dataset | IncompleteData:
        """Return data whose missing cells are treated as by the best estimator."""
        return self.best_estimator_.complete_examples(data)


def _results(trace: list[dict[str, Any]], named: Mapping[str, str]) -> dict[str, Any]:
    """Return the grid points as arrays by column, in the order of the search."""
    scores = np.array([row["validation"] for row in trace], np.float64)
    stage = np.array([row["stage"] for row in trace], int)
    rank = np.array(
        [1 + int(np.sum((stage == s) & (scores > x))) for s, x in zip(stage, scores, strict=True)],
        int,
    )
    results: dict[str, Any] = {}
    for name, given in named.items():
        column = np.empty(len(trace), object)
        column[:] = [row[name] for row in trace]
        results[f"param_{given}"] = column
    results["params"] = [{given: row[name] for name, given in named.items()} for row in trace]
    return {**results, "mean_test_score": scores, "rank_test_score": rank, "stage": stage}


def checkpoints_of(
    folder: Path | str | None,
    name: str,
    data: Iterable[Dataset],
    network: Any,
    grid: Mapping[str, list[Any]],
    criterion: Sequence[Any] = (None, FOLDS, "gibbs", SEED),
) -> Checkpoints:
    """Return where finished grid points of a learner and their scores are kept, if anywhere."""
    if folder is None:
        return Checkpoints(None)
    return Checkpoints(
        Path(folder),
        learner=name,
        # Scores are kept too: the code of the criteria counts, not only that of learning.
        code=code_digest(learner_root(name), "mnlearn.api.search.GridSearch"),
        data=[
            _digest((each.rows.shape, each.schema.variables), each.rows, each.weight, each.row_of)
            for each in data
        ],
        network=None if network is None else _network_digest(network),
        grid=grid,
        criterion=criterion,
    )


def _network_digest(network: Any) -> str:
    trees, features = network.trees, network.features
    return _digest(
        (), trees.start, trees.split_var, trees.child, trees.log_prob,
        features.start, features.var, features.value, network.target, network.weight,
    )  # fmt: skip


def _digest(said: Any, *arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256(repr(said).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
