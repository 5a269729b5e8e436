"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX.

Each kind is a dataclass in a file of this package, whose fields are its options.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import MappingProxyType

from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import one_line
from mnlearn_studies.datasets.sample_names import base_of, list_means
from mnlearn_studies.records.kinds import KINDS as RECORDS
from mnlearn_studies.report.material import Material, Options, chosen_products
from mnlearn_studies.report.tables.formats import to_csv, to_latex, to_markdown
from mnlearn_studies.report.tables.table import Table, TableEntry, mark_stale
from mnlearn_studies.study.kinds import load_kinds
from mnlearn_studies.study.published import Source, is_time
from mnlearn_studies.study.reading import walk

KINDS = {each.kind_name: each for each in load_kinds(__name__, TableEntry)}
# The pairs (dataset, method) with a record that is not current, by the kind of the record.
Stale = Mapping[str, AbstractSet[tuple[str, str]]]


def make_table(
    material: Material, product: Options, stale: AbstractSet[tuple[str, str]] = frozenset()
) -> Table:
    """Return the table of one entry of a study, with its caption and with stale numbers marked."""
    entry, material = material.of_entry("tables", product, KINDS)
    table = entry.tabulate(material)
    # Tables of samples have rows of means, and of the datasets that the samples are drawn from.
    marked = stale | {(of, method) for d, method in stale for of in (*list_means([d]), base_of(d))}
    notes = (*table.notes, *time_notes(material, product))
    named = dataclasses.replace(
        table, name=entry.name, caption=one_line(entry.caption), notes=notes
    )
    return mark_stale(named, marked)


def make_tables(
    material: Material, stale: Stale = MappingProxyType({}), only: list[str] | None = None
) -> list[Table]:
    """Return the tables of a study in its order: all, or those named in `only`."""
    made = []
    for product in chosen_products(material.study, "tables", only):
        marked = {cell for kind in kinds_read(product) for cell in stale.get(kind, ())}
        made.append(make_table(material, product, marked))
    return made


def kinds_read(product: Options) -> tuple[str, ...]:
    """Return the kinds of records that the numbers of a table may come from."""
    quantities = [
        str(options["quantity"])
        for _, options in walk(product)
        if "study" not in options and "quantity" in options
    ]
    found = [name for name, kind in RECORDS.items() if any(map(kind.shows, quantities))]
    return ("cells", *dict.fromkeys((*found, *KINDS.get(product["kind"], TableEntry).records)))


def write_tables(made: Iterable[Table], folder: Path) -> None:
    """Write tables as `<name>.csv`, `.md` and `.tex`."""
    for table in made:
        write_text(folder / f"{table.name}.csv", to_csv(table))
        write_text(folder / f"{table.name}.md", to_markdown(table))
        write_text(folder / f"{table.name}.tex", to_latex(table))


def time_notes(material: Material, product: Options) -> tuple[str, ...]:
    """Return a note on the spread of our seconds that a table shows, if they were repeated."""
    sources: list[Source] = []
    if product["kind"] == "lem.times":
        methods = material.scores["method"].unique()
        sources += [Source(str(method), "seconds_learn") for method in methods]
    for _, options in walk(product):
        quantity, method = options.get("quantity"), options.get("method")
        is_ours = "study" not in options and isinstance(method, str)
        if is_ours and isinstance(quantity, str) and is_time(quantity):
            sources.append(Source(str(method), quantity, options.get("variant", "")))
    shown = (number for source in sources for number in material.numbers(source).values())
    spreads = [(n.high - n.low) / n.value for n in shown if n.low and n.high and n.value > 0]
    if not spreads:
        return ()
    note = (
        "Seconds of learning are medians of runs that were made in turn in one job; the slowest "
        f"and the fastest run differ by up to {100 * max(spreads):.0f} per cent of the median, "
        f"and by {100 * sum(spreads) / len(spreads):.0f} per cent in the mean."
    )
    return (note,)
