"""What a backend changes: who did it and why is in the history, twice is once, nothing is lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from api.models import IdempotentRequest
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.tenants.models import ApiKey, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact
from tests.support import api_scene
from tests.support.factories import (
    MAY,
    make_block,
    make_entity,
    make_fact,
    make_job,
    make_note,
    make_space,
    make_turns,
)

S = "/api/v1/spaces/ana"


@pytest.fixture
def space(tenant: Tenant) -> Space:
    with tenant_scope(tenant.id):
        return make_space(tenant, "ana")


@pytest.fixture
def fact(space: Space) -> Fact:
    with tenant_scope(space.tenant_id):
        return make_fact(space, "Ana plays chess")


def post_write(client: APIClient, path: str, body: Any = None, **headers: str) -> Any:
    return client.post(f"{S}/{path}", body or {}, format="json", headers=headers)


def post_accepted_write(
    client: APIClient, path: str, body: Any = None, **headers: str
) -> dict[str, Any]:
    answer = post_write(client, path, body, **headers)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def get_event(client: APIClient, event_id: str) -> dict[str, Any]:
    return dict(client.get(f"{S}/events/{event_id}").json())


def test_a_correction_names_the_key_and_the_reason(
    api: APIClient, tenant: Tenant, fact: Fact
) -> None:
    answer = post_accepted_write(
        api, f"facts/{fact.id}/correct", {"text": "Ana plays go", "reason": "she said"}
    )
    assert answer["fact"]["text"] == "Ana plays go"
    assert answer["fact"]["lineage"] == str(fact.lineage)
    with tenant_scope(tenant.id):
        key = ApiKey.objects.get()
    told = get_event(api, answer["event_id"])
    assert (told["actor"], told["reason"]) == (f"key mh_{key.prefix}_…", "she said")
    assert answer["fact"]["corrected_by"] == told["actor"]
    assert [f["text"] for f in api.get(f"{S}/facts").json()["items"]] == ["Ana plays go"]


def test_whoever_knows_a_fact_by_its_former_words_is_told_where_it_stands(
    api: APIClient, fact: Fact
) -> None:
    first = post_accepted_write(api, f"facts/{fact.id}/correct", {"text": "Ana lives in Braga."})
    refused = post_write(api, f"facts/{fact.id}/correct", {"text": "Ana lives in Faro."})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_held")
    stands = refused.json()["stands"]
    assert stands == first["fact"]["id"]
    assert stands in refused.json()["detail"]
    post_accepted_write(api, f"facts/{stands}/forget", {})
    gone = post_write(api, f"facts/{fact.id}/correct", {"text": "Ana lives in Faro."})
    assert "stands" not in gone.json()


def test_a_fact_is_ended_restored_forgotten_and_retracted(api: APIClient, fact: Fact) -> None:
    path = f"facts/{fact.id}"
    at = (MAY + timedelta(days=2)).isoformat()
    ended = post_accepted_write(api, f"{path}/end", {"at": at})["fact"]
    assert (ended["status"], ended["valid_to"][:10]) == ("superseded", "2026-05-14")
    assert post_accepted_write(api, f"{path}/restore")["fact"]["valid_to"] is None
    assert post_accepted_write(api, f"{path}/forget", {"reason": "asked"})["fact"]["retired_at"]
    assert api.get(f"{S}/facts").json()["total"] == 0
    assert post_accepted_write(api, f"{path}/restore")["fact"]["retired_at"] is None
    assert post_accepted_write(api, f"{path}/retract")["fact"]["status"] == "retracted"
    assert post_write(api, f"{path}/end").json()["code"] == "not_held"


def test_a_fact_is_pinned_with_a_reason(api: APIClient, fact: Fact) -> None:
    answer = post_accepted_write(api, f"facts/{fact.id}/pin", {"reason": "matters"})
    assert answer["fact"]["pinned"] is True
    assert get_event(api, answer["event_id"])["reason"] == "matters"
    assert (
        post_accepted_write(api, f"facts/{fact.id}/pin", {"pinned": False})["fact"]["pinned"]
        is False
    )
    assert post_write(api, f"facts/{fact.id}/pin", {"pinned": False}).json()["code"] == "no_change"


@pytest.mark.parametrize("pinned", [True, False])
def test_what_is_not_held_is_not_pinned(
    api: APIClient, space: Space, fact: Fact, pinned: bool
) -> None:
    with tenant_scope(space.tenant_id):
        kept, note = (
            make_fact(space, "Ana plays go"),
            make_note(space, "Ana plays chess on Sundays"),
        )
    post_accepted_write(api, f"facts/{kept.id}/merge", {"other": str(fact.id)})
    post_accepted_write(api, f"facts/{kept.id}/forget")
    post_accepted_write(api, f"notes/{note.id}/forget")
    for path in (f"facts/{fact.id}", f"facts/{kept.id}", f"notes/{note.id}"):
        refused = post_write(api, f"{path}/pin", {"pinned": pinned})
        assert (refused.status_code, refused.json()["code"]) == (409, "not_held"), path


def test_a_write_on_an_outdated_row_is_refused_and_changes_nothing(
    api: APIClient, fact: Fact
) -> None:
    path = f"{S}/facts/{fact.id}"
    etag = api.get(path)["ETag"]
    assert post_write(api, f"facts/{fact.id}/pin", **{"If-Match": etag}).status_code == 200
    for verb, body in (("correct", {"text": "x"}), ("end", {}), ("forget", {}), ("retract", {})):
        late = post_write(api, f"facts/{fact.id}/{verb}", body, **{"If-Match": etag})
        assert (late.status_code, late.json()["version"]) == (412, 2), verb
        assert late.json()["code"] == "precondition_failed"
    assert api.get(path).json()["text"] == "Ana plays chess"
    fresh = api.get(path)["ETag"]
    assert post_write(api, f"facts/{fact.id}/end", **{"If-Match": fresh}).status_code == 200


@pytest.mark.parametrize("given", ["x", '""', 'W/"1"', "99999999999", '"-1"'])
def test_an_etag_of_elsewhere_is_refused(api: APIClient, fact: Fact, given: str) -> None:
    answer = post_write(api, f"facts/{fact.id}/pin", **{"If-Match": given})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "If-Match"


def test_the_same_write_twice_is_done_once(api: APIClient, tenant: Tenant, fact: Fact) -> None:
    body, once = {"text": "Ana plays go"}, {"Idempotency-Key": "k1"}
    first = post_write(api, f"facts/{fact.id}/correct", body, **once)
    again = post_write(api, f"facts/{fact.id}/correct", body, **once)
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert again["ETag"] == first["ETag"]
    with tenant_scope(tenant.id):
        assert EvolutionEvent.objects.filter(kind="manual").count() == 1
    other = post_write(api, f"facts/{fact.id}/correct", {"text": "Ana plays"}, **once)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


def test_a_write_that_failed_leaves_its_key_free(api: APIClient, fact: Fact) -> None:
    once = {"Idempotency-Key": "k1"}
    same = {"text": "Ana plays chess"}
    assert post_write(api, f"facts/{fact.id}/correct", same, **once).status_code == 422
    assert post_write(api, f"facts/{fact.id}/correct", {"text": "Go"}, **once).status_code == 200


def test_a_key_of_a_write_under_way_is_refused_until_it_is_given_up(
    api: APIClient, tenant: Tenant, fact: Fact
) -> None:
    body, once = {"text": "Ana plays go"}, {"Idempotency-Key": "k1"}
    post_write(api, f"facts/{fact.id}/correct", body, **once)
    with tenant_scope(tenant.id):
        IdempotentRequest.objects.update(status=102, created_at=timezone.now())
    busy = post_write(api, f"facts/{fact.id}/correct", body, **once)
    assert (busy.status_code, busy.json()["code"]) == (409, "request_under_way")
    with tenant_scope(tenant.id):
        long_ago = timezone.now() - timedelta(minutes=6)
        IdempotentRequest.objects.update(status=102, created_at=long_ago, body={})
    tried = post_write(api, f"facts/{fact.id}/correct", body, **once)
    assert tried.json()["code"] == "not_held"  # it had been done: nothing is done twice


def test_an_answer_that_told_of_what_was_erased_is_not_given_again(
    api: APIClient, space: Space, fact: Fact
) -> None:
    body, once = {"text": "Ana plays go"}, {"Idempotency-Key": "k1"}
    first = post_write(api, f"facts/{fact.id}/correct", body, **once).json()
    from uuid import UUID

    execute_erasure(
        space, ErasureTarget("facts", (UUID(first["fact"]["id"]),)), "eva", timezone.now()
    )
    again = post_write(api, f"facts/{fact.id}/correct", body, **once)
    assert (again.status_code, again.json()["code"]) == (410, "answer_erased")
    assert "go" not in again.content.decode().split()


def test_a_job_is_tried_again_once(api: APIClient, space: Space) -> None:
    with tenant_scope(space.tenant_id):
        job = make_job(space, "dead")
    path, once = f"/api/v1/jobs/{job.id}/retry", {"Idempotency-Key": "j1"}
    first = api.post(path, headers=once)
    assert (first.status_code, first.json()["state"]) == (202, "queued")
    again = api.post(path, headers=once)
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert api.post(path).json()["code"] == "job_not_failed"


def test_a_note_is_described_pinned_and_deleted(api: APIClient, space: Space) -> None:
    with tenant_scope(space.tenant_id):
        note = make_note(space, "Chess in Porto", tags=["old"], context="A game")
    answer = post_accepted_write(
        api, f"notes/{note.id}/describe", {"tags": ["chess"], "reason": "tidy"}
    )
    assert (answer["note"]["tags"], answer["note"]["context"]) == (["chess"], "A game")
    assert answer["note"]["content"] == "Chess in Porto"
    same = post_write(api, f"notes/{note.id}/describe", {"tags": ["chess"]})
    assert same.json()["code"] == "no_change"
    assert post_write(api, f"notes/{note.id}/describe").status_code == 422
    assert post_accepted_write(api, f"notes/{note.id}/pin")["note"]["pinned"] is True
    assert post_accepted_write(api, f"notes/{note.id}/forget")["note"]["retired_at"]
    assert api.get(f"{S}/notes").json()["total"] == 0


def test_a_forgotten_note_is_restored(api: APIClient, space: Space) -> None:
    with tenant_scope(space.tenant_id):
        note = make_note(space, "Chess in Porto")
    post_accepted_write(api, f"notes/{note.id}/forget")
    assert post_accepted_write(api, f"notes/{note.id}/restore")["note"]["retired_at"] is None
    assert post_write(api, f"notes/{note.id}/restore").json()["code"] == "already_held"


@pytest.mark.parametrize(("kind", "make"), [("facts", make_fact), ("notes", make_note)])
def test_what_says_the_same_is_merged_and_brought_back(
    api: APIClient, space: Space, kind: str, make: Any
) -> None:
    with tenant_scope(space.tenant_id):
        kept, gone = make(space, "Ana plays chess"), make(space, "Ana is a chess player")
    before = api.get(f"{S}/{kind}/{kept.id}").json()["sources"]
    path = f"{kind}/{kept.id}/merge"
    answer = post_accepted_write(api, path, {"other": str(gone.id), "reason": "said twice"})
    assert answer[kind.removesuffix("s")]["id"] == str(kept.id)
    assert [row["id"] for row in api.get(f"{S}/{kind}").json()["items"]] == [str(kept.id)]
    assert len(api.get(f"{S}/{kind}/{kept.id}").json()["sources"]) >= len(before)
    assert get_event(api, answer["event_id"])["reason"] == "said twice"
    post_accepted_write(api, f"events/{answer['event_id']}/undo")
    assert api.get(f"{S}/{kind}").json()["total"] == 2
    itself = post_write(api, path, {"other": str(kept.id)})
    assert (itself.status_code, itself.json()["code"]) == (422, "invalid")
    assert post_write(api, path, {"other": str(space.id)}).status_code == 404
    assert post_write(api, path).status_code == 422


def test_two_names_of_one_are_merged_and_split(api: APIClient, space: Space) -> None:
    with tenant_scope(space.tenant_id):
        robert, bob = make_entity(space, "Robert"), make_entity(space, "Bob")
    merge = f"entities/{robert.id}/merge"
    merged = post_accepted_write(api, merge, {"other": str(bob.id)})["entity"]
    assert (merged["id"], merged["aliases"]) == (str(robert.id), ["Bob"])
    assert [row["name"] for row in api.get(f"{S}/entities").json()["items"]] == ["Robert"]
    assert post_write(api, merge, {"other": str(bob.id)}).json()["code"] == "already_merged"
    split = post_accepted_write(api, f"entities/{bob.id}/split", {"reason": "two people"})
    assert (split["entity"]["name"], split["entity"]["merged_into"]) == ("Bob", None)
    assert get_event(api, split["event_id"])["reason"] == "two people"
    assert api.get(f"{S}/entities").json()["total"] == 2
    assert post_write(api, f"entities/{bob.id}/split").status_code == 404


def test_an_event_is_shown_undone_and_redone(api: APIClient, fact: Fact) -> None:
    made = post_accepted_write(api, f"facts/{fact.id}/correct", {"text": "Ana plays go"})[
        "event_id"
    ]
    shown = post_accepted_write(api, f"events/{made}/undo", {"dry_run": True})
    assert {change["how"] for change in shown["changes"]} == {"added", "removed"}
    assert shown["event_ids"] == []
    assert [f["text"] for f in api.get(f"{S}/facts").json()["items"]] == ["Ana plays go"]
    (undone,) = post_accepted_write(api, f"events/{made}/undo")["event_ids"]
    assert [f["text"] for f in api.get(f"{S}/facts").json()["items"]] == ["Ana plays chess"]
    assert get_event(api, made)["undone_by"] == undone
    assert post_write(api, f"events/{made}/undo").json()["code"] == "already_undone"
    post_accepted_write(api, f"events/{undone}/undo")
    assert [f["text"] for f in api.get(f"{S}/facts").json()["items"]] == ["Ana plays go"]


def test_later_changes_are_named_and_undone_with_a_cascade(api: APIClient, fact: Fact) -> None:
    first = post_accepted_write(api, f"facts/{fact.id}/pin")["event_id"]
    second = post_accepted_write(api, f"facts/{fact.id}/pin", {"pinned": False})["event_id"]
    refused = post_write(api, f"events/{first}/undo")
    assert (refused.status_code, refused.json()["later"]) == (409, [second])
    assert set(post_accepted_write(api, f"events/{first}/undo", {"cascade": True})["undone"]) == {
        first,
        second,
    }


def test_a_subject_is_rolled_back_by_an_admin(client_of: Any, tenant: Tenant, fact: Fact) -> None:
    admin = client_of(tenant, "admin")
    to = timezone.now().isoformat()
    post_accepted_write(admin, f"facts/{fact.id}/correct", {"text": "Ana plays go"})
    shown = post_accepted_write(admin, "roll-back", {"to": to, "dry_run": True})
    assert len(shown["undone"]) == 1
    assert admin.get(f"{S}/facts").json()["items"][0]["text"] == "Ana plays go"
    assert len(post_accepted_write(admin, "roll-back", {"to": to})["event_ids"]) == 1
    assert admin.get(f"{S}/facts").json()["items"][0]["text"] == "Ana plays chess"


def test_blocks_are_made_revised_and_deleted_by_version(api: APIClient, space: Space) -> None:
    made = post_accepted_write(api, "blocks/new", {"label": "plans", "value": "Rome"})["block"]
    path = f"blocks/{made['id']}"
    more = {"value": "Rome\nand Porto", "char_limit": 20, "reason": "more"}
    revised = post_accepted_write(api, f"{path}/revise", more, **{"If-Match": '"1"'})["block"]
    assert (revised["value"], revised["char_limit"]) == ("Rome\nand Porto", 20)
    late = post_write(api, f"{path}/revise", {"value": "x"}, **{"If-Match": '"1"'})
    assert (late.status_code, late.json()["value"]) == (409, "Rome\nand Porto")
    full = post_write(api, f"{path}/revise", {"value": "x" * 21})
    assert (full.status_code, full.json()["code"], full.json()["limit"]) == (422, "block_full", 20)
    assert full.json()["errors"][0]["field"] == "value"
    versions = api.get(f"{S}/{path}/versions").json()["items"]
    assert versions[0]["reason"] == "more"
    post_accepted_write(api, f"{path}/delete")
    assert api.get(f"{S}/blocks").json()["total"] == 0


def test_a_shared_block_is_attached_and_detached_but_not_by_a_key_of_one_subject(
    api: APIClient, client_of: Any, tenant: Tenant, space: Space
) -> None:
    with tenant_scope(tenant.id):
        shared = make_block(make_space(tenant, "rui"), "house rules", "Be kind.", shared=True)
    bound = client_of(tenant, "read", "write", space=space)
    assert post_write(bound, f"blocks/{shared.id}/attach").status_code == 404
    assert post_write(bound, "blocks/new", {"label": "x", "shared": True}).status_code == 404
    post_accepted_write(api, f"blocks/{shared.id}/attach")
    assert [b["label"] for b in api.get(f"{S}/blocks").json()["items"]] == ["house rules"]
    post_accepted_write(api, f"blocks/{shared.id}/detach")
    assert api.get(f"{S}/blocks").json()["items"] == []


def test_an_agents_tools_are_offered_and_carried_out(api: APIClient, space: Space) -> None:
    names = {tool["name"] for tool in api.get(f"{S}/tools").json()["tools"]}
    assert {"core_append", "recall_search", "archival_insert"} <= names
    with tenant_scope(space.tenant_id):
        make_block(space, "human", "Ana.")
    call = {"tool": "core_append", "arguments": {"label": "human", "text": "Plays chess."}}
    assert post_accepted_write(api, "tools", call)["ok"] is True
    assert api.get(f"{S}/blocks").json()["items"][0]["value"] == "Ana.\nPlays chess."
    wrong = post_accepted_write(
        api, "tools", {"tool": "core_append", "arguments": {"label": "none"}}
    )
    assert (wrong["ok"], "text" in wrong["result"]) == (False, True)
    assert post_accepted_write(api, "tools", {"tool": "delete_all"})["ok"] is False


def test_traits_and_the_profile_are_set_by_hand(api: APIClient, space: Space) -> None:
    post_accepted_write(api, "traits/set", {"key": "openness", "level": "high"})
    (trait,) = api.get(f"{S}/traits").json()["items"]
    assert (trait["level"], trait["corrected_by"][:7]) == ("high", "key mh_")
    assert post_write(api, "traits/set", {"key": "nosuch", "level": "high"}).status_code == 422
    post_accepted_write(api, "profile/set", {"key": "home town", "value": "Porto"})
    (attribute,) = api.get(f"{S}/profile").json()["items"]
    assert (attribute["key"], attribute["value"]) == ("home_town", "Porto")


def test_a_conflict_is_decided_once(api: APIClient, tenant: Tenant) -> None:
    rows = api_scene.make_row_of_every_kind(tenant)
    path = f"conflicts/{rows['conflict'].id}"
    assert "keep" in api.get(f"{S}/{path}").json()["answers"]
    wrong = post_write(api, f"{path}/decide", {"answer": "perhaps"})
    assert wrong.json()["errors"][0]["field"] == "answer"
    assert (
        post_accepted_write(api, f"{path}/decide", {"answer": "keep"})["conflict"]["state"]
        == "rejected"
    )
    assert (
        post_write(api, f"{path}/decide", {"answer": "keep"}).json()["code"] == "already_answered"
    )
    assert api.get(f"{S}/conflicts").json()["total"] == 0


def test_to_erase_by_a_decision_takes_an_admin(api: APIClient, tenant: Tenant) -> None:
    from tests.support.factories import make_proposal

    rows = api_scene.make_row_of_every_kind(tenant)
    with tenant_scope(tenant.id):
        asked = make_proposal(rows["space"], kind="erase", row_id=rows["fact"].id, row_type="fact")
    refused = post_write(api, f"conflicts/{asked.id}/decide", {"answer": "erase"})
    assert refused.status_code == 403
    assert api.get(f"{S}/conflicts/{asked.id}").json()["state"] == "open"


def test_an_erasure_is_shown_then_done_with_a_receipt(client_of: Any, tenant: Tenant) -> None:
    rows = api_scene.make_row_of_every_kind(tenant)
    admin = client_of(tenant, "admin")
    target = {"target": "turns", "ids": [str(rows["turn"].id)], "reason": "asked"}
    plan = post_accepted_write(admin, "erase", target | {"dry_run": True})
    assert plan["counts"]["turns"] == 1
    assert admin.get(api_scene.build_route_path("turn", rows, subject="ana")).json()["text"]
    once = {"Idempotency-Key": "e1"}
    receipt = post_accepted_write(admin, "erase", target, **once)["receipt"]
    assert receipt["counts"]["turns"] == 1
    assert post_accepted_write(admin, "erase", target, **once)["receipt"]["id"] == receipt["id"]
    assert admin.get(api_scene.build_route_path("turn", rows, subject="ana")).json()["text"] == ""
    assert admin.get(f"/api/v1/receipts/{receipt['id']}").json()["reason"] == "asked"


def test_facts_erased_with_their_words_leave_the_rest_of_the_turn(
    client_of: Any, tenant: Tenant, space: Space
) -> None:
    with tenant_scope(tenant.id):
        (turn,) = make_turns(space, "Ana plays chess, and her rent is two grand.")
        fact = make_fact(space, "Ana plays chess", turn)
    admin = client_of(tenant, "admin")
    target = {"target": "facts", "ids": [str(fact.id)], "sources": True}
    plan = post_accepted_write(admin, "erase", target | {"dry_run": True})
    assert plan["counts"]["clauses"] == 1
    assert plan["samples"]["clauses"] == ["Ana plays chess,"]
    receipt = post_accepted_write(admin, "erase", target)["receipt"]
    assert (receipt["counts"]["clauses"], "turns" in receipt["counts"]) == (1, False)
    with tenant_scope(tenant.id):
        assert Turn.objects.get(id=turn.id).text == f"{'█' * 16} and her rent is two grand."


def test_a_whole_subject_goes_only_when_it_is_named_twice(
    client_of: Any, tenant: Tenant, space: Space, fact: Fact
) -> None:
    admin = client_of(tenant, "admin")
    refused = post_write(admin, "erase", {"target": "subject", "confirm": "rui"})
    assert refused.json()["errors"][0]["field"] == "confirm"
    post_accepted_write(admin, "erase", {"target": "subject", "confirm": "ana"})
    assert admin.get(S).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "target"),
        ({"target": "all"}, "target"),
        ({"target": "turns"}, "ids"),
        ({"target": "turns", "ids": ["x"]}, "ids[0]"),
        ({"target": "turns", "ids": "x"}, "ids"),
        ({"target": "subject", "ids": ["0197a0de-0000-7000-8000-000000000000"]}, "ids"),
    ],
    ids=str,
)
def test_an_erasure_of_nothing_is_refused(
    client_of: Any, tenant: Tenant, space: Space, body: dict[str, Any], field: str
) -> None:
    answer = post_write(client_of(tenant, "admin"), "erase", body)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"].startswith(field)


def test_what_another_subject_said_is_not_erased_from_here(
    client_of: Any, tenant: Tenant, space: Space
) -> None:
    other = api_scene.make_row_of_every_kind(tenant, "rui")
    body = {"target": "turns", "ids": [str(other["turn"].id)]}
    assert post_write(client_of(tenant, "admin"), "erase", body).status_code == 404


def test_a_policy_is_changed_as_a_new_version(client_of: Any, tenant: Tenant, space: Space) -> None:
    admin = client_of(tenant, "admin")
    was = admin.get(f"{S}/policy")
    assert (was.json()["version"], was["ETag"]) == (0, '"0"')
    body = {"overrides": {"recall.k_min": 6}, "reason": "more"}
    new = post_accepted_write(admin, "policy", body, **{"If-Match": was["ETag"]})
    assert (new["version"], new["policy"]["recall"]["k_min"]) == (1, 6)
    late = post_write(admin, "policy", body, **{"If-Match": was["ETag"]})
    assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
    wrong = post_write(admin, "policy", {"overrides": {"recall.nothing": 1}})
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""},
        {"text": "  "},
        {"text": 7},
        {"text": None},
        {},
        {"text": "x" * (1024 * 1024 + 1)},
        {"text": "go", "reason": "x" * 501},
    ],
    ids=range(7),
)
def test_bad_words_are_refused_and_change_nothing(
    api: APIClient, fact: Fact, body: dict[str, Any]
) -> None:
    answer = post_write(api, f"facts/{fact.id}/correct", body)
    assert answer.status_code in (413, 422)
    assert answer.json()["code"] in ("invalid", "too_large")
    assert api.get(f"{S}/facts").json()["items"][0]["text"] == "Ana plays chess"


def test_nuls_are_stripped_from_words_and_reasons(api: APIClient, fact: Fact) -> None:
    answer = post_accepted_write(
        api, f"facts/{fact.id}/correct", {"text": "g\0o", "reason": "b\0c"}
    )
    assert answer["fact"]["text"] == "go"
    assert get_event(api, answer["event_id"])["reason"] == "bc"


def test_rows_of_another_subject_are_not_written(api: APIClient, tenant: Tenant) -> None:
    other = api_scene.make_row_of_every_kind(tenant, "rui")
    with tenant_scope(tenant.id):
        make_space(tenant, "ana")
    verbs = {
        "fact": ("end", "retract", "forget", "restore", "pin"),
        "note": ("pin", "forget", "delete"),
        "block": ("delete", "attach", "detach"),
        "event": ("undo",),
    }
    for kind, names in verbs.items():
        for verb in names:
            answer = post_write(api, f"{kind}s/{other[kind].id}/{verb}")
            assert answer.status_code == 404, (kind, verb, answer.content)
