"""Orders: what a file of the results is to be made by, in small files that Snakemake can compare.

Snakemake compares the times of files. An order is written when its content changes, so a file that
was made by another content is older than its order, and Snakemake makes it again. Git gives the
files that it restores a new time, whatever they were made by. So a run also seals its orders: a
seal says by which content which files were made, and a file that differs from its seal is older
than its order again.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json, write_text
from mnlearn.study.cells.files import file_digest


class Orders:
    """The orders of a run, in the folder `orders` of the results.

    Parameters
    ----------
    results : Path
        The folder of the results.
    plans : bool
        Whether this process plans the run. One that only does a job of it leaves times as they are.
    """

    def __init__(self, results: Path, *, plans: bool = True) -> None:
        self._folder = results / "orders"
        self._results = results
        self._plans = plans
        self._products: dict[Path, list[Path]] = {}

    def write(self, name: Path | str, content: Any, suffixes: Sequence[str] = ()) -> Path:
        """Write an order if its content has changed, and return its file.

        Parameters
        ----------
        name : Path or str
            What is to be made, as a path below the results without suffix.
        content : Any
            What it is to be made by: a value for JSON.
        suffixes : sequence of str
            Endings of the files that are made. These files are compared with the seal; files that
            git does not keep need no seal.
        """
        order = self._folder / f"{name}.order"
        text = json.dumps(content, indent=2, sort_keys=True) + "\n"
        if not order.exists() or order.read_text(encoding="utf-8") != text:
            write_text(order, text)
        if suffixes and self._plans:
            products = [self._results / f"{name}.{suffix}" for suffix in suffixes]
            self._products[order] = products
            if _made_after(order, products) and _read_seal(order) != _seal(order, products):
                order.touch()
        return order

    def supersede(self, order: Path, path: Path) -> None:
        """Make an order newer than a file that was not made by it."""
        if path.exists() and path.stat().st_mtime_ns >= order.stat().st_mtime_ns:
            order.touch()

    def seal(self) -> None:
        """Note of all orders of this run by which content their files were made, after the run."""
        for order, products in self._products.items():
            if _made_after(order, products):
                write_json(_seal_path(order), _seal(order, products))


def _made_after(order: Path, products: Sequence[Path]) -> bool:
    """Whether all files that an order is for are there and not older than the order."""
    moment = order.stat().st_mtime_ns
    return all(path.exists() and path.stat().st_mtime_ns >= moment for path in products)


def _seal(order: Path, products: Sequence[Path]) -> dict[str, Any]:
    digest = hashlib.sha256(order.read_bytes()).hexdigest()
    return {"order": digest, "files": {path.name: file_digest(path) for path in products}}


def _seal_path(order: Path) -> Path:
    return order.with_suffix(".seal")


def _read_seal(order: Path) -> Any:
    try:
        return read_json(_seal_path(order))
    except InputError:
        return None
