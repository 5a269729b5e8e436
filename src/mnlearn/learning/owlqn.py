"""Limited-memory quasi-Newton minimisation of a smooth convex function plus an L1 penalty.

Algorithm 1 of Andrew and Gao (2007) lets no variable move against the steepest descent. Here this
holds only for variables that are 0, so that the direction keeps the curvature (lab note 0013).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.sums import dot
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import pulse

Vector = NDArray[np.float64]
# Differences of points and of gradients, with their products.
History = deque[tuple[Vector, Vector, float]]
Selection = NDArray[np.bool_]
Product = Callable[[Vector], Vector]

MEMORY = 20
_ARMIJO = 1e-4
_MAX_HALVINGS = 30
# A pair of differences is kept only if its curvature, relative to its squared length, is larger.
_MIN_CURVATURE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Progress:
    """State after one iteration: point, penalised objective, gradient of the smooth part."""

    iteration: int
    x: Vector
    objective: float
    gradient: Vector
    n_evaluations: int


def minimise(
    smooth: Callable[[Vector], tuple[float, Vector]],
    x: Vector,
    l1: Vector,
    done: Callable[[Progress], bool],
    *,
    max_iterations: int,
    history: History | None = None,
    estimate: Callable[[Progress], Product | None] = lambda state: None,
) -> tuple[Progress, bool]:
    """Minimise smooth(x) + sum(l1 * |x|) by orthant-wise L-BFGS, until `done` or rounding ends it.

    estimate : returns the product with an estimate of the inverse of the Hessian, up to a factor,
        from which L-BFGS begins; or None, for the identity.

    Returns the last state, and whether `done` ended the minimisation; `history` is added to.
    """
    value, gradient = smooth(x)
    if not np.isfinite(value):
        raise InputError("weight learning: the objective is not finite at the starting point.")
    objective = value + dot(l1, np.abs(x))
    state = Progress(iteration=0, x=x, objective=objective, gradient=gradient, n_evaluations=1)
    history = new_history() if history is None else history
    while not done(state):
        if state.iteration == max_iterations:
            return state, False
        steepest, direction, slope = _choose_direction(state, l1, history, estimate(state))
        if slope == 0:
            return state, False
        new = _search_line(
            smooth, state, steepest, direction, slope=slope, l1=l1, scaled=bool(history)
        )
        if new is None:
            if not history:
                return state, False
            history.clear()
            continue
        _remember(history, new.x - state.x, new.gradient - state.gradient)
        state = new
        pulse(f"weights: iteration {state.iteration}, objective {state.objective:.6g}")
    return state, True


def new_history(memory: int = MEMORY) -> History:
    """Return a history without pairs, with room for `memory` of them."""
    return deque(maxlen=memory)


def restrict_history(history: History, old: Selection, new: Selection) -> History:
    """Return a history of the variables `new` from one of the variables `old`, both bool arrays."""
    restricted = new_history(history.maxlen or MEMORY)
    for step, change, _ in history:
        parts = np.zeros((2, len(old)))
        parts[:, old] = step, change
        _remember(restricted, parts[0, new], parts[1, new])
    return restricted


def _choose_direction(
    state: Progress, l1: Vector, history: History, product: Product | None
) -> tuple[Vector, Vector, float]:
    """Return the steepest descent, the direction of the search, and its slope; 0 at a minimum."""
    steepest = -_pseudo_gradient(state.x, state.gradient, l1)
    direction = _two_loop(steepest, history, product)
    direction[(direction * steepest <= 0) & (l1 > 0) & (state.x == 0)] = 0.0
    slope = dot(direction, steepest)
    if slope > 0:
        return steepest, direction, slope
    history.clear()
    return steepest, steepest, dot(steepest, steepest)


def _remember(history: History, step: Vector, change: Vector) -> None:
    """Keep a pair of differences if it has enough curvature."""
    curvature = dot(step, change)
    if curvature > _MIN_CURVATURE * dot(step, step):
        history.append((step, change, curvature))


def _pseudo_gradient(x: Vector, gradient: Vector, l1: Vector) -> Vector:
    """Return the subgradient of least norm of the penalised objective."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(x == 0, at_zero, gradient + l1 * np.sign(x))


def _two_loop(steepest: Vector, history: History, product: Product | None) -> Vector:
    """Return the quasi-Newton direction (Nocedal & Wright, Algorithm 7.4)."""
    q = steepest.copy()
    coefficients = []
    for step, change, curvature in reversed(history):
        a = dot(step, q) / curvature
        q -= a * change
        coefficients.append(a)
    if product is not None:
        q = product(q)
    if history:
        _, change, curvature = history[-1]
        q *= curvature / dot(change, change if product is None else product(change))
    for (step, change, curvature), a in zip(history, reversed(coefficients), strict=True):
        q += (a - dot(change, q) / curvature) * step
    return q


def _search_line(
    smooth: Callable[[Vector], tuple[float, Vector]],
    state: Progress,
    steepest: Vector,
    direction: Vector,
    *,
    slope: float,
    l1: Vector,
    scaled: bool,
) -> Progress | None:
    """Halve the step until the objective falls enough; None if it never does."""
    orthant = np.where(state.x == 0, np.sign(steepest), np.sign(state.x))
    length = 1.0 if scaled else min(1.0, 1.0 / max(np.sqrt(slope), 1e-300))
    n_evaluations = state.n_evaluations
    for _ in range(_MAX_HALVINGS):
        x = state.x + length * direction
        x[(np.sign(x) != orthant) & (l1 > 0)] = 0.0
        value, gradient = smooth(x)
        n_evaluations += 1
        objective = value + dot(l1, np.abs(x))
        gain = dot(steepest, x - state.x)
        if objective <= state.objective - _ARMIJO * gain and objective < state.objective:
            return Progress(
                iteration=state.iteration + 1,
                x=x,
                objective=objective,
                gradient=gradient,
                n_evaluations=n_evaluations,
            )
        length *= 0.5
    return None
