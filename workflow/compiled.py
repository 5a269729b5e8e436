"""Compile the kernels for the wheel of a platform: `python -m workflow.compiled FOLDER`.

`mnlearn compile` tries all learners and questions. The forms of kernels that this takes are then
compiled for each class of processors, also for those whose instructions this processor lacks.
"""

import importlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Forms = dict[tuple[str, str], list[Any]]


def kernels() -> Iterator[tuple[str, str, Any]]:
    """Yield the kernels that are loaded, with the module and name of each."""
    from mnlearn.kernels.parts import KernelDispatcher

    for module, content in sorted(sys.modules.items()):
        if module.startswith("mnlearn.kernels."):
            for name, value in sorted(vars(content).items()):
                if isinstance(value, KernelDispatcher) and value.__module__ == module:
                    yield module, name, value


def compile_forms(forms: Forms) -> None:
    """Compile forms of kernels, which the cache keeps."""
    for (module, name), signatures in forms.items():
        kernel = getattr(importlib.import_module(module), name)
        for signature in signatures:
            kernel.compile(signature)


def main() -> None:
    """Compile all kernels for all targets into a folder."""
    folder = Path(sys.argv[1]).absolute()
    if len(sys.argv) > 2:
        compile_forms(pickle.load(sys.stdin.buffer))
        return
    from mnlearn.cli.compile import compile as try_all
    from mnlearn.kernels.cache import TARGETS

    try_all.callback(())  # type: ignore[misc]
    forms: Forms = {(module, name): kernel.signatures for module, name, kernel in kernels()}
    shutil.rmtree(folder, ignore_errors=True)
    for target in TARGETS:
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(folder),
            "NUMBA_CPU_NAME": target,
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_DISABLE_INTEL_SVML": "1",
        }
        command = [sys.executable, "-m", "workflow.compiled", str(folder), target]
        subprocess.run(command, input=pickle.dumps(forms), env=environment, check=True)
        print(f"{sum(map(len, forms.values()))} forms of {len(forms)} kernels for {target}")


if __name__ == "__main__":
    main()
