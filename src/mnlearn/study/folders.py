"""The folder that a study is defined in, and the folder that it runs in.

In a checkout both are the checkout. A package that was installed from a wheel brings the files of
the checkout that a study needs; then a study runs in the current folder.
"""

from pathlib import Path

from mnlearn.study.datasets.registry import PACKAGED, registry_path

CONFIG = "config.yaml"


def source_folder() -> Path:
    """Return the folder with the Snakefile and `workflow/`, found like the registry of datasets."""
    return registry_path().parent.parent


def run_folder() -> Path:
    """Return the folder with `results/`, with a person's config.yaml, and with own studies."""
    source = source_folder()
    return Path.cwd() if source == PACKAGED else source


def config_files() -> list[Path]:
    """Return the files of the configuration; a later one replaces values of the one before.

    In a checkout this is its config.yaml, which has all keys. Outside it are the defaults, and then
    a person's own config.yaml if there is one, which may have some of the keys only.
    """
    source, run = source_folder(), run_folder()
    own = [run / CONFIG] if run != source and (run / CONFIG).exists() else []
    return [source / CONFIG, *own]


def workflow_folders() -> list[Path]:
    """Return the folders that may have `studies/`; a person's own folder comes first."""
    return list(dict.fromkeys(folder / "workflow" for folder in (run_folder(), source_folder())))
