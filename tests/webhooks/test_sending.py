"""One request to a real receiver on loopback, however it behaves."""

from __future__ import annotations

import socket
from ipaddress import ip_network
from typing import Any

import pytest

from memoryhub.webhooks import targets
from memoryhub.webhooks.http_client import MAX_REPLY_BYTES, ReceiverReply, post_body
from tests.support.receiver import ScriptedAnswer, WebhookReceiver

OWN = (ip_network("127.0.0.1/32"),)


def post_to_target(url: str, *, timeout: float = 5, allowed: Any = OWN) -> ReceiverReply:
    target = targets.check_target_url(url, http=True, allowed=OWN)
    return post_body(target, {"X-One": "1"}, b'{"a": 1}', timeout=timeout, allowed=allowed)


def test_a_request_as_it_arrives(receiver: WebhookReceiver) -> None:
    reply = post_to_target(f"{receiver.url}?key=1")
    (got,) = receiver.requests
    assert (reply.status, reply.text, reply.error, reply.is_ok) == (200, "ok", "", True)
    assert (got.path, got.json, got.headers["x-one"]) == ("/hook?key=1", {"a": 1}, "1")
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("status", [201, 204])
def test_every_2xx_is_success(receiver: WebhookReceiver, status: int) -> None:
    receiver.script(ScriptedAnswer(status, b""))
    assert post_to_target(receiver.url).is_ok


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(receiver: WebhookReceiver, status: int) -> None:
    receiver.script(ScriptedAnswer(status, headers={"Location": f"{receiver.url}/elsewhere"}))
    reply = post_to_target(receiver.url)
    assert not reply.is_ok
    assert reply.error == f"answered {status}: redirects are not followed"
    assert len(receiver.requests) == 1


def test_an_error_is_told_with_its_first_words(receiver: WebhookReceiver) -> None:
    receiver.script(ScriptedAnswer(503, b"busy\0", {"Retry-After": "30"}))
    reply = post_to_target(receiver.url)
    assert (reply.status, reply.error, reply.text) == (503, "answered 503", "busy")
    assert reply.retry_after == 30


@pytest.mark.parametrize("said", ["soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "9" * 40])
def test_a_retry_after_that_is_no_number_of_seconds_is_none(
    receiver: WebhookReceiver, said: str
) -> None:
    receiver.script(ScriptedAnswer(429, headers={"Retry-After": said}))
    assert post_to_target(receiver.url).retry_after == 0


def test_of_a_huge_reply_the_beginning_is_read(receiver: WebhookReceiver) -> None:
    receiver.script(ScriptedAnswer(200, b"x" * 5_000_000))
    reply = post_to_target(receiver.url)
    assert (reply.is_ok, len(reply.text)) == (True, MAX_REPLY_BYTES)


def test_a_slow_receiver_is_given_up(receiver: WebhookReceiver) -> None:
    receiver.script(ScriptedAnswer(hold=True))
    reply = post_to_target(receiver.url, timeout=0.2)
    assert (reply.status, reply.error) == (None, "no answer in time")


def test_a_receiver_that_drips_does_not_hold_the_sender_up(receiver: WebhookReceiver) -> None:
    """Each byte comes in time, and there is no end of them."""
    receiver.script(ScriptedAnswer(drips=True))
    reply = post_to_target(receiver.url, timeout=0.4)
    assert (reply.status, reply.error) == (None, "no answer in time")


def test_a_receiver_that_hangs_up(receiver: WebhookReceiver) -> None:
    receiver.script(ScriptedAnswer(hangs_up=True))
    reply = post_to_target(receiver.url)
    assert reply.status is None
    assert "no answer" in reply.error


def test_nobody_is_there(receiver: WebhookReceiver) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    assert "ConnectionRefusedError" in post_to_target(url).error


def test_https_is_asked_for_a_certificate(receiver: WebhookReceiver) -> None:
    reply = post_to_target(receiver.url.replace("http:", "https:"))
    assert reply.error.startswith("TLS: ")
    assert receiver.requests == []


def test_what_is_not_allowed_is_not_connected_to(receiver: WebhookReceiver) -> None:
    reply = post_to_target(receiver.url, allowed=())
    assert reply.error == "refused: 127.0.0.1 is 127.0.0.1, which is this machine itself"
    assert receiver.requests == []


def test_the_address_that_was_judged_is_the_one_connected_to(
    receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers otherwise the second time (DNS rebinding) is asked once."""
    answers = [["127.0.0.1"], ["169.254.169.254"]]

    def found(host: str, port: int, *args: Any, **more: Any) -> Any:
        if host != "hooks.example":
            return real(host, port, *args, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in answers.pop(0)]

    real: Any = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", found)
    reply = post_to_target(receiver.url.replace("127.0.0.1", "hooks.example"))
    assert reply.is_ok
    assert len(answers) == 1
    assert receiver.requests[0].headers["host"] == f"hooks.example:{receiver.port}"
