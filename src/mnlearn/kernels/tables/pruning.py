"""Which factors bear on a question."""

from mnlearn.kernels.jit import kernel


@kernel
def drop_barren(start, scope, child, known, wanted, n_times, kept):
    """Drop conditional distributions of variables that nothing else depends on, again and again.

    known, wanted : bool, (n_vars,). n_times : in how many factors each variable is, changed. kept :
    bool, (n_factors,), whether a factor is looked at, changed.
    """
    changed = True
    while changed:
        changed = False
        for f in range(len(child) - 1, -1, -1):
            v = child[f]
            if kept[f] and v >= 0 and n_times[v] == 1 and not known[v] and not wanted[v]:
                kept[f], changed = False, True
                for i in range(start[f], start[f + 1]):
                    n_times[scope[i]] -= 1


@kernel
def drop_separated(start, scope, known, reached, kept):
    """Keep only factors that a path of unknown variables joins to those that are reached.

    reached : bool, (n_vars,), changed. kept : bool, (n_factors,), changed.
    """
    n = len(kept)
    inside = kept & False
    changed = True
    while changed:
        changed = False
        for f in range(n):
            if inside[f] or not kept[f]:
                continue
            for i in range(start[f], start[f + 1]):
                inside[f] |= reached[scope[i]] and not known[scope[i]]
            if inside[f]:
                changed = True
                for i in range(start[f], start[f + 1]):
                    reached[scope[i]] = True
    kept &= inside
