"""Whatever the description allows or forbids is sent, and every answer is as described.

Each operation of the OpenAPI description (a new one by itself) runs its examples, what covers
its parameters one by one, and some requests made up at random, the same ones every time. All
checks of schemathesis hold. `make fuzz` makes up many more, for the paths that ONLY names or all.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import connections, transaction
from django.urls import resolve
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.case import Case

from api.schema.components import NO_NUL_PATTERN
from memoryhub.engines import registry
from memoryhub.tenants.services import create_key, create_tenant
from tests.support import api_scene
from tests.support.contract import build_description
from tests.support.hub import TableEmbedder

EXAMPLES = int(os.environ.get("MEMORYHUB_FUZZ_EXAMPLES", "4"))
LONG = EXAMPLES >= 20
ONLY = os.environ.get("MEMORYHUB_FUZZ_ONLY", "")  # a regular expression
SOME_ID = "0197a0de-0000-7000-8000-000000000000"
# What valid data may be answered with. 412: a version that is valid and not the row's.
ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "412"]
# What wrong data may be: of a row that has moved on, nothing more is looked at (412).
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "412", "415", "422"]

schemathesis.openapi.format("cursor", st.just("next"))  # see _led
_lines: Any = st.just("")  # see _led; bytes would count as breaking the schema, which says text
schemathesis.openapi.media_type("application/x-ndjson", _lines)
schemathesis.serializer("application/x-ndjson")(
    lambda context, value: (value if isinstance(value, str) else json.dumps(value)).encode()
)


# That no text in an object has a NUL, as the description says of it in words.
_VALUE = {"$ref": "#/components/schemas/JsonValue"}
_MEMBERS = {"propertyNames": {"pattern": NO_NUL_PATTERN}, "additionalProperties": _VALUE}
OBJECTS_TO_THEIR_DEPTH = {
    "JsonObject": {"type": "object", **_MEMBERS},
    "JsonValue": {"pattern": NO_NUL_PATTERN, "items": _VALUE, **_MEMBERS},
}


def _build_schema() -> Any:
    made = deepcopy(build_description())
    checks = {
        "positive_data_acceptance": {"expected-statuses": ACCEPTED},
        "negative_data_rejection": {"expected-statuses": REFUSED},
    }
    # Thousands: of a run of its own.
    phases = {"coverage": {"enabled": LONG}}
    config = SchemathesisConfig.from_dict({"checks": checks, "phases": phases})
    made["components"]["schemas"] |= OBJECTS_TO_THEIR_DEPTH
    schema: Any = schemathesis.openapi.from_dict(made, config=config)
    schema.app = get_wsgi_application()
    return schema.include(path_regex=ONLY) if ONLY else schema


described = _build_schema()


@dataclass
class Totals:
    """What a run has done: answers by status, and checks that had something to look at."""

    operations: set[str] = field(default_factory=set)
    answers: Counter[int] = field(default_factory=Counter)
    checks: int = 0

    def __str__(self) -> str:
        by_status = ", ".join(f"{status}: {n:,}" for status, n in sorted(self.answers.items()))
        return (
            f"{len(self.operations)} operations, {self.answers.total():,} requests ({by_status}), "
            f"{self.checks:,} checks"
        )


totals = Totals()


@described.hook  # type: ignore[untyped-decorator]  # it is Any
def after_validate(context: Any, case: Case[Any], response: Any, results: list[Any]) -> None:
    totals.operations.add(case.operation.label)
    totals.answers[response.status_code] += 1
    totals.checks += len(results)


@pytest.fixture(scope="module", autouse=True)
def report(request: pytest.FixtureRequest) -> Iterator[None]:
    """The totals, told at the end of `make fuzz`."""
    yield
    plugins = request.config.pluginmanager
    terminal, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
    if terminal and capture and "MEMORYHUB_FUZZ_EXAMPLES" in os.environ:
        with capture.global_and_fixture_disabled():
            terminal.write_line(f"\n{totals}")


@pytest.fixture(scope="module")
def rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """What there is to ask about, and the key that may do everything: for all operations.

    Their requests are undone one by one, and this with its transaction.
    """
    with django_db_blocker.unblock(), transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        # Between requests Django would close what is not as it left it: the transaction is open.
        patch.setattr(connections["default"], "close_if_unusable_or_obsolete", lambda: None)
        embedder = TableEmbedder()
        patch.setattr(registry, "get_embedder", lambda settings: embedder)
        patch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
        # A line for every refusal is too much to read, and takes as long as the request.
        patch.setattr(logging.getLogger("django.request"), "disabled", True)
        tenant = create_tenant("Fuzz", "fuzz")
        made = api_scene.make_row_of_every_kind(tenant)
        _, secret = create_key(tenant, "fuzz", ["read", "write", "admin"])
        made["headers"] = {"Authorization": f"Bearer {secret}"}
        made["client"] = APIClient(headers=made["headers"])
        made["lines"] = made["client"].get("/api/v1/spaces/ana/export").getvalue().decode()
        yield made
        transaction.set_rollback(True)


@described.parametrize()  # type: ignore[untyped-decorator]  # it is Any
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_X5_every_operation_keeps_its_word(case: Case[Any], rows: dict[str, Any]) -> None:
    headers = rows["headers"]
    with transaction.atomic():  # what one request changes, the next one does not see
        _point_at_rows(case, rows)
        answer = case.call(headers=headers)
        if _has_all_parameters(case, str(answer.request.url)):
            case.validate_response(answer, headers=headers, transport_kwargs={"headers": headers})
        transaction.set_rollback(True)


def _has_all_parameters(case: Case[Any], url: str) -> bool:
    """False where a parameter was wrong by a value that leaves nothing to send, an empty list."""
    return set(case.query or {}) <= set(parse_qs(urlsplit(url).query, keep_blank_values=True))


def _point_at_rows(case: Case[Any], rows: dict[str, Any]) -> None:
    """To rows that are there, with what only these rows decide: a description can't say it.

    Parts that are wrong on purpose stay as they are.
    """
    name = _find_route_name(case.path)
    if _is_valid_part(case, ParameterLocation.PATH) and case.path_parameters:
        known = {"subject": "ana", "row_id": api_scene.get_row_id(name, rows)}
        case.path_parameters = {k: str(known.get(k) or v) for k, v in case.path_parameters.items()}
    if _is_valid_part(case, ParameterLocation.QUERY) and case.query:
        case.query = _fit_query(case, rows["client"])
    if not _is_valid_part(case, ParameterLocation.BODY):
        return
    if name == "import-export":
        case.body = rows["lines"]
    elif isinstance(case.body, dict) and name.endswith("-query"):
        case.body = _fit_list_query(case, rows["client"])
    elif isinstance(case.body, dict) and name in FITTING:
        case.body = FITTING[name](dict(case.body), rows)


def _is_valid_part(case: Case[Any], part: ParameterLocation) -> bool:
    return case.meta is None or not case.meta.is_negative_at(part)


def _find_route_name(path: str) -> str:
    return str(resolve(path.replace("{row_id}", SOME_ID).replace("{subject}", "ana")).url_name)


def _fit_query(case: Case[Any], client: APIClient) -> dict[str, Any]:
    """With the cursor of a page that there is, and not two times at once."""
    query = dict(case.query)
    if "as_of" in query:
        query.pop("status", None)
    if query.pop("cursor", None) is not None:
        plain = {k: str(v).lower() for k, v in query.items() if k in ("reverse", "at", "since")}
        page = client.get(case.formatted_path, plain | {"limit": "1"})
        if page.status_code == 200 and page.json()["next"]:
            query["cursor"] = page.json()["next"]
    return query


def _fit_list_query(case: Case[Any], client: APIClient) -> dict[str, Any]:
    """The same of a list that is asked for in a body."""
    body: dict[str, Any] = dict(case.body)  # type: ignore[arg-type]  # an object: its caller looked
    if "as_of" in body:
        body.pop("status", None)
    if body.pop("cursor", None) is not None:
        plain = {name: body[name] for name in ("reverse",) if name in body} | {"limit": 1}
        page = client.post(case.formatted_path, plain, format="json")
        if page.status_code == 200 and page.json()["next"]:
            body["cursor"] = page.json()["next"]
    return body


Body = dict[str, Any]
Fit = Callable[[Body, dict[str, Any]], Body]


def _fit_fixed_values(**fixed: Any) -> Fit:
    return lambda body, rows: body | fixed


def _fit_subject(body: Body, rows: dict[str, Any]) -> Body:
    return body | {"subject": "ana"} | ({"session": ""} if "session" in body else {})


def _fit_without_ids(body: Body, rows: dict[str, Any]) -> Body:
    """One id for two texts is refused."""
    for add in body.get("items", [body]):
        for message in add["messages"]:
            message.pop("external_id", None)
    return body


def _fit_window_messages(body: Body, rows: dict[str, Any]) -> Body:
    """Tools are called by an assistant and answered by a tool; others have words."""
    for message in body.get("messages", []):
        for name in ("external_id", "tool_calls", "tool_call_id"):
            message.pop(name, None)
        message["content"] = message.get("content", "").strip() or "Hello."
    return body


def _fit_expected_fact(body: Body, rows: dict[str, Any]) -> Body:
    return body | {"expected": [{"kind": "fact", "id": str(rows["fact"].id)}]}


def _fit_judged_fact(body: Body, rows: dict[str, Any]) -> Body:
    return body | {"kind": "fact", "memory_id": str(rows["fact"].id), "recall_id": None}


def _fit_erased_turn(body: Body, rows: dict[str, Any]) -> Body:
    return body | {"target": "turns", "ids": [str(rows["turn"].id)]}


def _fit_short_value(body: Body, rows: dict[str, Any]) -> Body:
    """What is longer than its limit is refused."""
    return body | {"value": "Chess.", "char_limit": 2000}


def _fit_import_file(body: Body, rows: dict[str, Any]) -> Body:
    """A file as its source has them, of which something is wanted."""
    content = '{"subject": "ana", "fact": "Ana likes Porto"}'
    told = {name: value for name, value in body.items() if name not in ("file", "only")}
    return told | {"source": "jsonl", "content": content}


def _fit_webhook(body: Body, rows: dict[str, Any]) -> Body:
    """An address that may be told of things, and events of the style."""
    event = "memory_add" if body.get("style") == "mem0" else "fact.added"
    told = {"url": "https://hooks.example.org/in", "events": [event]}
    return body | {name: value for name, value in told.items() if name in body}


# By route: what makes a body fit the rows, where the description can't say it.
FITTING: dict[str, Fit] = {
    "memories": _fit_without_ids,
    "memories-batch": _fit_without_ids,
    "imports": _fit_import_file,
    "search": _fit_subject,
    "context": _fit_subject,
    "answer": _fit_subject,
    "fact-end": _fit_fixed_values(at=None),
    "block-new": _fit_short_value,
    "block-revise": _fit_short_value,
    "conflict-decide": _fit_fixed_values(answer="keep", text=""),
    "review-rule-new": _fit_fixed_values(kind="conflict", answer="reject", role="", subject=""),
    "golden-new": _fit_expected_fact,
    "golden-change": _fit_expected_fact,
    "feedback-set": _fit_judged_fact,
    "erase": _fit_erased_turn,
    "key-new": _fit_fixed_values(subject="", expires_at=None),
    "person-link-new": _fit_fixed_values(expires_at=None),
    "policy": _fit_fixed_values(overrides={"recall.k_min": 4}),
    "tenant-policy": _fit_fixed_values(overrides={"recall.k_min": 4}),
    "window-append": _fit_window_messages,
    "window-step": _fit_window_messages,
    "window-schedule": _fit_fixed_values(alarm_at=None),
    "webhook-new": _fit_webhook,
    "webhook-change": _fit_webhook,
    "replay-new": _fit_fixed_values(
        subject="ana", tag="", engine="", overrides={"recall.k_min": 4}
    ),
}
