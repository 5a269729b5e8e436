"""Whose run it is that holds the lock of a folder."""

import pytest

from mnlearn.study.running.locks import _runs_snakemake


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["python3", "-m", "snakemake", "--cores"], True),
        (["/usr/bin/python3", "/home/x/bin/snakemake", "--cores"], True),
        (["tail", "-f", ".snakemake/log/2026-11-25T130742.snakemake.log"], False),
        (["less", "snakemake.log"], False),
        (["vim", "snakemake/rules.smk"], False),
        ([], False),
    ],
)
def test_commands_that_are_snakemake(words, runs):
    assert _runs_snakemake(words) is runs
