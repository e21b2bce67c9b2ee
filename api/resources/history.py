"""What changed memory, when and why; what was held before; what has changed since."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.columns import FLAG, ID, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.listing import limit_of
from api.resources.base import space_at
from api.resources.facts import asked_time
from api.schema import PAGE_PARAMETERS, time_parameter
from api.views import HubView
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import registry, timeline
from notes.models import EvolutionEvent, Revision


def _revisions(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    """What it changed, and whether that was undone. Two queries."""
    rows = Revision.objects.filter(event=row_id).order_by("row_type", "id")
    names = ("row_type", "row_id", "version_before", "version_after", "before", "after")
    undone = EvolutionEvent.objects.filter(undo_of=row_id).order_by("-created_at")
    return {
        "changes": list(rows.values(*names)[:200]),
        "undone_by": undone.values_list("id", flat=True).first(),
    }


EVENTS = Resource(
    "event",
    "One change-set: who or what changed memory, and why.",
    EvolutionEvent,
    {
        "id": ID,
        "kind": TEXT,
        "actor": TEXT,
        "trigger": TEXT,
        "reason": TEXT,
        "engine": TEXT,
        "policy_version": TEXT,
        "job_id": ID,
        "undo_of": Column("id", "undo_of_id"),
        "is_purged": FLAG,
        "created_at": TIME,
    },
    order=("-created_at", "-id"),
    more=_revisions,
)
HISTORY = Resource(
    "change",
    "One row's change within an event. `before` is null when the event made the row.",
    Revision,
    {
        "id": ID,
        "event_id": ID,
        "event_kind": Column("text", "event__kind"),
        "actor": Column("text", "event__actor"),
        "reason": Column("text", "event__reason"),
        "created_at": Column("time", "event__created_at"),
        "row_type": TEXT,
        "row_id": ID,
        "version_before": NUMBER,
        "version_after": NUMBER,
        "before": OBJECT,
        "after": OBJECT,
    },
    order=("-created_at", "-id"),
)
_KIND = OpenApiParameter(
    "kind",
    str,
    enum=sorted(kind.name for kind in registry.kinds()),
    description="Only rows of this kind.",
)


class _Told(HubView):
    """A list made in memory: by kind and id, the cursor being the last one's."""

    scopes: ClassVar = {"GET": "read"}
    time = ""

    def get(self, request: Request, subject: str) -> Response:
        space = space_at(request, subject)
        at = asked_time(request, self.time, space)
        if at is None:
            raise InvalidInput("a time", field=self.time)
        kind, limit = _kind(request), limit_of(request)
        with tenant_scope(space.tenant_id):
            found = [one for one in self.told(space, at) if kind in (None, one["kind"])]
        return Response(_page(request, found, limit))

    def told(self, space: Space, at: Any) -> list[dict[str, Any]]:
        raise NotImplementedError


class AsOfView(_Told):
    """The rows held at a moment of the past, with the values they had."""

    time = "at"
    parameters: ClassVar = [
        time_parameter("at", "The moment.", required=True),
        _KIND,
        *PAGE_PARAMETERS[:2],
    ]

    def told(self, space: Space, at: Any) -> list[dict[str, Any]]:
        held = timeline.as_of(space, at)
        return [{"kind": k, "id": row, "values": values} for (k, row), values in held.items()]


class ChangesView(_Told):
    """What is different now from what was held at a moment of the past."""

    time = "since"
    parameters: ClassVar = [
        time_parameter("since", "The moment.", required=True),
        _KIND,
        *PAGE_PARAMETERS[:2],
    ]

    def told(self, space: Space, at: Any) -> list[dict[str, Any]]:
        return [change_shown(one) for one in timeline.since(space, at, timezone.now())]


def change_shown(one: timeline.RowChange) -> dict[str, Any]:
    """A row that is not what it was, in the words of the API."""
    changed = {name: {"before": old, "after": new} for name, old, new in one.fields}
    values = one.after or one.before
    return {"kind": one.kind, "id": one.row_id, "how": one.how, "values": values, "fields": changed}


def _kind(request: Request) -> str | None:
    given = request.query_params.get("kind")
    known = sorted(kind.name for kind in registry.kinds())
    if given is not None and given not in known:
        raise InvalidInput(f"one of {', '.join(known)}", field="kind")
    return given


def _page(request: Request, found: Sequence[dict[str, Any]], limit: int) -> dict[str, Any]:
    ordered = sorted(found, key=_place)
    after = _after(request)
    left = [one for one in ordered if _place(one) > after]
    more = len(left) > limit
    return {
        "items": left[:limit],
        "total": len(ordered),
        "next": _place(left[limit - 1]) if more else None,
    }


def _after(request: Request) -> str:
    """The place that the cursor names. Raises InvalidInput."""
    given = request.query_params.get("cursor")
    if given is not None and not re.fullmatch("[a-z]+:[0-9a-f-]{36}", given):
        raise InvalidInput("take `next` of the page before", field="cursor")
    return given or ""


def _place(one: dict[str, Any]) -> str:
    return f"{one['kind']}:{one['id']}"
