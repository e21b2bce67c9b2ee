"""What is shown on the page that follows its making, and never again: a key, a password, a link.

It waits in the session, sealed. Shown in the answer to the form instead, it would be made a second
time when the page is loaded anew.
"""

from __future__ import annotations

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.tenants.sealing import open_sealed, seal_secret


def keep_until_shown(request: ConsoleRequest, name: str, secret: str) -> None:
    request.session[name] = seal_secret(secret)


def take_shown_once(request: ConsoleRequest, name: str) -> str:
    """ "" where nothing waits under this name."""
    return open_sealed(request.session.pop(name, ""))
