"""Items over the API: kept verbatim, found by key, value, meaning and namespace."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.engines import registry
from memoryhub.errors import EngineError
from memoryhub.items import queries
from memoryhub.items.models import Item, ItemText
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, ensure_space
from tests.support.hub import TableEmbedder

NS = ["memories", "ana"]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> TableEmbedder:
    made = TableEmbedder()
    monkeypatch.setattr(registry, "get_embedder", lambda settings: made)
    return made


@pytest.fixture
def tenant(db: None, embedder: TableEmbedder) -> Tenant:
    return create_tenant("One", "one")


def make_key_client(tenant: Tenant, *scopes: str, space: Space | None = None) -> APIClient:
    _, key = create_key(tenant, "items", scopes or ("read", "write"), space=space)
    return APIClient(headers={"Authorization": f"Bearer {key}"})


@pytest.fixture
def api(tenant: Tenant) -> APIClient:
    return make_key_client(tenant)


def put_items(api: APIClient, *items: dict[str, Any], **headers: Any) -> Any:
    given = [{"subject": "ana", "namespace": NS, **item} for item in items]
    # As ASCII, so that halves of characters can be sent too.
    body = json.dumps({"items": given})
    return api.post("/api/v1/items/write", body, content_type="application/json", headers=headers)


def read_items(api: APIClient, **op: Any) -> Any:
    answer = api.post("/api/v1/items/read", {"ops": [op]}, format="json")
    assert answer.status_code == 200, answer.content
    return answer.json()["results"][0]


def get_item(api: APIClient, key: str, **more: Any) -> Any:
    return read_items(api, get={"subject": "ana", "namespace": NS, "key": key, **more})


def search_keys(api: APIClient, **search: Any) -> list[str]:
    return [item["key"] for item in read_items(api, search=search)]


def test_a_value_comes_back_as_it_was_and_anew_after_it_is_written_over(api: APIClient) -> None:
    value = {"text": " Ana\n", "n": 1.5, "deep": {"list": [1, None, True, "ü"]}, "": {}}
    assert put_items(api, {"key": "k", "value": value}).json() == {"changed": 1}
    first = get_item(api, "k")
    assert (first["value"], first["version"], first["namespace"]) == (value, 1, NS)
    put_items(api, {"key": "k", "value": {"other": 1}})
    second = get_item(api, "k")
    assert (second["value"], second["version"], second["id"]) == ({"other": 1}, 2, first["id"])
    assert second["created_at"] == first["created_at"]
    assert second["updated_at"] > first["updated_at"]


def test_what_is_not_there_is_null_and_taken_away_twice_is_no_error(api: APIClient) -> None:
    assert get_item(api, "k") is None
    put_items(api, {"key": "k", "value": {"a": 1}})
    assert put_items(api, {"key": "k", "value": None}).json() == {"changed": 1}
    assert put_items(api, {"key": "k", "value": None}).json() == {"changed": 0}
    assert get_item(api, "k") is None


def test_of_two_writes_at_a_place_the_last_counts(api: APIClient) -> None:
    put_items(api, {"key": "k", "value": {"a": 1}}, {"key": "k", "value": {"a": 2}})
    assert (get_item(api, "k")["value"], get_item(api, "k")["version"]) == ({"a": 2}, 1)


def test_a_write_happens_once_for_a_key(api: APIClient) -> None:
    put_items(api, {"key": "k", "value": {"a": 1}}, **{"Idempotency-Key": "one"})
    again = put_items(api, {"key": "k", "value": {"a": 1}}, **{"Idempotency-Key": "one"})
    assert again.headers["Idempotent-Replayed"] == "true"
    assert get_item(api, "k")["version"] == 1


def test_the_nearest_comes_first_and_what_has_no_text_last(
    api: APIClient, embedder: TableEmbedder
) -> None:
    embedder.table = {"fish": [1.0, 0.0], "trains": [0.0, 1.0], "what to eat": [0.9, 0.1]}
    put_items(
        api,
        {"key": "trip", "value": {"text": "likes trains"}},
        {"key": "food", "value": {"text": "likes fish", "sort": "diet"}},
        {"key": "hidden", "value": {"text": "fish too"}, "texts": []},
    )
    found = read_items(api, search={"prefix": ["memories"], "query": "what to eat"})
    assert [item["key"] for item in found] == ["food", "trip", "hidden"]
    assert found[0]["score"] == pytest.approx(0.994, abs=0.01)
    assert found[2]["score"] is None
    assert search_keys(api, query="what to eat", filter={"sort": "diet"}) == ["food"]
    assert search_keys(api, query="what to eat", limit=1, offset=1) == ["trip"]


def test_an_item_is_as_near_as_its_nearest_text(api: APIClient, embedder: TableEmbedder) -> None:
    embedder.table = {"fish": [1.0, 0.0], "trains": [0.0, 1.0], "asked": [1.0, 0.0]}
    put_items(api, {"key": "both", "value": {}, "texts": ["trains", "fish", " "]})
    (found,) = read_items(api, search={"query": "asked"})
    assert found["score"] == pytest.approx(1.0, abs=0.001)


VALUES = {
    "one": {"n": 1, "s": "a", "deep": {"x": 1, "y": 2}, "list": [1, 2]},
    "two": {"n": 2.5, "s": "b", "deep": {"x": 2}, "flag": True},
    "text": {"n": "10", "none": None},
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"one", "two", "text"}),
        ({"n": 1}, {"one"}),
        ({"n": {"$eq": 2.5}}, {"two"}),
        ({"n": {"$ne": 1}}, {"two", "text"}),
        ({"n": {"$gt": 1}}, {"two"}),
        ({"n": {"$gte": 1, "$lt": 2}}, {"one"}),
        ({"n": {"$lte": 2.5}}, {"one", "two"}),
        ({"n": {"$gt": "1"}}, {"text"}),
        ({"s": {"$lt": "b"}}, {"one"}),
        ({"deep": {"x": 1}}, {"one"}),
        ({"deep": {"x": {"$gte": 1}}}, {"one", "two"}),
        ({"list": [1, 2]}, {"one"}),
        ({"list": [1]}, set()),
        ({"flag": True}, {"two"}),
        ({"flag": {"$ne": True}}, {"one", "text"}),
        ({"none": None}, {"text"}),
        ({"n": 1, "s": "b"}, set()),
        ({"nothing' OR 1=1 --": 1}, set()),
        ({"a%s": "%s"}, set()),
    ],
)
def test_values_are_compared_by_kind(
    api: APIClient, wanted: dict[str, Any], found: set[str]
) -> None:
    put_items(api, *({"key": key, "value": value} for key, value in VALUES.items()))
    assert set(search_keys(api, filter=wanted)) == found


PLACES = [["a"], ["a", "b"], ["a", "b", "c"], ["a", "x", "c"], ["z", "c"], ["A"]]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [["A"], ["a"], ["a", "b"], ["a", "b", "c"], ["a", "x", "c"], ["z", "c"]]),
        ({"prefix": ["a", "b"]}, [["a", "b"], ["a", "b", "c"]]),
        ({"prefix": ["*", "b"]}, [["a", "b"], ["a", "b", "c"]]),
        ({"suffix": ["c"]}, [["a", "b", "c"], ["a", "x", "c"], ["z", "c"]]),
        ({"suffix": ["*", "c"], "prefix": ["a"]}, [["a", "b", "c"], ["a", "x", "c"]]),
        ({"max_depth": 2, "prefix": ["a"]}, [["a"], ["a", "b"], ["a", "x"]]),
        ({"limit": 2, "offset": 1}, [["a"], ["a", "b"]]),
        ({"prefix": ["a", "b", "c", "d"]}, []),
    ],
)
def test_namespaces_are_told_in_order(
    api: APIClient, asked: dict[str, Any], found: list[list[str]]
) -> None:
    put_items(api, *({"namespace": place, "key": "k", "value": {}} for place in PLACES))
    assert read_items(api, namespaces=asked) == found


def test_a_prefix_ends_at_a_label(api: APIClient) -> None:
    put_items(api, {"namespace": ["user"], "key": "k", "value": {}})
    put_items(api, {"namespace": ["users"], "key": "other", "value": {}})
    assert search_keys(api, prefix=["user"]) == ["k"]


def test_what_outlived_its_time_is_gone_for_every_reader(api: APIClient, tenant: Tenant) -> None:
    put_items(api, {"key": "short", "value": {}, "ttl_minutes": 5}, {"key": "long", "value": {}})
    assert get_item(api, "short")["expires_at"]
    with tenant_scope(tenant.id):
        Item.objects.filter(key="short").update(expires_at=timezone.now() - timedelta(seconds=1))
    assert get_item(api, "short") is None
    assert search_keys(api) == ["long"]
    listed = api.get("/api/v1/spaces/ana/items").json()
    assert [item["key"] for item in listed["items"]] == ["long"]
    put_items(api, {"key": "another", "value": {}})
    with tenant_scope(tenant.id):
        assert not Item.objects.filter(key="short").exists()


def test_reading_lengthens_a_life_unless_told_not_to(api: APIClient, tenant: Tenant) -> None:
    put_items(api, {"key": "k", "value": {}, "ttl_minutes": 5})
    soon = timezone.now() + timedelta(seconds=30)

    def ends_after(**op: Any) -> bool:
        with tenant_scope(tenant.id):
            Item.objects.update(expires_at=soon)
        assert read_items(api, **op)
        with tenant_scope(tenant.id):
            ends = Item.objects.get().expires_at
        return ends is not None and ends > soon

    place = {"subject": "ana", "namespace": NS, "key": "k"}
    assert ends_after(get=place)
    assert ends_after(search={})
    assert not ends_after(get={**place, "refresh_ttl": False})
    assert not ends_after(search={"refresh_ttl": False})


def test_what_was_written_while_the_embedder_was_down_is_found_when_it_is_back(
    api: APIClient, tenant: Tenant, embedder: TableEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(texts: Any) -> Any:
        raise EngineError("no embedder")

    with monkeypatch.context() as broken:
        broken.setattr(embedder, "embed", down)
        assert put_items(api, {"key": "k", "value": {"text": "likes fish"}}).status_code == 200
        body = {"ops": [{"search": {"query": "fish"}}]}
        assert api.post("/api/v1/items/read", body, format="json").status_code == 503
    assert read_items(api, search={"query": "fish"})[0]["score"] > 0
    with tenant_scope(tenant.id):
        assert ItemText.objects.get().model == "table"


def test_another_embedder_makes_its_own_vectors(
    api: APIClient, tenant: Tenant, embedder: TableEmbedder
) -> None:
    put_items(api, {"key": "k", "value": {"text": "likes fish"}})
    embedder.name, embedder.dimension = "other", 32
    assert read_items(api, search={"query": "fish"})[0]["score"] > 0


def test_reads_of_several_kinds_are_answered_in_order(api: APIClient) -> None:
    put_items(api, {"key": "k", "value": {"a": 1}})
    place = {"subject": "ana", "namespace": NS, "key": "k"}
    ops = [
        {"namespaces": {}},
        {"get": place},
        {"search": {}},
        {"get": {**place, "key": "no"}},
        {"get": {**place, "subject": "nobody"}},
        {"search": {"subject": "nobody"}},
    ]
    results = api.post("/api/v1/items/read", {"ops": ops}, format="json").json()["results"]
    assert results[0] == [NS]
    assert results[1]["value"] == {"a": 1}
    assert [item["key"] for item in results[2]] == ["k"]
    assert results[3:] == [None, None, []]


def test_a_hundred_gets_take_as_many_statements_as_one(
    api: APIClient, one_long_minute: None, django_assert_max_num_queries: Any
) -> None:
    put_items(api, *({"key": str(n), "value": {}} for n in range(100)))
    ops = [{"get": {"subject": "ana", "namespace": NS, "key": str(n)}} for n in range(100)]
    with django_assert_max_num_queries(25):
        results = api.post("/api/v1/items/read", {"ops": ops}, format="json").json()["results"]
    assert all(results)


def test_other_tenants_and_other_subjects_are_out_of_reach(api: APIClient, tenant: Tenant) -> None:
    put_items(api, {"key": "k", "value": {"text": "fish"}})
    other = make_key_client(create_tenant("Two", "two"))
    assert get_item(other, "k") is None
    assert search_keys(other, query="fish") == []
    assert read_items(other, namespaces={}) == []
    put_items(api, {"subject": "rui", "key": "k", "value": {}})
    with tenant_scope(tenant.id):
        bound = make_key_client(tenant, "read", "write", space=ensure_space(tenant.id, "rui"))
    assert get_item(bound, "k") is None
    assert len(read_items(bound, search={})) == 1
    assert put_items(bound, {"key": "k", "value": {}}).status_code == 404
    assert put_items(bound, {"subject": "rui", "key": "k", "value": None}).json() == {"changed": 1}
    assert get_item(api, "k")


def test_a_reading_key_may_not_write(tenant: Tenant) -> None:
    reading = make_key_client(tenant, "read")
    assert put_items(reading, {"key": "k", "value": {}}).status_code == 403
    assert search_keys(reading) == []


def test_items_go_with_their_subject(api: APIClient, tenant: Tenant) -> None:
    put_items(api, {"key": "k", "value": {"text": "fish"}})
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="ana")
    execute_erasure(space, ErasureTarget("subject"), "test", timezone.now())
    assert get_item(api, "k") is None
    with tenant_scope(tenant.id):
        assert not ItemText.objects.exists()


def test_items_are_listed_with_filters_and_read_with_an_etag(api: APIClient) -> None:
    put_items(api, {"key": "a", "value": {"n": 1}}, {"key": "b", "value": {"n": 2}})
    listed = api.get("/api/v1/spaces/ana/items", {"filter": '{"key": "a"}'}).json()
    assert (listed["total"], listed["items"][0]["value"]) == (1, {"n": 1})
    one = api.get(f"/api/v1/spaces/ana/items/{listed['items'][0]['id']}")
    assert one.headers["ETag"].startswith('"1.')


BAD_ITEMS = [
    ({"namespace": []}, "items[0].namespace"),
    ({"namespace": ["a"] * 21}, "items[0].namespace"),
    ({"namespace": [""]}, "items[0].namespace[0]"),
    ({"namespace": ["a\0"]}, "items[0].namespace[0]"),
    ({"namespace": [["a"]]}, "items[0].namespace[0]"),
    ({"namespace": ["a" * 201]}, "items[0].namespace[0]"),
    ({"key": ""}, "items[0].key"),
    ({"key": "\0"}, "items[0].key"),
    ({"key": "\ud800"}, "items[0].key"),
    ({"key": "k" * 501}, "items[0].key"),
    ({"subject": " "}, "subject"),
    ({"value": [1]}, "items[0].value"),
    ({"value": {"a": "\0"}}, "items[0].value"),
    ({"value": {"a": "x" * 70_000}}, "items[0].value"),
    ({"texts": [1.5, {}]}, "items[0].texts[1]"),
    ({"texts": ["a"] * 101}, "items[0].texts"),
    ({"ttl_minutes": 0}, "items[0].ttl_minutes"),
    ({"ttl_minutes": -1}, "items[0].ttl_minutes"),
    ({"ttl_minutes": "inf"}, "items[0].ttl_minutes"),
    ({"ttl_minutes": "nan"}, "items[0].ttl_minutes"),
]


@pytest.mark.parametrize(("bad", "field"), BAD_ITEMS)
def test_a_bad_item_is_refused_by_its_field(
    api: APIClient, bad: dict[str, Any], field: str
) -> None:
    answer = put_items(api, {"key": "k", "value": {}, **bad})
    assert answer.status_code == 422, answer.content
    assert field in [each["field"] for each in answer.json()["errors"]]
    assert search_keys(api) == []


BAD_OPS = [
    ({"search": {"limit": "3"}}, "ops[0].search.limit"),
    ({"search": {"refresh_ttl": "yes"}}, "ops[0].search.refresh_ttl"),
    ({"search": {"prefix": [7]}}, "ops[0].search.prefix[0]"),
    ({"namespaces": {"max_depth": True}}, "ops[0].namespaces.max_depth"),
    ({"get": {"subject": "a", "namespace": ["a"], "key": "k\0"}}, "ops[0].get.key"),
    ({}, "ops[0]"),
    ({"get": {"subject": "a", "namespace": ["a"], "key": "k"}, "search": {}}, "ops[0]"),
    ({"get": {}}, "ops[0].get.key"),
    ({"search": {"limit": 0}}, "ops[0].search.limit"),
    ({"search": {"limit": 1001}}, "ops[0].search.limit"),
    ({"search": {"offset": -1}}, "ops[0].search.offset"),
    ({"search": {"filter": []}}, "ops[0].search.filter"),
    ({"search": {"filter": {"a": {"$regex": "x"}}}}, "filter.a"),
    ({"search": {"filter": {"a": {"$gt": [1]}}}}, "filter.a.$gt"),
    ({"search": {"filter": {str(n): n for n in range(60)}}}, "filter"),
    ({"namespaces": {"max_depth": 0}}, "ops[0].namespaces.max_depth"),
]


@pytest.mark.parametrize(("op", "field"), BAD_OPS)
def test_a_bad_operation_is_refused_by_its_field(
    api: APIClient, op: dict[str, Any], field: str
) -> None:
    answer = api.post("/api/v1/items/read", {"ops": [op]}, format="json")
    assert answer.status_code == 422, answer.content
    assert field in [each["field"] for each in answer.json()["errors"]]


@pytest.mark.parametrize("count", [0, 101])
def test_there_are_one_to_a_hundred(api: APIClient, count: int) -> None:
    items = [{"key": str(n), "value": {}} for n in range(count)]
    assert put_items(api, *items).json()["errors"][0]["field"] == "items"
    ops: list[dict[str, Any]] = [{"search": {}}] * count
    answer = api.post("/api/v1/items/read", {"ops": ops}, format="json")
    assert answer.json()["errors"][0]["field"] == "ops"


def test_as_many_texts_as_there_are_get_vectors_before_a_search(
    api: APIClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_FILLED_TEXTS", 2)
    put_items(api, *({"key": str(n), "value": {"text": f"fish {n}"}} for n in range(3)))
    with tenant_scope(tenant.id):
        ItemText.objects.update(model="", embedding=None)
    scores = [item["score"] for item in read_items(api, search={"query": "fish"})]
    assert [score is None for score in scores] == [False, False, True]
