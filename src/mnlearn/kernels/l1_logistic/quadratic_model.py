"""The quadratic model of the loss in the active coordinates: its minimum, Hessian and corrections.

The Hessian starts as a multiple of the co-occurrence counts. After each step BFGS corrects it, so
that most steps cost one pass over the ones of the data.
"""

import numpy as np

from mnlearn.kernels.arithmetic.sums import dot, dots, fused
from mnlearn.kernels.jit import copy_into, inlined, kernel

MAX_SWEEPS = 200
# So many sweeps are followed by a solution of the linear equations.
SWEEPS_PER_SOLVE = 10
_RUNAWAY = 1e3
# A pivot below this share of its diagonal element is a rounding error of single precision.
_LEAST_PIVOT = np.float32(1e-6)
# So many columns of a Cholesky factor are made at a time; a multiple of 4.
_PANEL = 8
# Keeps a coordinate's step finite where all probabilities are 0 or 1, or the variable is constant.
LEAST_CURVATURE = 1e-8


@kernel
def renew_hessian(hessian, at, data, residual, active, n_fresh, place):
    """Compute the Hessian of the first `n_fresh` active coordinates and all active ones.

    Either part is ascending. at : places of the active ones in the Hessian. place : scratch, all -1
    before and after.
    """
    n_active = len(active)
    for a in range(n_active):
        place[active[a]] = a
    both, one = np.zeros((n_fresh, n_active), np.float32), np.zeros(n_active)
    whole = _sum_curvatures(data, residual, place, n_fresh, both, one)
    n = len(data.flipped)
    for a in range(n_active):
        if active[a] == n:
            one[a] = whole
        elif a < n_fresh:
            one[a] = both[a, a]
    for a in range(n_fresh):
        for b in range(a, n_active):
            u, v = active[a], active[b]
            together = one[b] if u == n else one[a] if v == n else np.float64(both[a, b])
            flip_u = u < n and data.flipped[u] and not data.free_intercept
            flip_v = v < n and data.flipped[v] and not data.free_intercept
            if flip_u and flip_v:
                together += whole - one[a] - one[b]
            elif flip_u:
                together = one[b] - together
            elif flip_v:
                together = one[a] - together
            if a == b:
                together += LEAST_CURVATURE
            hessian[at[a], at[b]] = together
            hessian[at[b], at[a]] = together
    for a in range(n_active):
        place[active[a]] = -1


@kernel
def _sum_curvatures(data, residual, place, n_fresh, both, one):
    """Add the curvatures of rows to pairs, the first fresh, and to the others; return the sum."""
    indptr, indices, weight = data.indptr, data.indices, data.weight
    fresh, old = np.empty(n_fresh, np.int64), np.empty(len(one) - n_fresh, np.int64)
    whole = 0.0
    for i in range(len(weight)):
        r = abs(residual[i])
        curvature = r * (1.0 - r / weight[i])
        whole += curvature
        single = np.float32(curvature)
        n_here = n_old = 0
        for j in indices[indptr[i] : indptr[i + 1]]:
            at = place[j]
            if at >= n_fresh:
                old[n_old] = at
                one[at] += curvature
                n_old += 1
            elif at >= 0:
                fresh[n_here] = at
                n_here += 1
        for k in range(n_here):
            row = both[fresh[k]]
            for m in range(k, n_here):
                row[fresh[m]] += single
            for m in range(n_old):
                row[old[m]] += single
    return whole


@kernel
def minimise_model(theta, gradient, penalty, model, active, delta, slope, tolerance):
    """Minimise the quadratic model; return how much lower it gets, or -1 if it has no minimum.

    delta : the step in the active coordinates, written. tolerance : the last sweep lowers the model
    by at most this share of what the first one did.
    """
    first = 0.0
    for a in range(len(active)):
        delta[a] = 0.0
        slope[a] = gradient[active[a]]
    every = True  # Sweeps over all coordinates alternate with sweeps over those that are not 0.
    for sweep in range(MAX_SWEEPS):
        gain = _sweep(theta, penalty, model, active, delta, slope, every)
        if sweep == 0:
            first = gain
        elif not gain <= _RUNAWAY * first:
            return -1.0
        if gain <= tolerance * first:
            if every:
                break
            every = True
        elif sweep % SWEEPS_PER_SOLVE == SWEEPS_PER_SOLVE - 1:
            _step_inside(theta, penalty, model, active, delta, slope)
            every = True
        else:
            every = False
    lower = 0.0
    for a in range(len(active)):
        j = active[a]
        # With the step d and the slope g + H d at its end, the model is lower by
        # -(g d + d H d / 2) = -(g + (g + H d)) d / 2, less what the penalty grows.
        lower -= 0.5 * (gradient[j] + slope[a]) * delta[a]
        lower -= penalty[j] * (abs(theta[j] + delta[a]) - abs(theta[j]))
    return lower


@inlined
def _sweep(theta, penalty, model, active, delta, slope, every):
    """Minimise over each coordinate in turn; return by how much that lowers the model, doubled."""
    gain = 0.0
    for a in range(len(active)):
        old = theta[active[a]] + delta[a]
        if old == 0.0 and not every:
            continue
        bend = model[a, a]
        new = old - slope[a] / bend
        edge = penalty[active[a]] / bend
        new = max(new - edge, 0.0) + min(new + edge, 0.0)
        change = new - old
        if change != 0.0:
            delta[a] += change
            gain += bend * change * change
            row = model[a]
            for b in range(len(active)):
                slope[b] += row[b] * change
    return gain


@kernel
def _step_inside(theta, penalty, model, active, delta, slope):
    """Go towards the minimum over the coordinates that are not 0; none changes its sign."""
    n_active = len(active)
    inside = np.empty(n_active, np.int64)
    n = 0
    for a in range(n_active):
        if theta[active[a]] + delta[a] != 0.0:
            inside[n] = a
            n += 1
    inside = inside[:n]
    matrix, pull = np.empty((n, n), np.float32), np.empty(n, np.float32)
    for k in range(n):
        a = inside[k]
        sign = np.sign(theta[active[a]] + delta[a])
        pull[k] = -slope[a] - sign * penalty[active[a]]
        for m in range(n):
            matrix[k, m] = model[a, inside[m]]
    way = pull.copy()
    if not _cholesky_solve(matrix, way) or not dot(way, pull) > 0.0:
        return  # a model with negative or no curvature, or one at its minimum
    if not _step_clipped(theta, penalty, model, active, delta, slope, inside, way):
        _step_to_first_zero(theta, penalty, model, active, delta, slope, inside, way)


@kernel
def _step_clipped(theta, penalty, model, active, delta, slope, inside, way):
    """Go all the way, but leave at 0 what would change its sign, if that is lower."""
    change, moved = np.zeros(len(active)), slope.copy()
    for k in range(len(inside)):
        a = inside[k]
        x = theta[active[a]] + delta[a]
        crosses = penalty[active[a]] > 0.0 and x * (x + way[k]) < 0.0
        change[a] = -x if crosses else way[k]
        row = model[a]
        for b in range(len(active)):
            moved[b] += row[b] * change[a]
    lower = 0.0
    for a in inside:
        x = theta[active[a]] + delta[a]
        lower -= 0.5 * (slope[a] + moved[a]) * change[a]
        lower -= penalty[active[a]] * (abs(x + change[a]) - abs(x))
    if not lower > 0.0:
        return False
    for a in inside:
        delta[a] += change[a]
    copy_into(slope, moved)
    return True


@kernel
def _step_to_first_zero(theta, penalty, model, active, delta, slope, inside, way):
    """Go until the first coordinate is 0."""
    length, first = 1.0, -1
    for k in range(len(inside)):
        x = theta[active[inside[k]]] + delta[inside[k]]
        if penalty[active[inside[k]]] > 0.0 and x * way[k] < 0.0 and -x / way[k] < length:
            length, first = -x / way[k], k
    for k in range(len(inside)):
        a = inside[k]
        change = length * way[k] if k != first else -theta[active[a]] - delta[a]
        delta[a] += change
        row = model[a]
        for b in range(len(active)):
            slope[b] += row[b] * change


@kernel
def _cholesky_solve(matrix, x):
    """Solve for x in place; return whether the matrix, which is overwritten, is positive definite.

    LAPACK's routines end the program where it is not. Some columns at a time are made, so that each
    row that is read is multiplied by several.
    """
    n = len(x)
    least = np.empty(n, np.float32)
    for i in range(n):
        least[i] = _LEAST_PIVOT * matrix[i, i]
    for begin in range(0, n, _PANEL):
        for i in range(begin, n):
            for j in range(begin, min(begin + _PANEL, n) - 3, 4):
                _subtract_products(matrix, i, j, begin)
            for j in range(min(begin + _PANEL, n) // 4 * 4, min(begin + _PANEL, n)):
                matrix[i, j] -= dot(matrix[i, :begin], matrix[j, :begin])
        if not _factor_panel(matrix, least, begin, min(begin + _PANEL, n)):
            return False
    for i in range(n):
        x[i] = (x[i] - dot(matrix[i, :i], x)) / matrix[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= matrix[i, i]
        for k in range(i):
            x[k] -= matrix[i, k] * x[i]
    return True


@kernel
def _subtract_products(matrix, i, j, n_columns):
    """Subtract from four elements of row i, from column j on, the products of the first columns."""
    numbers, n = matrix.reshape(matrix.size), len(matrix)
    others = (j * n, (j + 1) * n, (j + 2) * n, (j + 3) * n)
    products = dots(numbers, i * n, numbers, others, n_columns)
    for k in range(4):
        matrix[i, j + k] -= products[k]


@kernel
def _factor_panel(matrix, least, begin, end):
    """Make some columns of the Cholesky factor; return whether all pivots are large enough."""
    inverse = np.empty(end - begin, np.float32)
    for i in range(begin, len(matrix)):
        for j in range(begin, min(i, end)):
            total = matrix[i, j]
            for k in range(begin, j):
                total = fused(-matrix[i, k], matrix[j, k], total)
            matrix[i, j] = total * inverse[j - begin]
        if i < end:
            total = matrix[i, i]
            for k in range(begin, i):
                total = fused(-matrix[i, k], matrix[i, k], total)
            if not total > least[i]:
                return False
            matrix[i, i] = np.sqrt(total)
            inverse[i - begin] = np.float32(1.0) / matrix[i, i]
    return True


@kernel
def correct_hessian(hessian, at, model, active, delta, change, image):
    """Correct the Hessian so that it gives the `change` of the gradient along the step (BFGS)."""
    n_active = len(active)
    bend = curvature = 0.0
    for a in range(n_active):
        total = 0.0
        for b in range(n_active):
            total += model[a, b] * delta[b]
        image[a] = total
        bend += total * delta[a]
        curvature += change[active[a]] * delta[a]
    if bend <= 0.0 or curvature <= 1e-10 * bend:
        return
    for a in range(n_active):
        p, q = change[active[a]] / curvature, image[a] / bend
        row = hessian[at[a]]
        for b in range(n_active):
            row[at[b]] = model[a, b] + p * change[active[b]] - q * image[b]
