"""What the log says of requests."""

from __future__ import annotations

import logging

import pytest
from django.test import Client

from memoryhub.observability.logs import name_route


@pytest.mark.django_db
def test_lines_about_requests_name_no_subject(client: Client) -> None:
    seen: list[logging.LogRecord] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)

    keeper = Keeper()
    keeper.addFilter(name_route)
    logger = logging.getLogger("django.request")
    logger.addHandler(keeper)
    try:
        client.get("/api/v1/spaces/zephyrine/erase")
        client.get("/nowhere/zephyrine")
    finally:
        logger.removeHandler(keeper)
    lines = [record.getMessage() for record in seen]
    assert len(lines) == 2
    assert not any("zephyrine" in line for line in lines)
    assert "subject" in lines[0]
