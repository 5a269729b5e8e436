"""The hyperparameters of every learner that learns weights."""

from typing import Any

from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.fit import MAX_ITERATIONS


def standard_deviation(default: float) -> Any:
    """Declare the standard deviation of the Gaussian prior on the weights."""
    help_text = "standard deviation of the Gaussian weight prior, or none"
    return parameter(default, help_text, above=0)


def l1_penalty(default: float) -> Any:
    """Declare the L1 penalty on the weights."""
    return parameter(default, "L1 penalty on the weights", low=0, high=1e15)


def iterations() -> Any:
    """Declare the greatest number of iterations of weight learning."""
    return parameter(MAX_ITERATIONS, "iterations of weight learning", low=1, high=1e9)
