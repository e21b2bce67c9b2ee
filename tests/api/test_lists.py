"""What every list and every single row of the API can do: cursors, filters, fields, ETags."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support import api_scene
from tests.support.factories import MAY, make_fact, make_space, make_turns

FACTS = "/api/v1/spaces/ana/facts"


@pytest.fixture
def space(tenant: Tenant) -> Space:
    """With seven facts, a day apart; the first two ended."""
    with tenant_scope(tenant.id):
        made = make_space(tenant, "ana")
        for day in range(7):
            at = MAY + timedelta(days=day)
            over: dict[str, Any] = (
                {"valid_to": at + timedelta(hours=1), "status": "superseded"} if day < 2 else {}
            )
            over |= {"valid_from": at, "asserted_at": at, "confidence": day / 10}
            make_fact(made, f"fact {day}", **over)
    return made


def list_fact_texts(client: APIClient, **asked: Any) -> list[str]:
    answer = client.get(FACTS, asked)
    assert answer.status_code == 200, answer.content
    return [fact["text"] for fact in answer.json()["items"]]


def test_a_cursor_leads_through_all_pages_and_the_total_stays(api: APIClient, space: Space) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for size in (2, 2, 1):
        page = api.get(FACTS, {"limit": "2", **cursor}).json()
        assert (len(page["items"]), page["total"]) == (size, 5)
        seen += [fact["text"] for fact in page["items"]]
        cursor = {"cursor": page["next"]}
    assert page["next"] is None
    assert seen == [f"fact {day}" for day in (6, 5, 4, 3, 2)]


def test_rows_of_one_moment_are_neither_lost_nor_told_twice(api: APIClient, space: Space) -> None:
    with tenant_scope(space.tenant_id):
        for n in range(5):
            make_fact(space, f"same {n}", asserted_at=MAY + timedelta(days=9))
    seen: list[str] = []
    path = f"{FACTS}?limit=3"
    while path:
        page = api.get(path).json()
        seen += [fact["id"] for fact in page["items"]]
        path = page["next"] and f"{FACTS}?limit=3&cursor={page['next']}"
    assert len(seen) == len(set(seen)) == 10


def test_what_is_written_meanwhile_moves_no_page(api: APIClient, space: Space) -> None:
    first = api.get(FACTS, {"limit": 2}).json()
    with tenant_scope(space.tenant_id):
        make_fact(space, "newer", asserted_at=MAY + timedelta(days=30))
    assert list_fact_texts(api, limit=2, cursor=first["next"]) == ["fact 4", "fact 3"]


def test_the_order_can_be_turned_round(api: APIClient, space: Space) -> None:
    page = api.get(f"{FACTS}?limit=2&reverse=true").json()
    assert [fact["text"] for fact in page["items"]] == ["fact 2", "fact 3"]
    assert list_fact_texts(api, limit=2, reverse="true", cursor=page["next"]) == [
        "fact 4",
        "fact 5",
    ]
    wrong = api.get(FACTS, {"cursor": page["next"]})  # of the list the other way round
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["field"] == "cursor"


def test_only_the_columns_asked_for_are_shown(api: APIClient, space: Space) -> None:
    page = api.get(f"{FACTS}?fields=text,id&limit=1").json()
    assert set(page["items"][0]) == {"id", "text"}
    wrong = api.get(FACTS, {"fields": "text,password"})
    assert wrong.status_code == 422
    assert "'password'" in wrong.json()["detail"]


def test_what_was_so_is_told_when_asked_for(api: APIClient, space: Space) -> None:
    assert len(list_fact_texts(api, status="all")) == 7
    assert list_fact_texts(api, as_of=(MAY + timedelta(minutes=30)).isoformat()) == ["fact 0"]
    both = api.get(FACTS, {"status": "all", "as_of": MAY.isoformat()})
    assert both.json()["errors"][0]["field"] == "as_of"


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        ({"text": "fact 3"}, ["fact 3"]),
        ({"text": ["fact 3", "fact 5"]}, ["fact 5", "fact 3"]),
        ({"confidence": {"gte": 0.4, "lt": 0.6}}, ["fact 5", "fact 4"]),
        ({"OR": [{"text": "fact 2"}, {"text": {"icontains": "FACT 6"}}]}, ["fact 6", "fact 2"]),
        ({"NOT": {"confidence": {"gt": 0.25}}}, ["fact 2"]),
        ({"AND": [{"valid_from": {"lt": "2026-05-15T00:00:00Z"}}, {"pinned": False}]}, ["fact 2"]),
        ({"supersedes": "*"}, []),
        ({"id": "00000000-0000-4000-8000-000000000000"}, []),
    ],
    ids=str,
)
def test_filters_join_conditions(
    api: APIClient, space: Space, filter_: dict[str, Any], found: list[str]
) -> None:
    assert list_fact_texts(api, filter=json.dumps(filter_)) == found


BAD_FILTERS = [
    "",
    "{",
    "[]",
    "7",
    '{"text": 7}',
    '{"text": {"near": "x"}}',
    '{"text": "a\\u0000b"}',
    '{"text": "\\ud800"}',
    '{"nothing": 1}',
    '{"space__tenant__slug": "one"}',
    '{"confidence": NaN}',
    '{"confidence": 1e999}',
    '{"mention_count": 123456789012345678901234567890}',
    '{"id": "17"}',
    '{"asserted_at": {"gt": "yesterday"}}',
    '{"OR": []}',
    '{"OR": {"text": "x"}}',
    '{"NOT": 1}',
    '{"AND": ' * 30 + "{}" + "}" * 30,
    json.dumps({"text": "x" * 9000}),
    json.dumps({"OR": [{"text": "x"}] * 150}),
]


@pytest.mark.parametrize("given", BAD_FILTERS, ids=range(len(BAD_FILTERS)))
def test_a_filter_that_means_nothing_is_refused(api: APIClient, space: Space, given: str) -> None:
    answer = api.get(FACTS, {"filter": given})
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"].startswith("filter")


@pytest.mark.parametrize(
    "given", ["", "x", "W10", "WyJ4Il0", "bnVsbA", "é", "W10" * 400, "WzEsMl0", "MTc"]
)
def test_a_cursor_of_elsewhere_is_refused(api: APIClient, space: Space, given: str) -> None:
    answer = api.get(FACTS, {"cursor": given})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "cursor"


def test_a_row_has_an_etag_and_is_not_sent_twice(api: APIClient, space: Space) -> None:
    row = api.get(FACTS, {"limit": 1}).json()["items"][0]
    first = api.get(f"{FACTS}/{row['id']}")
    assert first.json()["text"] == "fact 6"
    again = api.get(f"{FACTS}/{row['id']}", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    other = api.get(f"{FACTS}/{row['id']}", headers={"If-None-Match": '"0.0"'})
    assert other.status_code == 200


def test_a_list_takes_as_many_queries_for_one_row_as_for_many(
    api: APIClient, tenant: Tenant, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = api_scene.make_row_of_every_kind(tenant, "rui")
    names = ("turns", "facts", "events", "fact", "spaces", "space")
    # The key's last use is written once in a while, and this may take a minute.
    monkeypatch.setattr("api.core.authentication._USE_INTERVAL", timedelta(days=1))
    api.get("/api/v1/spaces")
    before = {
        name: _count_queries(api, api_scene.build_route_path(name, rows, subject="rui"))
        for name in names
    }
    with tenant_scope(tenant.id):
        rui = Space.objects.get(subject="rui")
        make_turns(rui, *(f"line {n}" for n in range(20)))
        for n in range(20):
            make_fact(rui, f"rui {n}")
    after = {
        name: _count_queries(api, api_scene.build_route_path(name, rows, subject="rui"))
        for name in names
    }
    assert before == after


def _count_queries(api: APIClient, path: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert api.get(path).status_code == 200
    return len(caught)


def test_a_subject_may_have_slashes_and_be_named_by_its_id(api: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "team/ana")
        make_fact(space, "slashed")
    for name in ("team/ana", "team%2Fana", str(space.id)):
        page = api.get(f"/api/v1/spaces/{name}/facts").json()
        assert [fact["text"] for fact in page["items"]] == ["slashed"]
        assert api.get(f"/api/v1/spaces/{name}").json()["subject"] == "team/ana"
    assert api.get("/api/v1/spaces/team").status_code == 404


def test_a_subject_is_told_with_its_counts(api: APIClient, space: Space) -> None:
    counts = api.get("/api/v1/spaces/ana").json()["counts"]
    assert counts["facts"] == 5
    assert counts["turns"] == 0


@pytest.mark.parametrize("path", [FACTS, "/api/v1/jobs", "/api/v1/usage"])
def test_a_parameter_that_is_none_is_refused_by_its_name(
    api: APIClient, space: Space, path: str
) -> None:
    answer = api.get(path, {"lmit": "3"})
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == "lmit"
    assert api.post("/api/v1/search?limit=3", {}, "json").json()["errors"][0]["field"] == "limit"


def test_who_may_not_ask_is_not_told_the_parameters(client: Any, space: Space) -> None:
    assert client.get(FACTS, {"lmit": "3"}).status_code == 401


def query_fact_texts(client: APIClient, **asked: Any) -> list[str]:
    answer = client.post(f"{FACTS}/query", asked, format="json")
    assert answer.status_code == 200, answer.content
    return [fact["text"] for fact in answer.json()["items"]]


def test_a_list_asked_for_in_a_body_is_the_same(api: APIClient, space: Space) -> None:
    assert api.post(f"{FACTS}/query").json() == api.get(FACTS).json()
    of_body = {"status": "all", "reverse": True, "limit": 2, "fields": ["text", "owner"]}
    of_address = {"status": "all", "reverse": "true", "limit": "2", "fields": "text,owner"}
    page = api.post(f"{FACTS}/query", of_body, format="json").json()
    assert page == api.get(FACTS, of_address).json()
    assert query_fact_texts(api, **of_body, cursor=page["next"]) == ["fact 2", "fact 3"]
    assert len(query_fact_texts(api, **of_body | {"limit": 2.0})) == 2
    then = MAY + timedelta(minutes=30)
    for at in (then.isoformat(), int(then.timestamp())):
        assert query_fact_texts(api, as_of=at) == ["fact 0"]


def test_a_filter_by_what_no_list_of_ids_can_hold_is_refused(api: APIClient, space: Space) -> None:
    answer = api.get(
        FACTS.replace("facts", "conflicts"), {"filter": json.dumps({"turn_ids": "Porto"})}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "filter"


def test_a_filter_too_long_for_an_address_goes_into_a_body(api: APIClient, space: Space) -> None:
    texts = [f"fact {number}" for number in range(3, 400)]
    wanted = {"OR": [{"text": texts}, {"text": {"in": [text * 100 for text in texts]}}]}
    assert query_fact_texts(api, filter=wanted) == ["fact 6", "fact 5", "fact 4", "fact 3"]
    refused = api.get(FACTS, {"filter": json.dumps(wanted)})
    assert refused.status_code == 422
    assert "/query" in refused.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"limit": "5"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 201}, "limit"),
        ({"reverse": "true"}, "reverse"),
        ({"fields": "text"}, "fields"),
        ({"fields": []}, "fields"),
        ({"fields": ["text,owner"]}, "fields"),
        ({"fields": ["colour"]}, "fields"),
        ({"status": None}, "status"),
        ({"filter": '{"text": "fact 1"}'}, "filter"),
        ({"filter": {"text": 1}}, "filter.text"),
        ({"cursor": "x"}, "cursor"),
        ({"as_of": "2026-05-12", "status": "all"}, "as_of"),
    ],
)
def test_a_body_that_asks_for_no_list_is_refused(
    api: APIClient, space: Space, asked: dict[str, Any], field: str
) -> None:
    answer = api.post(f"{FACTS}/query", asked, format="json")
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field
