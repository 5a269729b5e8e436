"""The class of processors on which records are equal, and how a process enters it."""

import os
import subprocess
import sys

import pytest

from mnlearn.runtime import target

# What a user may have set, and NumPy refuses beside the settings of the class.
OTHERWISE = {
    "OPENBLAS_CORETYPE": "SkylakeX",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4",
}
ENTER = """
import sys
from mnlearn.runtime.target import describe_target, enter_class
enter_class()
print(describe_target(), *sys.argv[1:], sep="|")
"""
in_class = pytest.mark.skipif(not target.is_in_class(), reason="a processor outside the class")


@in_class
@pytest.mark.parametrize("environment", [{}, OTHERWISE, target.SETTINGS])
def test_a_process_enters_the_class_whatever_the_user_has_set(environment):
    command = [sys.executable, "-c", ENTER, "a b", "$HOME"]
    inherited = {name: value for name, value in os.environ.items() if name not in target.SETTINGS}
    environment = {**inherited, **environment}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "NumPy X86_V3, BLAS Haswell|a b|$HOME\n"
    assert done.stderr == ""


def test_a_step_has_loaded_nothing_that_reads_the_settings_when_it_enters():
    code = "import sys, mnlearn.cli, mnlearn_studies.cli.steps; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert {"numpy", "numba", "scipy"}.isdisjoint(done.stdout.split())


@pytest.fixture
def started(monkeypatch):
    """The environments of the processes that are started in place of this one."""
    found = []
    monkeypatch.setattr(target.os, "execve", lambda *arguments: found.append(arguments[2]))
    for name in target.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(target, "is_in_class", lambda: True)
    return found


def test_a_process_enters_once_and_before_numpy_is_loaded(started, monkeypatch):
    target.enter_class()
    assert started == []
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V4")
    target.enter_class()
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES")
    assert started == [{**os.environ, **target.SETTINGS}]
    for name, value in target.SETTINGS.items():
        monkeypatch.setenv(name, value)
    target.enter_class()
    assert len(started) == 1


def test_another_processor_keeps_its_own_settings(started, monkeypatch):
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(target, "is_in_class", lambda: False)
    target.enter_class()
    assert started == []


def test_a_processor_without_an_instruction_is_outside(monkeypatch):
    binding = "llvmlite.binding.get_host_cpu_features"
    every = dict.fromkeys(target._INSTRUCTIONS, True)
    monkeypatch.setattr(binding, lambda: every)
    assert target.is_in_class()
    monkeypatch.setattr(binding, lambda: {**every, "fma": False})
    assert not target.is_in_class()
    monkeypatch.setattr(binding, lambda: {"neon": True})
    assert not target.is_in_class()

    def unknown():
        raise RuntimeError

    monkeypatch.setattr(binding, unknown)
    assert not target.is_in_class()
