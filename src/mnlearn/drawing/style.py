"""The style of all figures: colours, fonts, and files that are equal byte for byte."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mnlearn.data.tables import some_of
from mnlearn.runtime.progress import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"),
)
GREY, SHADE, BAND = "#666666", "#F1F5F9", "#CFE3F2"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, "#222222", "#999933")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

DPI = 200

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "pdf.fonttype": 42,
    "axes.unicode_minus": True,
}


# Fonts that have a sign for each character, which shows its script only.
_NO_FONTS = ("Last Resort", ".Last")


@contextmanager
def style(texts: Iterable[str] = ()) -> Iterator[None]:
    """Draw in the style of the figures; the settings of matplotlib are restored afterwards.

    The characters of `texts` that the usual font lacks are drawn in installed fonts that have them.
    """
    # The import of matplotlib creates folders: only functions that draw import it.
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({**STYLE, "font.family": _fonts_for("".join(texts))})
        yield


def _fonts_for(text: str) -> list[str]:
    """Return the usual font, and as few as needed that have the characters that it lacks."""
    from matplotlib.font_manager import findfont, fontManager, get_font

    def known(path: str, characters: set[str]) -> set[str]:
        font = get_font(path)
        return {character for character in characters if font.get_char_index(ord(character))}

    fonts = [STYLE["font.family"]]
    wanted = {character for character in text if character.isprintable()}
    lacking = wanted - known(findfont(fonts[0]), wanted)
    for entry in sorted(fontManager.ttflist, key=lambda e: (e.style != "normal", e.name, e.fname)):
        if not lacking:
            break
        found = set() if entry.name.startswith(_NO_FONTS) else known(entry.fname, lacking)
        if found:
            fonts.append(entry.name)
            lacking -= found
    return fonts


def render(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as PDF and as PNG; equal figures give equal bytes."""
    out = []
    for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {"Software": None})):
        content = io.BytesIO()
        with style():
            figure.savefig(content, format=suffix, dpi=DPI, metadata=metadata)
        out.append(content.getvalue())
    return out[0], out[1]


@contextmanager
def name_missing_glyphs() -> Iterator[None]:
    """Say in one line which characters of names no font has, in place of a warning for each."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    lacking = set()
    for warning in caught:
        glyph = re.match(r"Glyph (\d+) ", str(warning.message))
        if glyph is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        else:
            lacking.add(chr(int(glyph[1])))
    if lacking:
        say(
            f"figures: no installed font has {some_of(sorted(lacking))}, drawn as boxes; a Noto "
            "font of the script has them."
        )
