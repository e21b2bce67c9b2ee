"""Where requests may go: never into the hub's own network, unless its operator allows it. Pure
but for the look-up of names.

A name is resolved once for each try, every address it has is judged, and the request goes to an
address that was judged: a name that changes its mind in between gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput, MemoryHubError

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]
LONGEST_URL = 2000
_DEFAULT_PORTS = {"https": 443, "http": 80}
# Public by their numbers, and still a cloud's own service for the machine that asks.
_METADATA_ADDRESSES = frozenset({ip_address("168.63.129.16")})
# Registered for special use, and not known as such to every release of Python.
_RESERVED_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("192.0.0.0/24", "192.88.99.0/24", "100::/64", "2001::/23", "2001:db8::/32"),
            *("3fff::/20", "5f00::/16"),
        ),
    )
)
_TRANSLATED_NETWORKS = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE_NETWORK = ip_network("::/96")


class TargetRefused(MemoryHubError):
    """Nothing is sent there."""

    code = "target_refused"


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """An address taken apart. `path`: with the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """As the Host header has it."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"


def parse_networks(raw: str) -> Networks:
    """`10.0.5.0/24,127.0.0.1` as networks. Raises ValueError."""
    parts = (part.strip() for part in raw.split(","))
    return tuple(ip_network(part) for part in parts if part)


def check_target_url(url: str, *, http: bool, allowed: Networks) -> RequestTarget:
    """The URL as a target, if it may be sent to as far as it alone tells. Raises InvalidInput."""
    target = _parse_url(url)
    if target.scheme == "http" and not http:
        raise InvalidInput(_("it has to begin with https://"), field="url")
    literal = _parse_literal_address(target.host)
    if literal is not None and (said := describe_refusal(literal, allowed)):
        raise InvalidInput(
            _("%(host)s is %(said)s: nothing is sent there") % {"host": target.host, "said": said},
            field="url",
        )
    return target


def _parse_url(url: str) -> RequestTarget:
    if not url or len(url) > LONGEST_URL:
        raise InvalidInput(_("1 to %(limit)s characters") % {"limit": LONGEST_URL}, field="url")
    if not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        raise InvalidInput(_("printable ASCII without spaces and backslashes"), field="url")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput(_("this is no URL"), field="url") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise InvalidInput(_("a URL that begins with https:// and names a host"), field="url")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(_("without a name or password in it"), field="url")
    if parts.fragment or port == 0:
        raise InvalidInput(_("without a fragment, with a port from 1"), field="url")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return RequestTarget(parts.scheme, parts.hostname, port or _DEFAULT_PORTS[parts.scheme], path)


def _parse_literal_address(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def resolve_address(target: RequestTarget, allowed: Networks) -> str:
    """The address to connect to. Raises Refused when any address of the name is not public, and
    OSError when it has none."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = [str(each[4][0]) for each in found]
    for address in addresses:
        if said := describe_refusal(ip_address(address), allowed):
            raise TargetRefused(f"{target.host} is {address}, which is {said}")
    return addresses[0]


def describe_refusal(address: Address, allowed: Networks) -> str:
    """Why nothing is sent to this address, in words; "" if it may be."""
    for inner in _unwrap_address(address):
        if any(inner.version == net.version and inner in net for net in allowed):
            continue
        if said := _describe_private(inner):
            return said
    return ""


def _unwrap_address(address: Address) -> list[Address]:
    """The address and, where another is wrapped in it, that one: both have to be public, but a
    wrapping that only translates is judged by what is inside."""
    if isinstance(address, IPv4Address):
        return [address]
    address = IPv6Address(int(address))  # without a zone
    if inner := address.ipv4_mapped:
        return [inner]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return [address, *address.teredo]
    if any(address in net for net in _TRANSLATED_NETWORKS):
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    if address in _COMPATIBLE_NETWORK and int(address) > 1:
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address]


def _describe_private(address: Address) -> str:
    if address.is_loopback:
        return _("this machine itself")
    if address.is_link_local or address in _METADATA_ADDRESSES:
        return _("link-local, as clouds' metadata are")
    if address.is_multicast:
        return _("a group, not a host")
    if not address.is_global or address.is_reserved or getattr(address, "is_site_local", False):
        return _("private or reserved")
    if any(address in net for net in _RESERVED_NETWORKS):
        return _("reserved")
    return ""
