"""Orders: what a file of the results is to be made by, in small files that Snakemake can compare.

Snakemake makes a file again if its order is newer and differs from the one that the file was made
by. An order is written when its content changes, so this holds after a change of a study or of the
code. It does not hold for a file that git restores, whose order may be the same as before. So a run
also seals its orders: a seal says by which content which files were made. While a file differs from
its seal, its order has another number than the seal, and is another order for Snakemake.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import file_digest, read_json


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
        products = [self._results / f"{name}.{suffix}" for suffix in suffixes]
        # As JSON has it, for the comparison.
        made_by = json.loads(json.dumps(content))
        known = _read(order)
        number = 0 if known is None else known["number"]
        if products and self._plans:
            self._products[order] = products
            number = _next_number(number, _read(_seal_path(order)), _seal(made_by, products))
        wanted = {"made_by": made_by, "number": number}
        if wanted != known:
            _write(order, wanted)
        return order

    def renumber(self, order: Path) -> None:
        """Make another order of one by which a file was not made, whatever the file's time."""
        if self._plans:
            content = read_json(order)
            _write(order, {**content, "number": content["number"] + 1})

    def seal(self) -> None:
        """Note of all orders of this run by which content their files were made, after the run."""
        for order, products in self._products.items():
            moment = order.stat().st_mtime_ns
            if all(path.exists() and path.stat().st_mtime_ns >= moment for path in products):
                content = read_json(order)
                seal = {**_seal(content["made_by"], products), "number": content["number"]}
                _write(_seal_path(order), seal)


def _next_number(known: int, sealed: dict[str, Any] | None, present: dict[str, Any]) -> int:
    """Return the number of an order: that of its seal while its files are as they were made."""
    if sealed is None:
        # Nothing is known of files that are here.
        return known + 1 if present["files"] else known
    number: int = sealed["number"]
    return number if {**sealed, **present} == sealed else number + 1


def _seal(made_by: Any, products: Sequence[Path]) -> dict[str, Any]:
    """Return the content of an order and the files that there are, as digests."""
    digest = hashlib.sha256(json.dumps(made_by, sort_keys=True).encode()).hexdigest()
    found = [path for path in products if path.exists()]
    return {"made_by": digest, "files": {path.name: file_digest(path) for path in found}}


def _seal_path(order: Path) -> Path:
    return order.with_suffix(".seal")


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write an order or a seal. After a power loss one that is lost is written again."""
    with atomic_path(path, sync=False) as temporary:
        temporary.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")


def _read(path: Path) -> dict[str, Any] | None:
    """Return an order or a seal, or None if there is none that can be read."""
    try:
        found = read_json(path)
    except InputError:
        return None
    return found if isinstance(found, dict) and {"made_by", "number"} <= set(found) else None
