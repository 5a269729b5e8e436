"""Records on stdout, as text or as JSON."""

import json
import math
from typing import Any

import click


def print_record(record: dict[str, Any], as_json: bool) -> None:
    """Print a flat record as one JSON object, or as a line for each item."""
    if as_json:
        # JSON has neither infinity nor NaN: null stands for both.
        finite = {
            name: None if isinstance(item, float) and not math.isfinite(item) else item
            for name, item in record.items()
        }
        click.echo(json.dumps(finite, sort_keys=True, allow_nan=False))
        return
    width = max(len(name) for name in record)
    for name, item in record.items():
        # Differences of log Z matter, not its share.
        digits = 12 if name.startswith("log_partition") else 6
        text = f"{item:.{digits}g}" if isinstance(item, float) else str(item)
        click.echo(f"{name.replace('_', ' '):<{width}}  {text}")
