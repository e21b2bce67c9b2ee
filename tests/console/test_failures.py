"""What a person sees when a page fails."""

from __future__ import annotations

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from psycopg.errors import AdminShutdown, DiskFull, QueryCanceled

from tests.console.conftest import ConsoleWorld


def fail_with(error: Exception) -> OperationalError:
    """As Django's wrapper hands on what the driver raised."""
    made = OperationalError(str(error))
    made.__cause__ = error
    return made


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ValueError("a slip"), 500, "Something went wrong"),
        (fail_with(psycopg.OperationalError("no server")), 503, "The database is not answering"),
        (fail_with(AdminShutdown("going down")), 503, "The database is not answering"),
        (fail_with(QueryCanceled("took too long")), 500, "Something went wrong"),
        (fail_with(DiskFull("no room")), 507, "The disk is full"),
    ],
)
def test_a_failure_is_told_by_its_cause_with_the_request_to_look_for(
    browser: Client,
    world: ConsoleWorld,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    said: str,
) -> None:
    def fail(*args: object, **values: object) -> None:
        raise error

    monkeypatch.setattr("memoryhub.disk._full_since", None)
    monkeypatch.setattr("memoryhub.console.pages.spaces.views.render", fail)
    browser.raise_request_exception = False
    answer = browser.get(reverse("spaces"), headers={"X-Request-Id": "look-for-me"})
    page = answer.content.decode()
    assert answer.status_code == status
    assert f"<h1>{said}</h1>" in page
    assert "<code>look-for-me</code>" in page
    assert ">Try again</a>" in page
    assert str(error) not in page
