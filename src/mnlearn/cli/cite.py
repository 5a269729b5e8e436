"""The command `mnlearn cite`."""

import re
from collections.abc import Iterator
from importlib.resources import files

import click

from mnlearn.cli.options import parse_settings

_ENTRY = re.compile(r"^@.*?^}\n", re.MULTILINE | re.DOTALL)
_KEYWORDS = re.compile(r"^  keywords = \{(.*)\},\n", re.MULTILINE)
_KEY = re.compile(r"@\w+\{(\w+),")
_PACKAGE = """\
@software{{mnlearn,
  author = {{{{The mnlearn authors}}}},
  title = {{mnlearn: reproducible structure learning for Markov networks}},
  version = {{{version}}},
  year = {{2026}},
}}"""


def entries_of(method: str) -> Iterator[str]:
    """Yield the BibTeX entries of the works that describe a learner."""
    text = files("mnlearn.methods").joinpath("references.bib").read_text(encoding="utf-8")
    for entry in _ENTRY.findall(text):
        keywords = _KEYWORDS.search(entry)
        if keywords is not None and method in keywords[1].split(", "):
            yield _KEYWORDS.sub("", entry).strip()


@click.command()
@click.argument("method")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter you set.")
def cite(method: str, settings: tuple[str, ...]) -> None:
    """Print how to cite METHOD: a sentence with its settings, and BibTeX."""
    from mnlearn import __version__
    from mnlearn.methods import find_learner, load_learner

    name = find_learner(method)
    learner = load_learner(name)
    grid = learner.grid(parse_settings(settings))
    said = ", ".join(f"{key}={values[0]}" for key, values in grid.items())
    entries = [*entries_of(name), _PACKAGE.format(version=__version__)]
    keys = [found[1] for entry in entries if (found := _KEY.match(entry))]
    click.echo(
        f"% We learned the structure with {name} (\\citealp{{{','.join(keys[:-1])}}})"
        if keys[:-1]
        else f"% We learned the structure with {name}"
    )
    click.echo(f"% in mnlearn {__version__} (\\citealp{{mnlearn}}); {said or 'no parameters'}.\n")
    click.echo("\n\n".join(entries))
