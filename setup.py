"""Builds of the package: what studies need of this repository travels in the wheel.

The files keep their places below `mnlearn_studies/study_files/`, so that they find each other as
in a checkout. `pyproject.toml` has all other settings.
"""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PLACE = Path("mnlearn_studies", "study_files")
# Relative to the repository.
STUDY_FILES = (
    "config.yaml",
    "docs/methods/*.md",
    "workflow/Snakefile",
    "workflow/*.tsv",
    "workflow/jobs.sh",
    "workflow/peers/*.R",
    "workflow/profiles/*/config.yaml",
    "workflow/rules/*.smk",
    "workflow/studies/*.yaml",
)
# The address of the repository, for the links of the package. The sources do not know it.
ADDRESS = os.environ.get("MNLEARN_REPOSITORY", "").rstrip("/")


def study_files() -> list[str]:
    """Return the files of the repository that studies need, relative to it."""
    found = [path for pattern in STUDY_FILES for path in ROOT.glob(pattern)]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def links() -> dict[str, str]:
    """Return the links of the package; none if the address of the repository is not given."""
    if not ADDRESS:
        return {}
    pages = {"Repository": "", "Documentation": "/tree/main/docs", "Issues": "/issues"}
    pages["Changelog"] = "/blob/main/CHANGELOG.md"
    return {name: f"{ADDRESS}{page}" for name, page in pages.items()}


class BuildPackage(build_py):
    """Copies the files of studies into the package; an editable one reads them in their places."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        # What an earlier build left here would be packed too.
        shutil.rmtree(Path(self.build_lib, PLACE), ignore_errors=True)
        for source, target in self._copies().items():
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / source, target)

    def get_source_files(self) -> list[str]:
        """Return the files that a distribution of the sources has to have."""
        return [*super().get_source_files(), *study_files()]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that a build writes."""
        own = [] if self.editable_mode else [*self._copies().values()]
        return [*super().get_outputs(include_bytecode), *own]

    def _copies(self) -> dict[str, str]:
        return {source: str(Path(self.build_lib, PLACE, source)) for source in study_files()}


setup(cmdclass={"build_py": BuildPackage}, project_urls=links())
