"""Put recorded results into README.md, between its markers: `make readme`."""

import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parent.parent
SCORES = ROOT / "results" / "dtsl" / "tables" / "cmll.md"
BENCH = ROOT / "results" / "bench.csv"
_BY_NAME = "GSSL|SparC|KLay"


def scores_table() -> str:
    """Return the table of test scores without its caption and notes."""
    lines = SCORES.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def bench_table() -> str:
    """Return the measurements that have a peer as a Markdown table."""
    figures = pd.read_csv(BENCH)
    figures = figures[figures["ratio"].notna()]
    columns = {
        "task": figures["task"],
        "data": figures["dataset"],
        "seconds": figures["seconds"].map("{:.3f}".format),
        "rate": figures["rate"],
        # Libra's are named by their commands.
        "beside": figures["peer"].where(figures["peer"].str.match(_BY_NAME), "Libra 1.1.2"),
        "its seconds": figures["peer_seconds"].map("{:.2f}".format),
        "ratio": figures["ratio"].map("{:.0f}".format),
    }
    table = pd.DataFrame(columns)
    align = ("left", "left", "right", "left", "left", "right", "right")
    return str(table.to_markdown(index=False, colalign=align, disable_numparse=True))


def refreshed(text: str) -> str:
    """Return the text of the README with both tables renewed."""
    for name, table in (("results", scores_table()), ("bench", bench_table())):
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)"
        text, count = re.subn(
            pattern, lambda found, t=table: found[1] + t + found[2], text, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"README.md: expected one pair of markers named {name}, got {count}.")
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(refreshed(readme.read_text(encoding="utf-8")), encoding="utf-8")
