"""Compare what code prints with what a page says that it prints."""

import re

_FRACTION = re.compile(r"-?\d+\.\d+")


def same_print(said, printed, any_lines=None):
    """Tell whether a text is what a page says, but for 1 in the last place of fractions.

    A minimum that is found to within a rounding error is rounded up on one processor and down on
    another.

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
        abs(float(one) - float(other)) < 1.5 * 10.0 ** -len(one.partition(".")[2])
        for one, other in zip(numbers, match.groups(), strict=True)
    )
