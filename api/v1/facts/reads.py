"""Claims: what is held true about a subject, what was, and since when."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.core.fields import TimestampField
from api.rows.columns import Resource, build_columns
from api.rows.read_views import SpaceListView
from api.rows.sources import build_source_loader
from api.schema.openapi import PAGE_PARAMETERS, build_time_parameter
from memoryhub.dialogues.messages import to_utc
from memoryhub.errors import InvalidInput, NotFound
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

    def select_rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return FACTS.select_space_rows(space)

    def build_status_condition(self, request: Request, space: Space) -> Q:
        at = read_time_parameter(request, "as_of", space)
        if at is not None and "status" in request.query_params:
            raise InvalidInput("either as_of or status", field="as_of")
        return build_current_q(at) if at else super().build_status_condition(request, space)


class FactVersionsView(SpaceListView):
    """Every wording of a fact and every successor, the newest first."""

    resource = replace(FACTS, order=("-lineage_version", "-id"), current_condition=None)

    def select_rows(self, request: Request, space: Space) -> QuerySet[Any]:
        lineage = (
            Fact.objects.filter(space=space, id=self.kwargs["row_id"])
            .values_list("lineage")
            .first()
        )
        if lineage is None:
            raise NotFound("There is no such fact.")
        return FACTS.select_space_rows(space).filter(lineage=lineage[0])
