"""L1-penalised logistic regression of one binary variable on all others, along a path of penalties.

Proximal quasi-Newton steps: a quadratic model is minimised over the active coordinates by
coordinate descent, and corrected by how the gradient changed (BFGS), so that most steps cost one
pass over the ones of the data. The model starts as the Hessian before anything is learned, a
multiple of the co-occurrence counts, which all targets share; it is computed anew, on the active
coordinates, where it has misled. The duality gap of the whole problem is the stopping rule.

Coordinates are the weights of the variables and, last, the intercept. Columns with more ones
than zeros are stored negated. A free intercept makes up for that by itself, and the weights are
those of the columns as they are stored; a penalised one does not, so they are those of the
variables, and the negation is undone in the loss and its derivatives.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit, log_normal
from mnlearn.kernels.jit import fused_kernel, kernel, sum_kernel

MAX_STEPS = 300
MAX_SWEEPS = 200
# Coordinate descent ends when a sweep lowers the model by less than this share of the first.
SWEEP_TOLERANCE = 1e-3
# So many sweeps are followed by a solution of the linear equations.
SWEEPS_PER_SOLVE = 10
# So many steps without convergence are a sign that the model is far off.
STEPS_PER_HESSIAN = 6
_ARMIJO = 1e-3
_RUNAWAY = 1e3
# A pivot below this share of its diagonal element is rounding in single precision.
_LEAST_PIVOT = np.float32(1e-6)
_MAX_HALVINGS = 30
_BLOCK = 256
# Keeps a coordinate's step finite where all probabilities are 0 or 1, or the variable is constant.
_LEAST_CURVATURE = 1e-8


@fused_kernel
def _residuals(log_odds, y, weight, residual):
    """Write the derivatives of the loss by the log-odds; return the loss."""
    loss = 0.0
    for i in range(len(log_odds)):
        s = log_odds[i] if y[i] else -log_odds[i]
        e = exp_nonpositive(-abs(s))
        loss += weight[i] * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        wrong = (e if s >= 0.0 else 1.0) / (1.0 + e)
        residual[i] = -weight[i] * wrong if y[i] else weight[i] * wrong
    return loss


@kernel
def _evaluate(design, y, theta, free_intercept, stored, residual, gradient):
    """Write the residuals of the rows and the gradient at theta; return the loss.

    stored : scratch, (n_vars,), weights of the columns as they are stored, then their gradient.
    """
    indptr, indices, weight, flipped = design
    n = len(flipped)
    constant = theta[n]
    for j in range(n):
        stored[j] = theta[j]
        if flipped[j] and not free_intercept:
            stored[j] = -theta[j]
            constant += theta[j]
    loss = 0.0
    for begin in range(0, len(y), _BLOCK):
        end = min(begin + _BLOCK, len(y))
        block = residual[begin:end]
        for i in range(begin, end):
            total = constant
            for j in indices[indptr[i] : indptr[i + 1]]:
                total += stored[j]
            block[i - begin] = total
        loss += _residuals(block, y[begin:end], weight[begin:end], block)
    stored[:] = 0.0
    whole = 0.0
    for i in range(len(y)):
        r = residual[i]
        whole += r
        for j in indices[indptr[i] : indptr[i + 1]]:
            stored[j] += r
    for j in range(n):
        gradient[j] = whole - stored[j] if flipped[j] and not free_intercept else stored[j]
    gradient[n] = whole
    return loss


@kernel
def _renew(hessian, design, residual, free_intercept, active, n_fresh, place):
    """Compute the Hessian of the first `n_fresh` active coordinates and all active ones anew.

    active : int64, those first, either part ascending.
    place : scratch, int64, (n_vars + 1,), all -1 before and after.
    """
    indptr, indices, weight, flipped = design
    n, n_active = len(flipped), len(active)
    for a in range(n_active):
        place[active[a]] = a
    both, one = np.zeros((n_fresh, n_active)), np.zeros(n_active)
    fresh, old = np.empty(n_fresh, np.int64), np.empty(n_active - n_fresh, np.int64)
    whole = 0.0
    for i in range(len(weight)):
        r = abs(residual[i])
        curvature = r * (1.0 - r / weight[i])
        whole += curvature
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
                row[fresh[m]] += curvature
            for m in range(n_old):
                row[old[m]] += curvature
    for a in range(n_active):
        if active[a] == n:
            one[a] = whole
        elif a < n_fresh:
            one[a] = both[a, a]
    for a in range(n_fresh):
        for b in range(a, n_active):
            u, v = active[a], active[b]
            together = one[b] if u == n else one[a] if v == n else both[a, b]
            flip_u = u < n and flipped[u] and not free_intercept
            flip_v = v < n and flipped[v] and not free_intercept
            if flip_u and flip_v:
                together += whole - one[a] - one[b]
            elif flip_u:
                together = one[b] - together
            elif flip_v:
                together = one[a] - together
            hessian[u, v] = together
            hessian[v, u] = together
        hessian[active[a], active[a]] += _LEAST_CURVATURE
    place[active] = -1


@sum_kernel
def _cholesky_solve(matrix, x):
    """Solve for x in place; the matrix is overwritten. Return whether it is positive definite.

    LAPACK's routines end the program where it is not.
    """
    n = len(x)
    for i in range(n):
        row = matrix[i]
        least = _LEAST_PIVOT * row[i]
        for j in range(i):
            other = matrix[j]
            total = row[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total / other[j]
        total = row[i]
        for k in range(i):
            total -= row[k] * row[k]
        if not total > least:
            return False
        row[i] = np.sqrt(total)
        total = x[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total / row[i]
    for i in range(n - 1, -1, -1):
        row = matrix[i]
        x[i] /= row[i]
        for k in range(i):
            x[k] -= row[k] * x[i]
    return True


@kernel
def _solve(theta, gradient, penalty, model, active, delta, slope):
    """Go towards the minimum over the coordinates that are not 0, until one changes its sign."""
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
    if not _cholesky_solve(matrix, way) or not way @ pull > 0.0:
        return  # a model with negative or no curvature, or one at its minimum
    length, first = 1.0, -1
    for k in range(n):
        x = theta[active[inside[k]]] + delta[inside[k]]
        if penalty[active[inside[k]]] > 0.0 and x * way[k] < 0.0 and -x / way[k] < length:
            length, first = -x / way[k], k
    for k in range(n):
        a = inside[k]
        change = length * way[k] if k != first else -theta[active[a]] - delta[a]
        delta[a] += change
        row = model[a]
        for b in range(n_active):
            slope[b] += row[b] * change


@kernel
def _model_step(theta, gradient, penalty, model, active, delta, slope):
    """Minimise the quadratic model over the active coordinates; return how much lower it gets.

    Returned is -1 where the model, after corrections, has no minimum.

    model : float64, (n_active, n_active). Written: delta, (n_active,), the step.
    slope : scratch, (n_active,).
    """
    first = 0.0
    for a in range(len(active)):
        delta[a] = 0.0
        slope[a] = gradient[active[a]]
    every = True  # Sweeps over all coordinates alternate with sweeps over those that are not 0.
    for sweep in range(MAX_SWEEPS):
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
        if sweep == 0:
            first = gain
        elif not gain <= _RUNAWAY * first:
            return -1.0
        if gain <= SWEEP_TOLERANCE * first:
            if every:
                break
            every = True
        elif sweep % SWEEPS_PER_SOLVE == SWEEPS_PER_SOLVE - 1:
            _solve(theta, gradient, penalty, model, active, delta, slope)
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


@kernel
def _correct(hessian, model, active, delta, change, image):
    """Correct the model so that it gives the `change` of the gradient along the step (BFGS)."""
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
        row = hessian[active[a]]
        for b in range(n_active):
            row[active[b]] = model[a, b] + p * change[active[b]] - q * image[b]


@fused_kernel
def _entropy(y, weight, residual, scale_one, scale_zero):
    """Return the dual of the loss at the residuals, scaled by a factor for each class."""
    total = 0.0
    for i in range(len(y)):
        q = abs(residual[i]) / weight[i] * (scale_one if y[i] else scale_zero)
        q = min(max(q, 1e-300), 1.0 - 1e-16)
        total -= weight[i] * (q * log_normal(q) + (1.0 - q) * log_normal(1.0 - q))
    return total


@kernel
def _gap(y, weight, residual, gradient, factor, penalty, objective):
    """Return an upper bound on how far the objective is above its minimum.

    The residuals are a dual point once no column is pulled harder than the penalty and, where
    the intercept is free, they sum to 0. The class whose residuals weigh more is scaled down
    to make them; that moves no column's pull by more than the difference, which is allowed for.
    """
    n = len(gradient) - 1
    scale_one = scale_zero = 1.0
    moved = strongest = 0.0
    if factor[n] == 0.0:
        ones = zeros = 0.0
        for i in range(len(y)):
            if y[i]:
                ones -= residual[i]
            else:
                zeros += residual[i]
        moved = abs(zeros - ones)
        scale_one, scale_zero = min(1.0, zeros / ones), min(1.0, ones / zeros)
    else:
        strongest = abs(gradient[n]) / factor[n]
    for j in range(n):
        strongest = max(strongest, (abs(gradient[j]) + moved) / factor[j])
    feasible = min(1.0, penalty / strongest) if strongest > 0.0 else 1.0
    return objective - _entropy(y, weight, residual, scale_one * feasible, scale_zero * feasible)


@kernel
def l1_path(target, design, y, counts, penalties, factor, tolerance, beta, intercept, gap, work):
    """Learn the coefficients of one variable for descending penalties, each from the last.

    design : (indptr, indices, weight, flipped). The data as ascending lists of ones, int64 and
        int32; float64, (n_rows,), weights of the rows; bool, (n_vars,), columns stored negated.
    y : uint8, (n_rows,), values of the target, of both kinds.
    counts : float64, (n_vars + 1, n_vars + 1), weight of the rows in which two coordinates
        (the last is the constant 1) are both 1.
    penalties : float64, (n_penalties,), descending.
    factor : float64, (n_vars + 1,), the penalty of each coordinate is this times that of the
        path; positive, but 0 for an intercept that is left out.
    tolerance : greatest gap, as a share of the loss of the best constant.
    Written: beta, (n_penalties, n_vars); intercept and gap, (n_penalties,), the gap in nats;
    work, int64, (4,), increased by the number of passes over the data, Hessians, sweeps of
    coordinate descent and steps that had to be shortened.
    """
    weight, flipped = design[2], design[3]
    n = len(flipped)
    free_intercept = factor[n] == 0.0
    theta, trial = np.zeros(n + 1), np.zeros(n + 1)
    gradient, changed = np.zeros(n + 1), np.zeros(n + 1)
    stored, residual = np.empty(n), np.empty(len(y))
    delta, slope = np.empty(n + 1), np.empty(n + 1)
    penalty = np.empty(n + 1)
    place = np.full(n + 1, -1, np.int64)
    covered = np.ones(n + 1, np.bool_)
    total = weight.sum()
    share = 0.0
    for i in range(len(y)):
        share += weight[i] / total if y[i] else 0.0
    constant_loss = -total * (share * np.log(share) + (1.0 - share) * np.log1p(-share))
    bend = 0.25
    if free_intercept:
        theta[n] = np.log(share / (1.0 - share))
        bend = share * (1.0 - share)
    hessian = counts * bend
    for j in range(n + 1):
        hessian[j, j] += _LEAST_CURVATURE
    loss = _evaluate(design, y, theta, free_intercept, stored, residual, gradient)
    gradient[target] = 0.0
    work[0] += 1
    for p in range(len(penalties)):
        penalty[:] = penalties[p] * factor
        misled = False
        n_steps = 0
        for _ in range(MAX_STEPS):
            objective = loss
            n_active = 0
            n_fresh = 0
            exact = misled or n_steps >= STEPS_PER_HESSIAN
            for j in range(n + 1):
                objective += penalty[j] * abs(theta[j])
                if j != target and (theta[j] != 0.0 or abs(gradient[j]) > penalty[j]):
                    n_active += 1
                    n_fresh += exact or not covered[j]
            exact |= n_fresh == n_active
            active = np.empty(n_active, np.int64)
            a, b = 0, n_fresh
            for j in range(n + 1):
                if j != target and (theta[j] != 0.0 or abs(gradient[j]) > penalty[j]):
                    if exact or not covered[j]:
                        active[a] = j
                        a += 1
                    else:
                        active[b] = j
                        b += 1
            if n_fresh:
                _renew(hessian, design, residual, free_intercept, active, n_fresh, place)
                if exact:
                    covered[:] = False
                    misled = False
                    n_steps = 0
                covered[active] = True
                work[1] += 1
            model = np.empty((n_active, n_active), np.float32)
            for a in range(n_active):
                row = hessian[active[a]]
                for b in range(n_active):
                    model[a, b] = row[active[b]]
            lower = _model_step(theta, gradient, penalty, model, active, delta, slope)
            work[2] += 1
            if lower < 0.0 and not exact:
                misled = True
                continue
            # The gap costs logarithms; it is looked at when the model is nearly at its minimum.
            if lower <= 2.0 * tolerance * constant_loss:
                gap[p] = _gap(y, weight, residual, gradient, factor, penalties[p], objective)
                if gap[p] <= tolerance * constant_loss:
                    break
            length = 1.0
            improved = False
            for _ in range(_MAX_HALVINGS):
                trial[:] = theta
                for a in range(n_active):
                    trial[active[a]] += length * delta[a]
                new_loss = _evaluate(design, y, trial, free_intercept, stored, residual, changed)
                work[0] += 1
                new = new_loss
                for j in range(n + 1):
                    new += penalty[j] * abs(trial[j])
                if new <= objective - _ARMIJO * length * lower:
                    improved = True
                    break
                misled = True
                length *= 0.5
                work[3] += 1
            if not improved:
                if exact:
                    break  # rounding leaves no step that lowers the objective
                continue
            changed[target] = 0.0
            for a in range(n_active):
                delta[a] *= length
            for j in range(n + 1):
                theta[j] = trial[j]
                trial[j] = changed[j] - gradient[j]
                gradient[j] = changed[j]
            loss = new_loss
            n_steps += 1
            _correct(hessian, model, active, delta, trial, slope)
        intercept[p] = theta[n]
        for j in range(n):
            beta[p, j] = theta[j]
            if free_intercept and flipped[j]:
                beta[p, j] = -theta[j]
                intercept[p] += theta[j]
