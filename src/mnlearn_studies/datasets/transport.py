"""One file over HTTP: tried again after passing faults, within limits of size and time."""

import socket
import time
from collections.abc import Callable

import requests
import urllib3

from mnlearn.runtime.errors import InputError

Progress = Callable[[int], None]

TRIES = 5
# Waits of 0.5, 1, 2 and 4 seconds between the tries.
BACKOFF_SECONDS = 0.5
# To connect, and between two packets.
TIMEOUT_SECONDS = (10.0, 60.0)
# All tries of one file together.
TOTAL_SECONDS = 1800.0
_BROKEN = f"the transfer broke off {TRIES} times"
CHUNK_BYTES = 1 << 16
BUSY_STATUSES = (429, 500, 502, 503, 504)
# Object stores answer 403 for what they do not have.
MISSING_STATUSES = (403, 404, 410)


class MissingError(Exception):
    """The server has no such file, or does not give it out; what it answers."""


class UnreachableError(InputError):
    """A server could not be reached at all."""


class _PassingError(Exception):
    """The server is busy, or the body ended early; another try may succeed."""


def download(url: str, n_bytes: int, report: Progress) -> bytes:
    """Return the content of `url`, tried again when the server is busy or the body breaks off.

    n_bytes : length of the file; a body that is much longer is cut, and left to verification.
    report : called with the number of bytes of each part that arrives; what it raises ends the
    download. It raises `MissingError` if the server has no such file, `UnreachableError` without a
    connection.
    """
    deadline = time.monotonic() + TOTAL_SECONDS
    with requests.Session() as session:
        session.headers["User-Agent"] = "mnlearn"
        for attempt in range(TRIES):
            try:
                return _read_body(session, url, n_bytes, deadline, report=report)
            except (_PassingError, requests.ConnectionError, requests.Timeout) as error:
                if attempt < TRIES - 1:
                    time.sleep(BACKOFF_SECONDS * 2**attempt)
                elif isinstance(error, _PassingError):
                    raise InputError(f"{url}: {error}; try again later.") from error
                else:
                    reason = _explain(error)
                    raise UnreachableError(f"cannot be reached ({reason}).", where=url) from error
            except requests.RequestException as error:
                raise InputError(f"{url}: cannot be fetched ({error}).") from error
    raise AssertionError("the last attempt returns or raises")


def _read_body(
    session: requests.Session, url: str, n_bytes: int, deadline: float, *, report: Progress
) -> bytes:
    content = bytearray()
    with session.get(url, stream=True, timeout=TIMEOUT_SECONDS) as response:
        answer = f"the server answers {response.status_code} {response.reason}"
        if response.status_code in MISSING_STATUSES:
            raise MissingError(answer)
        if response.status_code in BUSY_STATUSES:
            raise _PassingError(answer)
        if response.status_code != 200:
            raise InputError(f"{url}: {answer}; try again later.")
        try:
            # read1 returns what has arrived; read would wait for a whole part, however slow.
            while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
                content += chunk
                report(len(chunk))
                if time.monotonic() > deadline:
                    raise InputError(
                        f"{url}: took longer than {TOTAL_SECONDS / 60:.3g} minutes; expected a "
                        "faster server, or try again later."
                    )
                if len(content) > n_bytes + CHUNK_BYTES:
                    break
        except urllib3.exceptions.HTTPError as error:
            raise _PassingError(f"{_BROKEN} (incomplete body)") from error
    announced = {"Content-Length", "Transfer-Encoding"} & {h.title() for h in response.headers}
    if not announced and not url.endswith(".xz") and len(content) < n_bytes:
        raise _PassingError(f"{_BROKEN} ({len(content)} of {n_bytes} bytes)")
    return bytes(content)


def _explain(error: requests.RequestException) -> str:
    """Return in a few words why there is no connection."""
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses"
    if isinstance(error, requests.exceptions.SSLError):
        return "no trusted certificate"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "the name is not known here; no network?"
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
        cause = cause.__cause__ or cause.__context__
    return "no connection"
