"""Why a key did something, and If-Match, on writes that are about no fact, note or block."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Receipt
from tests.support import api_scene
from tests.support.factories import make_proposal

S = "/api/v1/spaces/ana"
TRAIT, HOME = {"key": "openness"}, {"key": "home_town"}


@pytest.fixture
def rows(tenant: Tenant) -> dict[str, Any]:
    return api_scene.make_row_of_every_kind(tenant)


def post_write(client: APIClient, path: str, body: Any = None, **headers: str) -> Any:
    return client.post(f"{S}/{path}", body or {}, format="json", headers=headers)


def post_accepted_write(
    client: APIClient, path: str, body: Any = None, **headers: str
) -> dict[str, Any]:
    answer = post_write(client, path, body, **headers)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def get_latest_event(tenant: Tenant) -> EvolutionEvent:
    with tenant_scope(tenant.id):
        return EvolutionEvent.objects.order_by("created_at", "id").last() or pytest.fail("none")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("traits/set", TRAIT | {"level": "low"}),
        ("traits/set", TRAIT | {"level": ""}),
        ("profile/set", HOME | {"value": "Rome"}),
        ("profile/set", HOME | {"value": ""}),
    ],
    ids=str,
)
def test_a_persona_is_set_for_a_reason(
    api: APIClient, rows: dict[str, Any], tenant: Tenant, path: str, body: dict[str, Any]
) -> None:
    post_accepted_write(api, path, body | {"reason": "she said so"})
    assert get_latest_event(tenant).reason == "she said so"


def test_what_has_no_version_takes_no_if_match_and_is_not_done(
    api: APIClient, client_of: Any, rows: dict[str, Any], tenant: Tenant
) -> None:
    admin = client_of(tenant, "admin")
    writes: dict[str, dict[str, Any]] = {
        "traits/set": TRAIT | {"level": "low"},
        "profile/set": HOME | {"value": "Rome"},
        f"conflicts/{rows['conflict'].id}/decide": {"answer": "keep"},
        "erase": {"target": "facts", "ids": [str(rows["fact"].id)]},
    }
    before = get_latest_event(tenant)
    for path, body in writes.items():
        refused = post_write(admin, path, body, **{"If-Match": '"1"'})
        assert refused.status_code == 422, path
        assert refused.json()["errors"][0]["field"] == "If-Match"
    assert get_latest_event(tenant).id == before.id
    assert api.get(f"{S}/conflicts/{rows['conflict'].id}").json()["state"] == "open"


def test_an_if_match_that_names_nothing_is_refused_and_changes_nothing(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    before = get_latest_event(tenant)
    for named in ("", " ", '""'):
        refused = post_write(api, f"facts/{rows['fact'].id}/pin", {}, **{"If-Match": named})
        assert refused.status_code == 422, named
        assert refused.json()["errors"][0]["field"] == "If-Match"
    assert get_latest_event(tenant).id == before.id


def test_a_golden_question_is_changed_for_a_reason_and_by_version(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    expected = [{"kind": "fact", "id": str(rows["fact"].id)}]
    asked = {"text": "Which game?", "expected": expected}
    made = post_accepted_write(api, "golden/new", asked | {"reason": "asked often"})[
        "golden_question"
    ]
    assert get_latest_event(tenant).reason == "asked often"
    path = f"golden/{made['id']}"
    etag = api.get(f"{S}/{path}")["ETag"]
    changed = asked | {"text": "What is played?", "reason": "clearer"}
    post_accepted_write(api, f"{path}/change", changed, **{"If-Match": etag})
    assert get_latest_event(tenant).reason == "clearer"
    for verb, body in (("change", asked), ("remove", {})):
        late = post_write(api, f"{path}/{verb}", body, **{"If-Match": etag})
        assert (late.status_code, late.json()["version"]) == (412, 2), verb
    assert api.get(f"{S}/{path}").json()["text"] == "What is played?"
    post_accepted_write(api, f"{path}/remove", {"reason": "settled"}, **{"If-Match": '"2"'})
    assert get_latest_event(tenant).reason == "settled"


def test_an_undo_and_a_roll_back_tell_the_callers_reason(
    client_of: Any, rows: dict[str, Any], tenant: Tenant
) -> None:
    admin = client_of(tenant, "admin")
    post_accepted_write(admin, f"facts/{rows['fact'].id}/pin")
    first = get_latest_event(tenant)
    post_accepted_write(admin, f"events/{first.id}/undo", {"reason": "read wrongly"})
    undone = get_latest_event(tenant)
    assert (undone.kind, undone.reason) == ("undo", "read wrongly")
    post_accepted_write(admin, f"events/{undone.id}/undo")
    assert get_latest_event(tenant).reason == "brought back what had been undone"
    redone = get_latest_event(tenant)
    back = redone.created_at.isoformat()
    post_accepted_write(admin, f"facts/{rows['note'].id}/pin".replace("facts", "notes"))
    post_accepted_write(admin, "roll-back", {"to": back, "reason": "a bad day"})
    assert get_latest_event(tenant).reason == "a bad day"


def test_a_decision_is_kept_with_its_reason(
    api: APIClient, client_of: Any, rows: dict[str, Any], tenant: Tenant
) -> None:
    kept = {"answer": "keep", "reason": "both are so"}
    told = post_accepted_write(api, f"conflicts/{rows['conflict'].id}/decide", kept)["conflict"]
    assert (told["state"], told["decided_because"]) == ("rejected", "both are so")
    with tenant_scope(tenant.id):
        wish = make_proposal(
            rows["space"],
            kind="erase",
            row_id=rows["fact"].id,
            row_type="fact",
            dedupe_key="wish",
        )
    erase = {"answer": "erase", "reason": "by letter"}
    post_write(client_of(tenant, "admin"), f"conflicts/{wish.id}/decide", erase)
    with tenant_scope(tenant.id):
        assert Receipt.objects.order_by("created_at").last().reason == "by letter"  # type: ignore[union-attr]  # there is one


def test_a_refused_decision_leaves_no_reason_behind(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        bare = make_proposal(
            rows["space"],
            kind="overwrite",
            row_id=rows["fact"].id,
            row_type="fact",
            payload={},
            dedupe_key="bare",
        )
    path = f"conflicts/{bare.id}"
    refused = post_write(api, f"{path}/decide", {"answer": "apply", "reason": "why not"})
    assert refused.status_code == 422
    shown = api.get(f"{S}/{path}").json()
    assert (shown["state"], shown["decided_because"]) == ("open", "")


def test_reasons_have_an_end(api: APIClient, rows: dict[str, Any]) -> None:
    long = {"reason": "x" * 501}
    writes: dict[str, dict[str, Any]] = {
        "traits/set": TRAIT | {"level": "low"},
        "profile/set": HOME | {"value": "Rome"},
        f"events/{rows['event'].id}/undo": {},
        f"conflicts/{rows['conflict'].id}/decide": {"answer": "keep"},
        "golden/new": {"text": "?", "expected": [{"kind": "fact", "id": str(rows["fact"].id)}]},
    }
    for path, body in writes.items():
        answer = post_write(api, path, body | long)
        assert answer.status_code == 422, path
        assert answer.json()["errors"][0]["field"] == "reason"


def test_if_match_is_described_where_it_counts(client: Any, db: None) -> None:
    paths = client.get("/api/v1/schema?format=json").json()["paths"]
    named = {
        path.partition("{subject}/")[2]
        for path, operations in paths.items()
        for each in operations.get("post", {}).get("parameters", ())
        if each["name"] == "If-Match" and "{subject}" in path
    }
    verbs = {
        "facts": "correct end retract forget restore pin merge",
        "notes": "describe pin forget delete restore merge",
        "entities": "merge",
        "blocks": "revise delete",
        "golden": "change remove",
    }
    rows = {f"{kind}/{{row_id}}/{v}" for kind, of in verbs.items() for v in of.split()}
    assert named == rows | {"policy"}
