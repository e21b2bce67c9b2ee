"""Single rows of every kind, with what hangs on them, and what was held before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support import api_scene
from tests.support.factories import make_fact, make_trait

LISTS = {
    "sessions": "session",
    "turns": "turn",
    "facts": "fact",
    "notes": "note",
    "links": "link",
    "entities": "entity",
    "relations": "relation",
    "segments": "segment",
    "episodes": "episode",
    "traits": "trait",
    "blocks": "block",
    "events": "event",
    "conflicts": "conflict",
}


@pytest.fixture
def rows(tenant: Tenant) -> dict[str, Any]:
    return api_scene.make_row_of_every_kind(tenant)


def test_every_row_of_a_list_is_found_by_its_id(api: APIClient, rows: dict[str, Any]) -> None:
    for plural, name in LISTS.items():
        listed = api.get(api_scene.build_route_path(plural, rows, subject="ana")).json()
        assert listed["total"] == len(listed["items"]) > 0, plural
        shown = api.get(api_scene.build_route_path(name, rows, subject="ana"))
        assert shown.status_code == 200, name
        row = next(each for each in listed["items"] if each["id"] == shown.json()["id"])
        assert row.items() <= shown.json().items()
        assert shown["ETag"]


def test_a_memory_tells_what_it_rests_on(api: APIClient, rows: dict[str, Any]) -> None:
    for name in ("fact", "trait", "episode"):
        (source,) = api.get(api_scene.build_route_path(name, rows, subject="ana")).json()["sources"]
        assert source["turn_id"] == str(rows["turn"].id)
        assert source["text"] == "I play chess in Porto."
    made = api.get(api_scene.build_route_path("turn", rows, subject="ana")).json()["made"]
    assert {each["kind"] for each in made} == {"fact", "trait", "episode"}


def test_a_note_tells_its_links_from_either_side(api: APIClient, rows: dict[str, Any]) -> None:
    link, note = rows["link"], rows["note"]
    (told,) = api.get(api_scene.build_route_path("note", rows, subject="ana")).json()["links"]
    assert told["note_id"] == str(link.b_id if link.a_id == note.id else link.a_id)


def test_a_trait_says_in_words_what_its_level_means(
    api: APIClient, tenant: Tenant, rows: dict[str, Any]
) -> None:
    with tenant_scope(tenant.id):
        blunt = make_trait(rows["space"], "honesty", "high")
    listed = api.get("/api/v1/spaces/ana/traits").json()["items"]
    assert {row["key"]: row["words"] for row in listed} == {
        "honesty": "wants it said outright",
        "openness": "curious about the new",
    }
    one = api.get(f"/api/v1/spaces/ana/traits/{blunt.id}").json()
    assert one["words"] == "wants it said outright"


def test_traits_that_the_policy_switches_off_are_not_shown(
    api: APIClient, tenant: Tenant, rows: dict[str, Any]
) -> None:
    with tenant_scope(tenant.id):
        hidden = make_trait(rows["space"], "gender", "high")
    listed = api.get("/api/v1/spaces/ana/traits").json()
    assert [each["key"] for each in listed["items"]] == ["openness"]
    assert api.get(f"/api/v1/spaces/ana/traits/{hidden.id}").status_code == 404


def test_a_correction_has_versions_an_event_and_a_history(
    api: APIClient, rows: dict[str, Any]
) -> None:
    now = timezone.now()
    before = now - timedelta(seconds=1)
    new = corrections.correct_fact(rows["space"], rows["fact"].id, "Ana plays go", "eva", now).row
    path = api_scene.build_route_path("fact-versions", rows, subject="ana")
    assert [v["text"] for v in api.get(path).json()["items"]] == [
        "Ana plays go",
        "Ana plays chess in Porto",
    ]
    history = api.get("/api/v1/spaces/ana/history", {"filter": f'{{"row_id": "{new.id}"}}'}).json()
    (change,) = history["items"]
    assert (change["actor"], change["before"]) == ("eva", None)
    event = api.get(f"/api/v1/spaces/ana/events/{change['event_id']}").json()
    assert {each["row_type"] for each in event["changes"]} == {"fact"}
    assert event["undone_by"] is None
    since = api.get("/api/v1/spaces/ana/changes", {"since": before.isoformat(), "kind": "fact"})
    assert "Ana plays go" in since.content.decode()
    was = api.get("/api/v1/spaces/ana/as-of", {"at": now.isoformat(), "kind": "fact"})
    assert [each["values"]["text"] for each in was.json()["items"]] == ["Ana plays go"]
    assert (
        api.get("/api/v1/spaces/ana/as-of", {"at": before.isoformat(), "kind": "fact"}).json()[
            "items"
        ]
        == []
    )


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("as-of", "at"),
        ("as-of?at=then", "at"),
        ("as-of?at=2026-05-01T00:00:00Z&kind=thing", "kind"),
        ("as-of?at=2026-05-01T00:00:00Z&limit=0", "limit"),
        ("changes", "since"),
        ("changes?since=9999999999999999999", "since"),
        ("facts?as_of=1", "as_of"),
        ("facts?status=gone", "status"),
        ("facts?reverse=1", "reverse"),
    ],
)
def test_bad_parameters_are_named(
    api: APIClient, rows: dict[str, Any], path: str, field: str
) -> None:
    answer = api.get(f"/api/v1/spaces/ana/{path}")
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field


def test_ids_of_another_subject_are_not_found(
    api: APIClient, tenant: Tenant, rows: dict[str, Any]
) -> None:
    other = api_scene.make_row_of_every_kind(tenant, "rui")
    with tenant_scope(tenant.id):
        make_fact(rows["space"], "mine")
    for name in (*LISTS.values(), "fact-versions", "block-versions"):
        path = api_scene.build_route_path(name, other, subject="ana")
        assert api.get(path).status_code == 404, name
