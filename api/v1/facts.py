"""Claims: what is held true about a subject, what was, and what a caller puts right about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.fields import (
    NOT_BLANK,
    NULL,
    ListField,
    MetadataField,
    NameField,
    NewSubjectField,
    PatternField,
    StrictBooleanField,
    StrictIdField,
    StrictNumberField,
    StrictSerializer,
    TextField,
    TimestampField,
)
from api.core.views import check_subjects_visible
from api.rows.answers import build_row_type, define_answer
from api.rows.columns import Resource, build_columns
from api.rows.read_views import SpaceListView
from api.rows.sources import build_source_loader
from api.rows.write_views import (
    BaseWriteView,
    ReasonSerializer,
    RowWriteView,
    SpaceWriteRequest,
    TenantWriteRequest,
)
from api.schema.openapi import PAGE_PARAMETERS, build_time_parameter
from api.v1.jobs import DecisionTarget
from memoryhub.dialogues.messages import to_utc
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from memoryhub.pipeline.ingest.given import (
    MAX_SOURCES,
    PREDICATE_PATTERN,
    GivenFact,
    remember_fact,
)
from memoryhub.tenants.models import Space
from notes.facts.validity import build_current_q
from notes.models import Fact

FACTS = Resource(
    "fact",
    "A claim. `lineage` is the same for all its wordings and successors.",
    Fact,
    build_columns(Fact),
    order=("-asserted_at", "-id"),
    current_condition=build_current_q,
    version="version",
    load_details=build_source_loader("fact"),
)
AS_OF_PARAMETER = build_time_parameter("as_of", "What held at that time; not with `status`.")


def read_time_parameter(request: Request, name: str, space: Space) -> datetime | None:
    """A time of the query string, without a zone in the space's. Raises InvalidInput."""
    given = request.query_params.get(name)
    if given is None:
        return None
    try:
        return to_utc(TimestampField.parse_timestamp(given), space.timezone, field=name)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("ISO 8601, or seconds since 1970", field=name) from None


class FactsView(SpaceListView):
    """What is held true, `?status=all` also what was, `?as_of=` what held at that time."""

    resource = FACTS
    parameters: ClassVar = [*PAGE_PARAMETERS, AS_OF_PARAMETER]

    def build_status_condition(self, request: Request, space: Space) -> Q:
        at = read_time_parameter(request, "as_of", space)
        if at is not None and "status" in request.query_params:
            raise InvalidInput("either as_of or status", field="as_of")
        return build_current_q(at) if at else super().build_status_condition(request, space)


class FactVersionsView(SpaceListView):
    """Every wording of a fact and every successor, the newest first."""

    resource = replace(FACTS, order=("-lineage_version", "-id"), current_condition=None)

    def select_rows(self, space: Space) -> QuerySet[Any]:
        fact = Fact.objects.filter(space=space, id=self.kwargs["row_id"]).only("lineage").first()
        if fact is None:
            raise NotFound("There is no such fact.")
        return Fact.objects.filter(space=space, lineage=fact.lineage)


class RememberFactSerializer(StrictSerializer):
    """A fact as it is given. `role`: who tells it, with the trust of that role; `predicate`: the
    relation by its key, of which some have one value at a time; `sources`: turns that it rests
    on, else its own words are kept as one."""

    subject = NewSubjectField()
    text = TextField(shape=NOT_BLANK)
    role = serializers.ChoiceField(choices=Turn.Role.values, default=Turn.Role.USER)
    predicate = PatternField(shape=f"^$|{PREDICATE_PATTERN}", default="")
    value = NameField(default="", max_length=500)
    owner = NameField(default="", max_length=120)
    speaker = NameField(default="", max_length=120)
    agent = NameField(default="", max_length=120)
    session = NameField(default="", max_length=200)
    valid_from = TimestampField(**NULL)
    valid_to = TimestampField(**NULL)
    confidence = StrictNumberField(min_value=0, max_value=1, **NULL)
    sources = ListField(StrictIdField(), max_length=MAX_SOURCES, default=list)
    metadata = MetadataField(default=dict)
    subject_name = NameField(max_length=120, **NULL)


class RememberedDecision(TypedDict):
    """What became of it: `op` (added, the same as one held, taking another's place, …), why, and
    the fact that it touched."""

    op: str
    reason: str
    target: DecisionTarget | None


class RememberFactView(BaseWriteView):
    """Store a fact as it is given, without reading anything from it. It is compared with what is
    held like every claim. `fact` is null where it waits for a person."""

    serializer_class = RememberFactSerializer
    answer: ClassVar = define_answer(
        "RememberedFact",
        "The fact that says it now, what became of it, and the event to undo.",
        event_id=UUID | None,
        fact=build_row_type(FACTS) | None,
        decision=RememberedDecision,
    )
    example: ClassVar = {
        "subject": "ana",
        "text": "Ana lives in Lisbon",
        "predicate": "lives_in",
        "value": "Lisbon",
        "valid_from": "2026-05-01T00:00:00Z",
    }

    def post(self, request: Request) -> Response:
        deed = self.read_deed(request)
        given = GivenFact(**deed.given)
        check_subjects_visible(request, given.subject)
        return self.run_once(request, lambda: _remember_fact(deed, given))


def _remember_fact(deed: TenantWriteRequest, given: GivenFact) -> dict[str, Any]:
    stored = remember_fact(deed.tenant_id, given, deed.actor, deed.now)
    fact, decision = stored.decided.fact, stored.decided.render_decision()
    return {
        "event_id": stored.event_id,
        "fact": deed.render_row(FACTS, fact.id) if fact else None,
        "decision": {name: decision[name] for name in ("op", "reason", "target")},
    }


class CorrectFactSerializer(ReasonSerializer):
    text = TextField(shape=NOT_BLANK)


class EndFactSerializer(ReasonSerializer):
    at = TimestampField(**NULL)


class PinMemorySerializer(ReasonSerializer):
    pinned = StrictBooleanField(default=True)


class MergeMemorySerializer(ReasonSerializer):
    """`other`: the memory that is taken out, of the same kind."""

    other = StrictIdField()


class FactWriteView(RowWriteView):
    resource = FACTS


class CorrectFactView(FactWriteView):
    """The same claim in better words: a new version, which the pipeline does not overwrite."""

    serializer_class = CorrectFactSerializer
    example: ClassVar = {"text": "Ana lives in Lisbon", "reason": "she said so on the phone"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.correct_fact, row_id, deed.given["text"])


class EndFactView(FactWriteView):
    """It is no longer so: it held until `at`, or until now."""

    serializer_class = EndFactSerializer
    example: ClassVar = {"at": "2026-05-01T00:00:00Z", "reason": "she moved"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        at = deed.given["at"]
        until = to_utc(at, deed.space.timezone, field="at") if at else None
        return deed.correct(corrections.end_fact, row_id, at=until)


class RetractFactView(FactWriteView):
    """It was never so: no time brings it back, and what it had closed holds again."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.retract_fact, row_id)


class ForgetFactView(FactWriteView):
    """Hold it no longer; what it had ended stays ended. `restore` brings it back."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.forget_facts, [row_id])


class RestoreFactView(FactWriteView):
    """It is so after all, and still."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.restore_fact, row_id)


class PinFactView(FactWriteView):
    """What is pinned does not fade, and the pipeline does not change it."""

    serializer_class = PinMemorySerializer
    example: ClassVar = {"pinned": True}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        kind, pinned = self.resource.name, deed.given["pinned"]
        return deed.correct(corrections.set_pinned, kind, row_id, pinned)


class MergeFactView(FactWriteView):
    """Two facts say the same: `other` is taken out, and what it rests on supports this one."""

    serializer_class = MergeMemorySerializer
    example: ClassVar = {"other": "0199d5a0-0000-7000-8000-000000000002", "reason": "said twice"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        kind, other = self.resource.name, deed.given["other"]
        return deed.correct(corrections.merge_memories, kind, other, row_id)
