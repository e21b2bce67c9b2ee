"""Users, agents, apps and runs: who there are, and their erasure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import F, Max, Min, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import filter_reached, get_request_key
from api.mem0.ids import ID_KINDS, is_user_subject, normalise_id
from api.mem0.views import Mem0View, build_page, format_actor
from api.rows.read_views import parse_uuid
from memoryhub.dialogues.models import Turn
from memoryhub.errors import NotFound
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

# Of a message, what names the agent, app or run; a user is a subject.
_NAME_BY_KIND: dict[str, Any] = {
    "agent": F("agent"),
    "app": KeyTextTransform("app", "terms"),
    "run": F("session__external_id"),
}


class EntitiesView(Mem0View):
    """Everybody there are memories of. Users come last: with them goes what the others hold."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            everybody = list(_list_entities(key))
            page = build_page(request, everybody, list)
        kinds = Counter(entity["type"] for entity in everybody)
        return Response(page | {f"total_{kind}s": kinds[kind] for kind in ID_KINDS})


def _select_turns(key: KeyRow) -> QuerySet[Turn]:
    return filter_reached(Turn.objects.exclude(state=Turn.State.REDACTED), key)


def _list_entities(key: KeyRow) -> Iterator[dict[str, Any]]:
    for kind, named in _NAME_BY_KIND.items():
        rows = _select_turns(key).annotate(called=named).exclude(Q(called="") | Q(called=None))
        spans = rows.values_list("called").annotate(Min("received_at"), Max("received_at"))
        for name, first, last in spans.order_by("called"):
            yield _render_entity(kind, name, name, first, last)
    for space in filter_reached(Space.objects.order_by("subject"), key, "id"):
        if is_user_subject(space.subject):
            at = space.last_activity_at or space.created_at
            yield _render_entity("user", str(space.id), space.subject, space.created_at, at)


def _render_entity(kind: str, entity_id: str, name: str, first: Any, last: Any) -> dict[str, Any]:
    return {
        "id": entity_id,
        "name": name,
        "type": kind,
        "created_at": first.isoformat(),
        "updated_at": last.isoformat(),
        "owner": None,
        "metadata": {},
    }


class EntityView(Mem0View):
    """Erases everything of a user, an agent, an app or a run, for good."""

    scopes: ClassVar = {"DELETE": "admin"}

    def delete(self, request: Request, kind: str, name: str) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            targets = list(_find_erasure_targets(key, kind.removesuffix("s"), name))
        # An agent's memories may have been a run's as well: who erases both finds one gone.
        if not targets and kind.removesuffix("s") not in _NAME_BY_KIND:
            raise NotFound(f"There is no such {kind}.")
        receipts = [
            erase_targets.execute_erasure(space, target, format_actor(request), timezone.now())
            for space, target in targets
        ]
        event_id = str(receipts[0].id) if receipts else None
        return Response({"message": "Entity deleted", "event_id": event_id})


def _find_erasure_targets(
    key: KeyRow, kind: str, name: str
) -> Iterator[tuple[Space, ErasureTarget]]:
    """What to erase of which space. A user may also be meant by the space's id."""
    name = normalise_id(name)
    if not name:  # what was said with nobody is no agent's
        return
    if kind == "user":
        if is_user_subject(name):
            spaces = Space.objects.filter(Q(subject=name) | Q(id=parse_uuid(name)))
            for space in filter_reached(spaces, key, "id"):
                yield space, ErasureTarget("subject")
    elif kind in _NAME_BY_KIND:
        named = _select_turns(key).annotate(called=_NAME_BY_KIND[kind]).filter(called=name)
        by_space: dict[Space, list[UUID]] = {}
        for turn in named.select_related("space").order_by("seq"):
            by_space.setdefault(turn.space, []).append(turn.id)
        for space, ids in by_space.items():
            yield space, ErasureTarget("turns", tuple(ids))
