"""Which cases of a test run by day, and which are left to the nightly tests."""

import pytest


def daily(cases, by_day):
    """Return the cases, of which those that `by_day` does not have are nightly."""
    return [
        case if case in by_day else pytest.param(case, marks=pytest.mark.nightly) for case in cases
    ]


def first_daily(first, *others):
    """Return cases of which all but the first are nightly: they take long, and differ little."""
    return daily([first, *others], [first])
