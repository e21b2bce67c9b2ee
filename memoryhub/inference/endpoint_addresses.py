"""Addresses of endpoints, as people enter them. Pure."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput

MAX_URL_LENGTH = 500
_DEFAULT_PORTS = {"https": 443, "http": 80}


def parse_origins(text: str) -> list[str]:
    """`https://a.example, http://b.example:8080` as origins. Raises ValueError."""
    try:
        return [parse_origin(part.strip()) for part in text.split(",") if part.strip()]
    except InvalidInput as error:
        raise ValueError(error.message) from error


def parse_origin(url: str) -> str:
    """`https://host:port` of an endpoint's address, the port named where it is not the usual one.
    Raises InvalidInput for what is no address of an endpoint."""
    parts = _split_address(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise InvalidInput(
            _("an address that begins with https:// or http:// and names a host"), field="url"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidInput(_("without a name, a password or a query in it"), field="url")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = parts.port in (None, _DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" + ("" if usual else f":{parts.port}")


def _split_address(url: str) -> SplitResult:
    if len(url) > MAX_URL_LENGTH or not (url.isascii() and url.isprintable()) or " " in url:
        most = _("at most %(limit)s printable ASCII characters, without spaces")
        raise InvalidInput(most % {"limit": MAX_URL_LENGTH}, field="url")
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError:
        raise InvalidInput(_("this is no address"), field="url") from None
    return parts
