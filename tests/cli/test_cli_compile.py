"""`mnlearn compile`: what it says, and that later commands compile nothing."""

import os
import subprocess
import sys

import pytest

from command import succeed
from command_folder import fill_folder


def test_compile_says_how_long_each_method_took():
    result = succeed("compile atomic ising")
    assert result.stdout == ""
    lines = [line.split(":")[0] for line in result.stderr.splitlines() if line.endswith(" s")]
    assert lines == ["atomic", "ising"]


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("method", ["dtsl", "chow_liu"])
def test_later_commands_compile_nothing(method, tmp_path, monkeypatch):
    fill_folder(tmp_path, monkeypatch)
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def run(command):
        program = [sys.executable, "-m", "mnlearn", *command.split()]
        subprocess.run(program, env=environment, check=True, capture_output=True)
        return {path.name for path in cache.rglob("*.nbc")}

    compiled = run(f"compile {method}")
    assert compiled
    assert run(f"fit {method} --train d.data --out a.npz") == compiled
    for metric in ("pll", "cmll", "ll"):
        assert run(f"score a.npz d.data --metric {metric}") == compiled
