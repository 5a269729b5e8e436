"""Cells: the record of one method on one dataset of a study."""

import hashlib
from pathlib import Path

# Name of the variant that was chosen on validation data.
CHOSEN = ""
# What a search leaves beside its models: the record, and the grid points.
TUNING_RECORD = "tuning.json"
TRACE = "trace.csv"


def model_path(folder: Path, variant: str) -> Path:
    """Return the file of a variant's model."""
    return folder / f"{variant or 'chosen'}.npz"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
