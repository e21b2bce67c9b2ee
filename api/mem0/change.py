"""One memory, or several: read, changed, rated, deleted. A change is an event: it can be undone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import NULL, NameField, validate_body
from api.mem0 import render
from api.mem0.add import AddView
from api.mem0.ids import ID_NAMES
from api.mem0.requests import (
    UPDATE_FIELDS,
    list_ignored,
    name_ignored,
    name_place,
    read_deletion,
    read_update,
)
from api.mem0.search import list_memories
from api.mem0.select import (
    NO_SUCH_MEMORY,
    annotate_mem0_names,
    build_standing_condition,
    find_standing_versions,
    get_memory,
    get_standing_versions,
    get_versions,
    select_everything,
    select_memories,
)
from api.mem0.views import Mem0View, check_own_project, format_actor
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import FactCorrection
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, EvolutionEvent, Fact, Revision
from notes.quality.feedback import MAX_REASON_LENGTH, set_feedback

MAX_BATCH_MEMORIES = 1_000
# How many others may change a memory while one call does: each of its tries that fails is somebody
# else's that has succeeded.
MAX_RIVALS = 30
# How these clients say that a whole project is to be emptied.
_WHOLE_PROJECT = {name: {name: "*"} for name in ID_NAMES}

Changed = TypeVar("Changed")


class MemoriesV1View(AddView):
    """The first version's path: adds, lists, and deletes all of somebody's."""

    scopes: ClassVar = {"POST": "write", "GET": "read", "DELETE": "write"}

    def get(self, request: Request) -> Response:
        body = {name: value for name, value in request.query_params.items() if value}
        page = list_memories(request, body)
        paged = "page" in body or body.get("output_format") == "v1.1"
        return Response(page if paged else page["results"])

    def delete(self, request: Request) -> Response:
        key, wanted = get_request_key(request), read_deletion(dict(request.query_params.lists()))
        check_own_project(request)
        standing = build_standing_condition()
        if not wanted:
            raise InvalidInput(f"one of {', '.join(ID_NAMES)} is needed", field="user_id")
        with tenant_scope(key.tenant_id):
            if wanted == _WHOLE_PROJECT:
                rows = list(select_everything(key, standing).rows)
            else:
                rows = list(select_memories(key, wanted, standing).rows)
        events = _forget_memories(key, rows, format_actor(request))
        event_id = str(events[0].id) if events else None
        count = len({row.lineage for row in rows})
        told = {"message": f"{count} {'memory' if count == 1 else 'memories'} deleted"}
        return Response(told | {"event_id": event_id})


class MemoryView(Mem0View):
    scopes: ClassVar = {"GET": "read", "PUT": "write", "DELETE": "write"}

    def get(self, request: Request, memory_id: str) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            return Response(render.render_memory(get_memory(key, memory_id)))

    def put(self, request: Request, memory_id: str) -> Response:
        body, key = self.read_body(request), get_request_key(request)
        with tenant_scope(key.tenant_id):
            fact = get_memory(key, memory_id)
        _update_memories(key, {fact: read_update(body, fact)}, format_actor(request))
        with tenant_scope(key.tenant_id):
            shown = render.render_memory(get_memory(key, memory_id))
        return Response(name_ignored(shown, list_ignored(body, UPDATE_FIELDS)))

    def delete(self, request: Request, memory_id: str) -> Response:
        """All versions; with `delete_linked` also the memories that it ended, and so on."""
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            own = get_standing_versions(key, memory_id)
            deep = request.query_params.get("delete_linked", "").lower() == "true"
            linked = _load_superseded(own) if deep else []
        _forget_memories(key, [*own, *linked], format_actor(request))
        count = len({fact.lineage for fact in linked})
        return Response({"message": "Memory deleted successfully!", "cascade_count": count})


def _load_superseded(facts: Sequence[Fact]) -> list[Fact]:
    """The memories that stand and were superseded by these, directly or not."""
    known = {fact.lineage for fact in facts}
    found: list[Fact] = []
    wave = {fact.supersedes_id for fact in facts if fact.supersedes_id}
    while wave:
        rows = list(annotate_mem0_names(Fact.objects.filter(id__in=wave)))
        found += [row for row in rows if row.lineage not in known]
        wave = {r.supersedes_id for r in rows if r.supersedes_id} - {r.id for r in found}
    return [fact for fact in found if not fact.retired_at and fact.status != "retracted"]


def _group_by_space(facts: Iterable[Fact]) -> dict[Space, list[Fact]]:
    grouped: dict[Space, list[Fact]] = defaultdict(list)
    for fact in facts:
        grouped[fact.space].append(fact)
    return grouped


def _update_memories(key: KeyRow, wanted: Mapping[Fact, FactCorrection], actor: str) -> None:
    """All or none. A caller's update takes no side: what is read later may still change the memory.
    Raises NotFound for what was deleted meanwhile."""
    by_lineage = {fact.lineage: each for fact, each in wanted.items()}
    by_space = _group_by_space(wanted)

    def update(space: Space, facts: list[Fact], *, dry_run: bool) -> None:
        newest = {fact.lineage: fact for fact in reversed(facts)}
        if len(newest) < len(by_space[space]):
            raise NotFound(NO_SUCH_MEMORY)
        changes = {fact.id: by_lineage[fact.lineage] for fact in newest.values()}
        corrections.correct_facts(
            space, changes, actor, timezone.now(), protects=False, dry_run=dry_run
        )

    # What is refused of one user's memories is known before another's are changed.
    for dry_run in (True, False) if len(by_space) > 1 else (False,):
        for space, facts in by_space.items():
            _change_standing(key, space, facts, partial(update, dry_run=dry_run))


def _forget_memories(key: KeyRow, facts: Iterable[Fact], actor: str) -> list[EvolutionEvent]:
    """One event a space; none where others have deleted them meanwhile."""

    def forget(space: Space, own: list[Fact]) -> EvolutionEvent | None:
        ids = dict.fromkeys(fact.id for fact in own)
        done = ids and corrections.forget_facts(space, ids, actor, timezone.now())
        return done.event if done else None

    made = [
        _change_standing(key, space, own, forget) for space, own in _group_by_space(facts).items()
    ]
    return [event for event in made if event]


def _change_standing(
    key: KeyRow,
    space: Space,
    facts: list[Fact],
    change: Callable[[Space, list[Fact]], Changed],
) -> Changed:
    """Change memories of one space, and the versions of them that stand then where others have
    changed them meanwhile: of those who write at the same time the last one's word stands."""
    for _ in range(MAX_RIVALS):
        try:
            return change(space, facts)
        except Conflict:
            tried = {(fact.id, fact.version) for fact in facts}
            with tenant_scope(key.tenant_id):
                found = find_standing_versions(key, {str(fact.lineage) for fact in facts})
            facts = [fact for versions in found.values() for fact in versions]
            if tried == {(fact.id, fact.version) for fact in facts}:
                raise
    return change(space, facts)


class MemoryHistoryView(Mem0View):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, memory_id: str) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            facts = list(get_versions(key, memory_id))
            ids = [fact.id for fact in facts]
            revisions = Revision.objects.filter(row_type="fact", row_id__in=ids)
            ordered = revisions.select_related("event").order_by("event__created_at", "id")
            return Response(render.render_history(facts, ordered, _load_source_messages(ids)))


def _load_source_messages(fact_ids: Collection[UUID]) -> dict[UUID, list[dict[str, str]]]:
    """The messages that each version was read from, as they were sent."""
    rows = Derivation.objects.filter(
        child_type="fact", child_id__in=fact_ids, role=Derivation.Role.SUPPORT
    ).exclude(turn__state=Turn.State.REDACTED)
    found: dict[UUID, list[dict[str, str]]] = defaultdict(list)
    for row in rows.select_related("turn").order_by("turn__seq"):
        found[row.child_id].append({"role": row.turn.role, "content": row.turn.text})
    return found


class MemoryBatchView(Mem0View):
    """Several memories in one call: all are changed, or none."""

    scopes: ClassVar = {"PUT": "write", "DELETE": "write"}

    def put(self, request: Request) -> Response:
        wanted, key = _read_batch(self.read_body(request)), get_request_key(request)
        rows, facts = _load_batch(key, wanted), {}
        for at, (each, body) in enumerate(wanted.items()):
            with name_place(f"memories[{at}]"):
                facts[rows[each][0]] = read_update(body, rows[each][0])
        _update_memories(key, facts, format_actor(request))
        told = {"message": f"Successfully updated {len(facts)} memories"}
        ignored = {name for each in wanted.values() for name in list_ignored(each, UPDATE_FIELDS)}
        return Response(name_ignored(told, sorted(ignored)))

    def delete(self, request: Request) -> Response:
        wanted, key = _read_batch(self.read_body(request)), get_request_key(request)
        facts = [fact for versions in _load_batch(key, wanted).values() for fact in versions]
        _forget_memories(key, facts, format_actor(request))
        return Response({"message": f"Successfully deleted {len(wanted)} memories"})


def _read_batch(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By memory, what was sent about it. Raises InvalidInput."""
    sent = body.get("memories")
    if not isinstance(sent, list) or not 0 < len(sent) <= MAX_BATCH_MEMORIES:
        raise InvalidInput(f"a list of 1 to {MAX_BATCH_MEMORIES} memories", field="memories")
    found: dict[str, dict[str, Any]] = {}
    for at, each in enumerate(sent):
        memory_id = each.get("memory_id") if isinstance(each, dict) else None
        if not isinstance(memory_id, str):
            raise InvalidInput("the id of a memory", field=f"memories[{at}].memory_id")
        if memory_id in found:
            raise InvalidInput("once is enough", field=f"memories[{at}].memory_id")
        found[memory_id] = each
    return found


def _load_batch(key: KeyRow, wanted: Mapping[str, Any]) -> dict[str, list[Fact]]:
    """By memory, the versions that stand. Raises NotFound, which names the first without any."""
    with tenant_scope(key.tenant_id):
        rows = find_standing_versions(key, wanted)
    for at, each in enumerate(wanted):
        if each not in rows:
            raise NotFound(NO_SUCH_MEMORY, field=f"memories[{at}].memory_id")
    return rows


_VERDICT_NAMES = ("POSITIVE", "NEGATIVE", "VERY_NEGATIVE")


class MemoryFeedbackSerializer(serializers.Serializer[Any]):
    memory_id = NameField(max_length=100)
    feedback = NameField(**NULL, max_length=20)
    feedback_reason = NameField(allow_null=True, default="", max_length=MAX_REASON_LENGTH)

    def validate_feedback(self, given: str | None) -> str | None:
        if given and given.upper() not in _VERDICT_NAMES:
            raise serializers.ValidationError(f"one of {', '.join(_VERDICT_NAMES)}, or null")
        return given


class MemoryFeedbackView(Mem0View):
    """The key's word on a memory; null takes it back."""

    scopes: ClassVar = {"POST": "write"}

    def post(self, request: Request) -> Response:
        wanted = validate_body(MemoryFeedbackSerializer, self.read_body(request))
        key, actor = get_request_key(request), format_actor(request)
        verdict = wanted["feedback"] and wanted["feedback"].lower()
        reason = wanted["feedback_reason"] or ""
        with tenant_scope(key.tenant_id):
            fact = get_memory(key, wanted["memory_id"])
            kept = set_feedback(fact, verdict or None, actor, timezone.now(), reason=reason)
        told = {"id": str(kept.id) if kept else None, "feedback": wanted["feedback"]}
        return Response(told | {"feedback_reason": reason or None})
