"""Mutations of files, drawn by Hypothesis: of bytes, of words and numbers, of arrays."""

import io
import re

import numpy as np
from hypothesis import strategies as st

from faults.forms import unpacked

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_]+")
NUMBERS = [
    *(b"0", b"1", b"2", b"-1", b"-0", b"0.5", b"1.5", b"1e400", b"-1e400", b"1e308", b"1e-320"),
    *(b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b".nan", b".inf", b"null", b"true", b"[]"),
    *(b"255", b"256", b"65536", b"2147483647", b"2147483648", b"4294967296", b"1000000000"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1" * 400),
    *(b"9" * 5000, b"1_000", b"0x10", b"1.", b".5", b"+1", b"1,5", b"1e", b"--1", b"", b"\xd9\xa1"),
]
TOKENS = [
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\x0b", b"\x1a"),
    *("\u2028".encode(), "\u00e9".encode(), "\U0001f600".encode(), b"\xed\xa0\x80", b"\xc3"),
    *(b",", b";", b":", b"|", b"*", b"#", b"//", b"/*", b"%", b"$", b"&a", b"*a", b"<<: ", b"!!"),
    *(b'"', b"'", b"`", b"\\", b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b"=", b"+", b"-"),
    *(b"[" * 2000, b"(" * 2000, b"{" * 2000, b"a: " * 300, b"a" * 200_000, b"0," * 20_000),
    *(b"!!python/object/apply:os.system [id]", b"\x80\x04cos\nsystem\n", b"../../etc/passwd"),
    *(b"null", b"true", b"nan", b"0", b"1", b"-1", b"EOF", b"features", b"table", b"{}", b"[]"),
]

place = st.floats(0, 1, exclude_max=True)


@st.composite
def byte_mutation(draw):
    """Return a name, and a function from bytes to bytes."""
    kind = draw(
        st.sampled_from(["flip", "delete", "repeat", "insert", "cut", "number", "word", "swap"])
    )
    at, length = draw(place), draw(st.sampled_from([1, 1, 2, 5, 20, 200]))
    token = draw(st.sampled_from(TOKENS))
    number = draw(st.sampled_from(NUMBERS))
    bit = draw(st.integers(0, 7))
    count = draw(st.sampled_from([2, 2, 3, 10, 1000]))

    def mutate(text):
        if not text:
            return token
        k = int(at * len(text))
        if kind == "flip":
            return text[:k] + bytes([text[k] ^ 1 << bit]) + text[k + 1 :]
        if kind == "delete":
            return text[:k] + text[k + length :]
        if kind == "repeat":
            return text[:k] + text[k : k + length] * count + text[k + length :]
        if kind == "insert":
            return text[:k] + token + text[k:]
        if kind == "cut":
            return text[:k]
        if kind == "swap":
            lines = text.splitlines(keepends=True)
            one, other = int(at * len(lines)), bit * len(lines) // 8
            lines[one], lines[other] = lines[other], lines[one]
            return b"".join(lines)
        found = list((NUMBER if kind == "number" else WORD).finditer(text))
        if not found:
            return text + token
        match = found[int(at * len(found))]
        return text[: match.start()] + (number if kind == "number" else token) + text[match.end() :]

    return f"{kind} at {at:.3f}", mutate


ARRAYS = {
    "negative": lambda a: -a,
    "float": lambda a: a.astype(float) + 0.25,
    "nan": lambda a: np.full(a.shape, np.nan),
    "infinite": lambda a: np.full(a.shape, np.inf),
    "huge": lambda a: np.full(a.shape, 2**62),
    "large": lambda a: np.full(a.shape, 10**9),
    "text": lambda a: a.astype(str),
    "complex": lambda a: a.astype(complex),
    "bool": lambda a: a.astype(bool),
    "small": lambda a: a.astype(np.int8),
    "unsigned": lambda a: a.astype(np.uint64),
    "dates": lambda a: a.astype("datetime64[s]"),
    "empty": lambda a: a[:0] if a.ndim else np.zeros(0),
    "short": lambda a: a[:-1] if a.ndim else a,
    "long": lambda a: np.concatenate([a, a]) if a.ndim else np.stack([a, a]),
    "flat": lambda a: a.ravel(),
    "deep": lambda a: a[None],
    "turned": lambda a: a.T,
    "reversed": lambda a: a[::-1] if a.ndim else a,
    "scalar": lambda a: a.ravel()[0] if a.size else np.array(0),
    "zeros": lambda a: np.zeros_like(a),
    "ones": lambda a: np.ones(a.shape),
    "next": lambda a: a + 1,
    "tiny": lambda a: np.full(a.shape, 1e-300),
}


@st.composite
def array_mutation(draw):
    """Return a name, and a function from the content of an archive of arrays to another one."""
    kind, at = draw(st.sampled_from([*ARRAYS, "lacks", "renamed", "one"])), draw(place)
    cell, value = draw(place), draw(st.sampled_from([-1, 0, 1, 2, 1000, 2**31, np.nan, 1e300]))

    def mutate(content):
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive)
        if not arrays:
            return content
        name = sorted(arrays)[int(at * len(arrays))]
        try:
            if kind in ("lacks", "renamed"):
                array = arrays.pop(name)
                arrays |= {"other": array} if kind == "renamed" else {}
            elif kind == "one":
                array = arrays[name].copy()
                array.flat[int(cell * array.size)] = value
                arrays[name] = array
            else:
                # Infinity is no date.
                with np.errstate(invalid="ignore"):
                    arrays[name] = ARRAYS[kind](arrays[name])
        except (TypeError, ValueError, IndexError, OverflowError):
            arrays[name] = np.array("x")  # What such arrays cannot become.
        out = io.BytesIO()
        with np.errstate(all="ignore"):
            np.savez_compressed(out, **arrays)
        return out.getvalue()

    return f"{kind} array at {at:.3f}", mutate


@st.composite
def mutated(draw, form, content):
    """Return the mutations of a file by name, and the file with them."""
    names = []
    if form.path.endswith(".npz") and draw(st.integers(0, 3)):
        for _ in range(draw(st.sampled_from([1, 1, 2]))):
            name, mutate = draw(array_mutation())
            content = mutate(content)
            names.append(name)
        return names, content
    plain, pack = unpacked(form.path, content)
    if not draw(st.integers(0, 3)):
        plain, pack = content, bytes
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        name, mutate = draw(byte_mutation())
        plain = mutate(plain)
        names.append(name)
    return names, pack(plain)
