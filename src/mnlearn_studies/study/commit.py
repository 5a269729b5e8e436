"""The commit that all records were made at."""

from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json


def read_commit(results: Path) -> str:
    """Return the commit that `make record` has noted; empty if records are of several commits."""
    path = results / "record.json"
    if not path.exists():
        return ""
    noted = read_json(path)
    if not isinstance(noted, dict) or not isinstance(noted.get("commit"), str):
        raise InputError(f"{path}: expected a commit.")
    return str(noted["commit"])
