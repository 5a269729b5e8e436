"""Where a result comes from: the digest of its code, versions, and the machine."""

import os
import platform
import resource
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import Optional, clear_caches, code_digest
from mnlearn.runtime.target import describe_target

_LIBRARIES = ("numba", "numpy", "scipy", "mnlearn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


def machine() -> str:
    """Return the model of the processor, what this process uses of it, and its number of cores."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{model} ({describe_target()}), {os.cpu_count()} cores"


def peak_memory_mib() -> float:
    """Return the largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10, 1)


def provenance(*roots: str, optional: Optional = ()) -> dict[str, Any]:
    """Return the digest of the code of a record, see `code_digest`, versions, and the machine."""
    digest = code_digest(*roots, optional=optional)
    record = {"code_digest": digest, "versions": versions(), "machine": machine()}
    clear_caches()  # The syntax trees would count in the peak memory of later steps.
    return record
