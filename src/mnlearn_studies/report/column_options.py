"""Options of the columns of tables, which figures of ranked methods share."""

import dataclasses

from mnlearn_studies.report.options import DECIMALS, FLAG, PAIR, SOURCE, TEXT, Keys, needed

# How a column is computed from two others, by the key of its options.
COMPUTED = {
    "minus": lambda x, y: x - y,
    "over": lambda x, y: x / y if y else None,
    "percent_less": lambda x, y: 100 * (1 - x / y) if y else None,
    "exceeds": lambda x, y: float(x > y),
}
# See `tables.columns.column`.
COLUMN: Keys = {
    **{key: dataclasses.replace(form, needed=False) for key, form in SOURCE.items()},
    "name": needed(TEXT),
    "group": TEXT,
    "rank": TEXT,
    "decimals": DECIMALS,
    **dict.fromkeys(("significant", "lower", "stderr", "scientific"), FLAG),
    **dict.fromkeys(COMPUTED, PAIR),
}
# Columns of methods that are ranked. They may be those of another table of the study.
RANKED: Keys = {**COLUMN, **SOURCE, "head": needed(TEXT)}
