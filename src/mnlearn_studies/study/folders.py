"""The folder that a study is defined in, and the folder that it runs in.

A package that was installed from a wheel brings the files of the checkout that a study needs; then
a study runs in the current folder. In a checkout it runs in the checkout, or in the current folder
if that has a config.yaml of its own, as with `snakemake --directory`.
"""

from pathlib import Path

from mnlearn_studies.datasets.registry import PACKAGED, registry_path

CONFIG = "config.yaml"
RESULTS = "results"
# Where a person's own configuration can be; `snakedeploy` puts it into the second place.
_CONFIGS = (CONFIG, f"config/{CONFIG}")


def source_folder() -> Path:
    """Return the folder that has `workflow/`, found like the registry of datasets."""
    return registry_path().parent.parent


def run_folder() -> Path:
    """Return the folder with `results/`: that with a person's configuration or workflow, if any."""
    source, here = source_folder(), Path.cwd()
    named = (*_CONFIGS, "workflow/studies", "Snakefile", "workflow/Snakefile")
    is_own = here != source / "workflow" and any((here / name).exists() for name in named)
    return here if source == PACKAGED or is_own else source


def results_folder() -> Path:
    """Return the folder with the results of all studies."""
    return run_folder() / RESULTS


def data_folder() -> Path:
    """Return the folder with the datasets."""
    return results_folder() / "data"


def own_file(path: str | Path) -> Path:
    """Return where a file of a person's own dataset is; config.yaml names it from its folder."""
    return run_folder() / path


def config_files() -> list[Path]:
    """Return the files of the configuration; a later one replaces values of the one before.

    That of the checkout has all keys. Where a study runs in another folder, these are the defaults,
    and its own config.yaml, if there is one, may have some of the keys only.
    """
    source, run = source_folder(), run_folder()
    own = (run / name for name in _CONFIGS if run != source)
    return [source / CONFIG, *[path for path in own if path.exists()][:1]]


def workflow_folders() -> list[Path]:
    """Return the folders that may have `studies/`; a person's own folder comes first."""
    return list(dict.fromkeys(folder / "workflow" for folder in (run_folder(), source_folder())))
