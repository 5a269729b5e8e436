"""Compare what code prints with what a page says that it prints."""

import re

_FRACTION = re.compile(r"-?\d+\.\d+")


def same_print(said, printed, any_lines=None):
    """Tell whether a text is what a page says; fractions may differ a little.

    By 1 in the last place, where the same minimum is rounded up on one processor and down on
    another; or by 5 in a thousand, where learning ends at other weights within its tolerance.

    any_lines : a line that stands for any lines.
    """
    pattern = ""
    for line in said.splitlines():
        text = re.sub(r"(\\ )+", " +", re.escape(_FRACTION.sub("\0", line)))
        text = text.replace("\0", f"({_FRACTION.pattern})")
        pattern += "(?:.*\n)*" if line == any_lines else f"{text}\n"
    match = re.fullmatch(pattern, printed)
    if match is None:
        return False
    skipped = (line for line in said.splitlines() if line != any_lines)
    numbers = _FRACTION.findall("\n".join(skipped))
    return all(
        abs(float(one) - float(other)) < max(1.5 * last_place(one), 5e-3 * abs(float(one)))
        for one, other in zip(numbers, match.groups(), strict=True)
    )


def last_place(fraction):
    """Return the value of 1 in the last place of a fraction that is written down."""
    return 10.0 ** -len(fraction.partition(".")[2])
