"""Warnings that name the line of the person who called the library."""

import sys
import warnings
from types import FrameType

# The frames of these packages are passed over. scikit-learn calls estimators in pipelines and
# searches, by joblib.
_PACKAGES = ("mnlearn", "sklearn", "joblib")


def warn_user(message: str) -> None:
    """Issue a UserWarning for the line outside this package that led to the call.

    message : What a person should know about the data or the result.
    """
    frame: FrameType | None = sys._getframe(1)
    # Level 1 would be the line below, and 2 is the line that called this function.
    level = 2
    while frame is not None and _package(frame) in _PACKAGES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def _package(frame: FrameType) -> str:
    """Return the top package of the code that runs in a frame."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
