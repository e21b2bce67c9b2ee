"""Claims: what is held true about a subject, what was, and since when."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.columns import DERIVED, ID, NUMBER, RETAINED, TEXT, TIME, Column, Resource
from api.fields import TimestampField
from api.resources.base import ListView
from api.resources.sources import with_sources
from api.schema import PAGE_PARAMETERS, time_parameter
from memoryhub.dialogues.messages import in_zone
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.models import Space
from notes.models import Fact
from notes.queries import is_current

FACTS = Resource(
    "fact",
    "A claim. `lineage` is the same for all its wordings and successors.",
    Fact,
    {
        "id": ID,
        "lineage": ID,
        "lineage_version": NUMBER,
        "text": TEXT,
        "owner": TEXT,
        "speaker": TEXT,
        "predicate": Column("text", "predicate_key"),
        "value": Column("text", "o"),
        "cardinality": TEXT,
        "kind": TEXT,
        "polarity": TEXT,
        "status": TEXT,
        "valid_from": TIME,
        "valid_to": TIME,
        "event_from": TIME,
        "event_to": TIME,
        "event_text": TEXT,
        "asserted_at": TIME,
        "recorded_at": TIME,
        "supersedes": Column("id", "supersedes_id"),
        "confidence": NUMBER,
        "mention_count": NUMBER,
        "shelf": TEXT,
        **RETAINED,
        **DERIVED,
    },
    order=("-asserted_at", "-id"),
    held=is_current,
    version="version",
    more=with_sources("fact"),
)
AS_OF = time_parameter("as_of", "What held at that time; not with `status`.")


def asked_time(request: Request, name: str, space: Space) -> datetime | None:
    """A time of the query string, without a zone in the space's. Raises InvalidInput."""
    given = request.query_params.get(name)
    if given is None:
        return None
    try:
        return in_zone(TimestampField.read(given), space.timezone, field=name)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("ISO 8601, or seconds since 1970", field=name) from None


class FactsView(ListView):
    """What is held true, `?status=all` also what was, `?as_of=` what held at that time."""

    resource = FACTS
    parameters: ClassVar = [*PAGE_PARAMETERS, AS_OF]

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return FACTS.of(space)

    def held(self, request: Request, space: Space) -> Q:
        at = asked_time(request, "as_of", space)
        if at is not None and "status" in request.query_params:
            raise InvalidInput("either as_of or status", field="as_of")
        return is_current(at) if at else super().held(request, space)


class FactVersionsView(ListView):
    """Every wording of a fact and every successor, the newest first."""

    resource = replace(FACTS, order=("-lineage_version", "-id"), held=None)

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        lineage = (
            Fact.objects.filter(space=space, id=self.kwargs["row_id"])
            .values_list("lineage")
            .first()
        )
        if lineage is None:
            raise NotFound("There is no such fact.")
        return FACTS.of(space).filter(lineage=lineage[0])
