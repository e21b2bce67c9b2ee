"""SSRF: which addresses are sent to, by their numbers and by what they wrap."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from memoryhub.errors import InvalidInput
from memoryhub.webhooks.targets import (
    TargetRefused,
    check_target_url,
    describe_refusal,
    parse_networks,
    resolve_address,
)

REFUSED = [
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "169.254.0.1",
    "168.63.129.16",
    "192.0.0.192",
    "192.88.99.1",
    "3fff::1",
    "192.0.2.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "ff0e::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2001:0:7f00:1::",
]
PUBLIC = ["93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111"]
PUBLIC += ["::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"]


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert describe_refusal(ip_address(address), ())


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_is_not(address: str) -> None:
    assert describe_refusal(ip_address(address), ()) == ""


def test_an_operator_allows_networks_and_no_others() -> None:
    allowed = parse_networks("10.0.5.0/24, 127.0.0.1,fd12::/16")
    for address in ("10.0.5.9", "127.0.0.1", "::ffff:127.0.0.1", "fd12::1"):
        assert describe_refusal(ip_address(address), allowed) == ""
    for address in ("10.0.6.9", "127.0.0.2", "169.254.169.254", "fd13::1", "::1"):
        assert describe_refusal(ip_address(address), allowed)


@pytest.mark.parametrize("raw", ["10.0.0.1/8", "here", "10.0.0.0/33"])
def test_networks_that_are_none_stop_the_start(raw: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_networks(raw)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "example.org/x",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://example.org/",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://example.org/#part",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org:x/",
        "https://exa mple.org/",
        "https://example.org/a b",
        "https://example.org/\r\nX-Header: 1",
        "https://example.org\\@127.0.0.1/",
        "https://[::1/",
        "https://ex\u00e4mple.org/",
        "https://127.0.0.1/",
        "https://[::1]:8443/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://example.org/" + "x" * 2000,
    ],
)
def test_urls_that_are_refused_as_they_stand(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_target_url(url, http=False, allowed=())
    assert refused.value.field == "url"


def test_a_url_taken_apart() -> None:
    target = check_target_url("https://Example.org:8443/a/b?c=d", http=False, allowed=())
    assert (target.host, target.port, target.path) == ("example.org", 8443, "/a/b?c=d")
    assert target.authority == "example.org:8443"
    bare = check_target_url("http://example.org", http=True, allowed=())
    assert (bare.port, bare.path, bare.authority) == (80, "/", "example.org")
    six = check_target_url("https://[2606:4700::1111]/", http=False, allowed=())
    assert six.authority == "[2606:4700::1111]"


def patch_resolver(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def found(host: str, port: int, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found)


def test_a_name_is_judged_by_every_address_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    target = check_target_url("https://rebound.example/", http=False, allowed=())
    patch_resolver(monkeypatch, "93.184.216.34", "127.0.0.1")
    with pytest.raises(TargetRefused, match=r"127\.0\.0\.1, which is this machine itself"):
        resolve_address(target, ())
    patch_resolver(monkeypatch, "93.184.216.34", "1.1.1.1")
    assert resolve_address(target, ()) == "93.184.216.34"


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1", "localhost"])
def test_other_spellings_of_loopback_are_refused_when_they_are_looked_up(host: str) -> None:
    target = check_target_url(f"https://{host}/", http=False, allowed=())
    with pytest.raises(TargetRefused):
        resolve_address(target, ())
