"""Which cases of a test run by day, and which are left to the nightly tests."""

import pytest


def first_daily(first, *others):
    """Return cases of which all but the first are nightly: they take long, and differ little."""
    return [first, *(pytest.param(other, marks=pytest.mark.nightly) for other in others)]
