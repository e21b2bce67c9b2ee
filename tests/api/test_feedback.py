"""What a caller says of a memory it was shown: kept beside it, its latest word, until it goes."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from memoryhub.pipeline.erasure import erase_targets
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact
from tests.support import api_scene
from tests.support.database_scan import find_tables_with_word
from tests.support.factories import MAY, make_recall

S = "/api/v1/spaces/ana"


@pytest.fixture
def rows(tenant: Tenant) -> dict[str, Any]:
    return api_scene.make_row_of_every_kind(tenant)


def make_feedback_body(row: Any, verdict: str | None, **more: Any) -> dict[str, Any]:
    return {
        "kind": row._meta.model_name,
        "memory_id": str(row.id),
        "verdict": verdict,
    } | more


def post_feedback(api: APIClient, body: dict[str, Any]) -> Any:
    return api.post(f"{S}/feedback/set", body, format="json")


def test_a_word_on_a_recalled_memory_is_kept_with_its_question(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        recall = make_recall(rows["space"], "chess?", rows["fact"], rows["turn"])
        events = EvolutionEvent.objects.count()
    body = make_feedback_body(rows["fact"], "wrong", recall_id=str(recall.id), comment="She moved.")
    told = post_feedback(api, body).json()["feedback"]
    assert (told["verdict"], told["comment"]) == ("wrong", "She moved.")
    assert told["recall_id"] == str(recall.id)
    assert told["actor"].startswith("key mh_")
    post_feedback(api, make_feedback_body(rows["turn"], "positive", recall_id=str(recall.id)))
    listed = api.get(f"{S}/feedback").json()
    assert [(i["kind"], i["verdict"]) for i in listed["items"]] == [
        ("turn", "positive"),
        ("fact", "wrong"),
    ]
    narrowed = api.get(f"{S}/feedback", {"filter": f'{{"memory_id": "{rows["fact"].id}"}}'})
    assert narrowed.json()["items"] == [told]
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(id=rows["fact"].id)
        assert (fact.status, fact.version) == ("active", rows["fact"].version)
        assert EvolutionEvent.objects.count() == events


def test_the_latest_word_of_each_key_counts_and_can_be_taken_back(
    api: APIClient, client_of: Any, rows: dict[str, Any], tenant: Tenant
) -> None:
    post_feedback(api, make_feedback_body(rows["note"], "positive"))
    post_feedback(api, make_feedback_body(rows["note"], "negative", comment="Old."))
    post_feedback(client_of(tenant), make_feedback_body(rows["note"], "very_negative"))
    verdicts = [i["verdict"] for i in api.get(f"{S}/feedback").json()["items"]]
    assert verdicts == ["very_negative", "negative"]
    assert post_feedback(api, make_feedback_body(rows["note"], None)).json() == {"feedback": None}
    assert [i["verdict"] for i in api.get(f"{S}/feedback").json()["items"]] == ["very_negative"]


def test_a_recall_that_did_not_show_the_memory_is_refused_and_one_not_logged_is_not(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    with tenant_scope(tenant.id):
        recall = make_recall(rows["space"], "chess?", rows["turn"])
    refused = post_feedback(
        api, make_feedback_body(rows["fact"], "positive", recall_id=str(recall.id))
    )
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "recall_id"
    assert api.get(f"{S}/feedback").json()["total"] == 0
    assert (
        post_feedback(
            api, make_feedback_body(rows["fact"], "positive", recall_id=str(uuid4()))
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"verdict": "meh"}, "verdict"),
        ({"verdict": ""}, "verdict"),
        ({"verdict": 1}, "verdict"),
        ({"kind": "core"}, "kind"),
        ({"kind": None}, "kind"),
        ({"memory_id": "x"}, "memory_id"),
        ({"recall_id": 7.5}, "recall_id"),
        ({"comment": "x" * 2001}, "comment"),
        ({"comment": ["x"]}, "comment"),
    ],
    ids=ascii,
)
def test_what_is_no_word_is_refused_naming_the_field(
    api: APIClient, rows: dict[str, Any], wrong: dict[str, Any], field: str
) -> None:
    answer = post_feedback(api, make_feedback_body(rows["fact"], "positive") | wrong)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_nuls_are_stripped_from_a_comment(api: APIClient, rows: dict[str, Any]) -> None:
    told = post_feedback(api, make_feedback_body(rows["fact"], "negative", comment="a\0b")).json()
    assert told["feedback"]["comment"] == "ab"


def test_memories_of_nobody_of_others_and_of_another_kind_are_not_found(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    other = api_scene.make_row_of_every_kind(tenant, "rui")["fact"]
    unknown = make_feedback_body(rows["fact"], "positive", memory_id=str(UUID(int=1)))
    mistaken = make_feedback_body(rows["fact"], "positive", kind="note")
    for body in (make_feedback_body(other, "positive"), unknown, mistaken):
        assert post_feedback(api, body).status_code == 404
    assert api.get(f"{S}/feedback").json()["total"] == 0


def test_what_is_erased_takes_the_words_on_it_along(
    api: APIClient, rows: dict[str, Any], tenant: Tenant
) -> None:
    for name in ("turn", "fact"):
        post_feedback(api, make_feedback_body(rows[name], "wrong", comment="not Aldebaran"))
    target = erase_targets.ErasureTarget("turns", (rows["turn"].id,))
    erase_targets.execute_erasure(rows["space"], target, "eva", MAY)
    assert api.get(f"{S}/feedback").json()["total"] == 0
    with tenant_scope(tenant.id):
        assert find_tables_with_word("Aldebaran") == []
