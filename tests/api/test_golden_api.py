"""Golden questions over the API."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.support.factories import make_fact, make_space

G = "/api/v1/spaces/ana/golden"


@pytest.fixture
def fact(tenant: Tenant) -> Fact:
    with tenant_scope(tenant.id):
        return make_fact(make_space(tenant, "ana"), "Ana lives in Porto")


def make_question_body(fact_id: Any, **more: Any) -> dict[str, Any]:
    return {"text": "Where?", "expected": [{"kind": "fact", "id": str(fact_id)}], **more}


def test_a_question_is_saved_changed_and_taken_away(api: APIClient, fact: Fact) -> None:
    made = api.post(f"{G}/new", make_question_body(fact.id, tags=["home"]), format="json").json()
    row = made["golden_question"]
    assert (row["text"], row["tags"]) == ("Where?", ["home"])
    assert row["created_by"].startswith("key mh_")
    change = make_question_body(fact.id, text="Where does Ana live?")
    changed = api.post(f"{G}/{row['id']}/change", change, format="json").json()
    assert changed["golden_question"]["text"] == "Where does Ana live?"
    assert api.get(G).json()["total"] == 1
    api.post(f"{G}/{row['id']}/remove", {}, format="json")
    assert api.get(G).json()["total"] == 0
    assert api.get(f"{G}/{row['id']}").json()["retired_at"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "x" * 2001}, "text"),
        ({"expected": []}, "expected"),
        ({"expected": [{"kind": "thing", "id": str(uuid4())}]}, "expected[0].kind"),
        ({"expected": [{"kind": "fact", "id": "17"}]}, "expected[0].id"),
        ({"tags": ["x" * 50]}, "tags[0]"),
        ({"tags": "x"}, "tags"),
    ],
    ids=range(7),
)
def test_a_bad_question_is_refused(
    api: APIClient, fact: Fact, change: dict[str, Any], field: str
) -> None:
    answer = api.post(f"{G}/new", make_question_body(fact.id) | change, format="json")
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert api.get(G).json()["total"] == 0


def test_what_the_subject_does_not_hold_is_not_found(api: APIClient, fact: Fact) -> None:
    assert api.post(f"{G}/new", make_question_body(uuid4()), format="json").status_code == 404
