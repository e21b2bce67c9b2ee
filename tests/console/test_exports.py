"""Lists as files: the same rows as the page, safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryhub.console.frame import exports
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.quality.feedback import set_feedback
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import (
    make_call,
    make_event,
    make_job,
    make_member,
    make_recall,
    make_request,
)

LISTS = ("requests", "jobs", "usage", "recalls", "feedback", "changes")


def download_json(browser: Client, name: str, **query: str) -> list[dict[str, Any]]:
    answer = browser.get(reverse(name), {"format": "json", **query})
    rows: list[dict[str, Any]] = json.loads(read_content(answer))
    return rows


def download_csv(browser: Client, name: str, **query: str) -> list[list[str]]:
    answer = browser.get(reverse(name), {"format": "csv", **query})
    return list(csv.reader(io.StringIO(read_content(answer))))


def read_content(answer: HttpResponseBase) -> str:
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]  # a file


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("=HYPERLINK('x')", "'=HYPERLINK('x')"),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("a=1", "a=1"),
        ("", ""),
        (None, ""),
        (-2.5, -2.5),
        (True, True),
        (Decimal("1.50"), "1.50"),
        (Decimal("-1"), "'-1"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (datetime(2026, 5, 12, tzinfo=UTC), "2026-05-12T00:00:00Z"),
        (["a", 1], '["a", 1]'),
        ({"é": 1}, '{"é": 1}'),
    ],
)
def test_no_cell_is_a_formula(given: Any, shown: Any) -> None:
    assert exports.format_cell(given) == shown


def test_both_forms_tell_the_same(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_recall(world.space, 'what, "now"?\n=1+1', via="api", asked_by=str(world.key.id))
    rows, (head, *lines) = download_json(browser, "recalls"), download_csv(browser, "recalls")
    assert [list(row) for row in rows] == [head] * 2
    assert [line[head.index("query")] for line in lines] == [row["query"] for row in rows]
    assert rows[0]["asker"] == f"API key {world.key.name}"
    assert rows[0]["space_subject"] == world.space.subject


@pytest.mark.parametrize("name", LISTS)
def test_a_list_leads_to_its_files_with_the_filters_in_the_address(
    browser: Client, world: ConsoleWorld, name: str
) -> None:
    page = browser.get(reverse(name) + "?q=bees&page=1").content.decode()
    for form in exports.EXPORT_FORMATS:
        assert f'href="?q=bees&amp;format={form}" download' in page
    answer = browser.get(reverse(name) + "?format=csv")
    assert answer["Content-Type"] == exports.EXPORT_FORMATS["csv"]
    assert answer["Content-Disposition"].startswith("attachment;")
    assert download_csv(browser, name, q="nothing is like it")[1:] == []
    assert download_json(browser, name, q="nothing is like it") == []
    assert browser.get(reverse(name) + "?format=xls")["Content-Type"].startswith("text/html")


def test_a_file_has_all_pages_of_what_the_filters_leave(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_job(world.space, "dead", error=f"it broke {number}")
            make_job(world.space, "done")
    assert len(download_json(browser, "jobs", state="dead", q="broke", page="2")) == 30


@pytest.mark.parametrize("name", LISTS)
def test_a_file_takes_as_many_statements_for_few_rows_as_for_many(
    browser: Client,
    world: ConsoleWorld,
    name: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_job(world.space, "done")
            make_call(world.space)
            make_recall(world.space, f"bees {number}", via="api", asked_by=str(world.key.id))
            make_request(world.tenant, key_id=world.key.id)
            make_event(world.space, kind="manual", created_at=timezone.now())
            set_feedback(world.fact, "wrong", f"ida {number}", timezone.now())
    with django_assert_max_num_queries(14):
        assert len(download_json(browser, name)) >= 30


@pytest.mark.parametrize("name", LISTS)
def test_another_tenants_rows_are_in_no_file(
    browser: Client, world: ConsoleWorld, name: str
) -> None:
    other = make_world("Other")
    with tenant_scope(other.tenant.id):
        make_request(other.tenant, key_id=other.key.id)
        set_feedback(other.fact, "wrong", "ida", timezone.now())
    ids = {row["id"] for row in download_json(browser, name, state="all") if "id" in row}
    assert not ids & {
        str(row.id) for row in (other.job, other.call, other.recall, other.receipt, other.version)
    }
    assert not [row for row in download_json(browser, name) if row.get("row_id")]
    assert not [
        row for row in download_json(browser, name) if row.get("key_id") == str(other.key.id)
    ]


def test_words_of_calls_are_in_a_file_for_admins_who_ask_for_them(
    client: Client, browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_call(world.space, output="the secret plan", created_at=timezone.now())
    assert "the secret plan" not in str(download_json(browser, "usage"))
    assert "the secret plan" in str(download_json(browser, "usage", words="1"))
    client.force_login(make_member(world.tenant, Membership.Role.EDITOR))
    assert "the secret plan" not in str(download_json(client, "usage", words="1"))
