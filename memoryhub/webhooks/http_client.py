"""One request to a receiver: to an address that was judged, within a time, read up to a size.

The standard library's client follows no redirect, asks no proxy and connects where it is told.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPResponse

from django.utils.translation import gettext_noop as _

from memoryhub.webhooks.targets import Networks, RequestTarget, TargetRefused, resolve_address

MAX_REPLY_BYTES = 500  # bytes of a reply


@dataclass(frozen=True, slots=True)
class ReceiverReply:
    """What came of a try. `status` None: nothing was answered, and `error` says why.

    `retry_after`: seconds that the receiver asks for, 0 without.
    """

    status: int | None
    text: str = ""
    error: str = ""
    milliseconds: float = 0.0
    retry_after: int = 0

    @property
    def is_ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def post_body(
    target: RequestTarget,
    headers: Mapping[str, str],
    body: bytes,
    *,
    timeout: float,
    allowed: Networks,
) -> ReceiverReply:
    """Send, and say what came of it; never raises for what a receiver or network does.

    `timeout`: seconds for everything after the name's look-up.
    """
    started = time.monotonic()
    try:
        reply = _send_request(target, resolve_address(target, allowed), headers, body, timeout)
    except TargetRefused as error:
        reply = ReceiverReply(None, error=f"refused: {error.message}")
    except (OSError, HTTPException, ValueError) as error:
        late = time.monotonic() - started >= timeout
        reply = ReceiverReply(None, error=_describe_error(error, late))
    return replace(reply, milliseconds=round((time.monotonic() - started) * 1000, 1))


def _describe_error(error: Exception, late: bool) -> str:
    if late or isinstance(error, TimeoutError):
        return _("no answer in time")
    if isinstance(error, socket.gaierror):
        return _("the host's name has no address")
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"[:500]
    return f"no answer: {type(error).__name__}: {error}"[:500]


def _send_request(
    target: RequestTarget, address: str, headers: Mapping[str, str], body: bytes, timeout: float
) -> ReceiverReply:
    connection = HTTPConnection(target.host, target.port, timeout=timeout)
    sock = socket.create_connection((address, target.port), timeout)
    with _limit_time(sock, timeout) as plain:
        connection.sock = plain
        if target.scheme == "https":  # the certificate has to be the name's, not the address's
            tls = ssl.create_default_context()
            connection.sock = tls.wrap_socket(plain, server_hostname=target.host)
        try:
            named = {"Host": target.authority, "Connection": "close", **headers}
            connection.request("POST", target.path, body, named)
            return _read_response(connection.getresponse())
        finally:
            connection.close()


@contextmanager
def _limit_time(sock: socket.socket, seconds: float) -> Iterator[socket.socket]:
    """A socket's own time-out begins anew with each byte; this one does not. It works on a
    second handle, as wrapping the first in TLS takes it away."""
    handle, late = sock.dup(), threading.Event()

    def end() -> None:
        late.set()
        with suppress(OSError):  # it had ended by itself
            handle.shutdown(socket.SHUT_RDWR)

    watch = threading.Timer(seconds, end)
    watch.daemon = True
    watch.start()
    try:
        yield sock
    finally:
        watch.cancel()
        handle.close()
        sock.close()
    if late.is_set():
        raise TimeoutError  # what was read until then is no answer, whatever it looks like


def _read_response(response: HTTPResponse) -> ReceiverReply:
    text = response.read(MAX_REPLY_BYTES).decode("utf-8", "replace").replace("\0", "")
    error = "" if 200 <= response.status < 300 else f"answered {response.status}"
    if 300 <= response.status < 400:
        error += ": redirects are not followed"
    given = (response.headers.get("Retry-After") or "").strip()
    wait = int(given) if given.isascii() and given.isdecimal() and len(given) < 7 else 0
    return ReceiverReply(response.status, text, error, retry_after=wait)
