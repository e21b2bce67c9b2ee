"""A question costs few statements, however much is found."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.tenants.models import Tenant
from tests.support.ingest import ingest_and_wait

# The key, two scopes of a question (each with savepoint, set, unset and release in a test), the
# space with its policy and how it stands, candidates, sources, and a statement a kind, of what is
# only near too. An answer has a scope more, and asks whether a model is to give it.
QUESTIONS = [("search", "query", 17), ("context", "query", 31), ("answer", "question", 30)]


@pytest.mark.parametrize(("path", "field", "count"), QUESTIONS)
def test_a_question_takes_few_statements_however_much_is_found(
    api: APIClient,
    tenant: Tenant,
    one_long_minute: None,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    path: str,
    field: str,
    count: int,
) -> None:
    for turns in (8, 40):
        said = [
            Message("user", f"Biscuit ate {n} figs in the garden.", "Ana") for n in range(turns)
        ]
        ingest_and_wait(tenant.id, IngestRequest("ana", said, f"of {turns}"))
        body: dict[str, Any] = {"subject": "ana", field: "What did Biscuit eat?"}
        api.post(f"/api/v1/{path}", body, format="json")
        with django_assert_max_num_queries(count):
            assert api.post(f"/api/v1/{path}", body, format="json").status_code == 200
