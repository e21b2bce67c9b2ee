"""Tenants for one measurement: loaded through the real write path, gone afterwards.

Whoever uses one holds its lock, which ends with the process. So what a killed process left
behind can be told from what another one is using, and the next measurement sweeps it away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

from django.apps import apps
from django.db import connection
from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.errors import Conflict
from memoryhub.inference.selection import get_current_embedder
from memoryhub.lab.datasets.types import Dialogue
from memoryhub.lab.locks import LOCKS
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.tasks import silence_doorbell
from memoryhub.tenants.models import Space, Tenant, TenantModel
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space, find_tenant
from notes.index.indexer import build_turn_entries, embed_entries, write_entries


@contextmanager
def open_throwaway_tenant() -> Iterator[Tenant]:
    """A tenant that is deleted with all its rows, whatever happens meanwhile."""
    with open_kept_tenant(build_tenant_slug()) as tenant:
        try:
            yield tenant
        finally:
            delete_tenant_rows(tenant.id)


@contextmanager
def open_kept_tenant(slug: str) -> Iterator[Tenant]:
    """The tenant of this slug, made if need be; deleted by whoever wants it no more.

    Raises Conflict when another process is using it.
    """
    with LOCKS.hold(slug) as free:
        if not free:
            raise Conflict(f"another process is using {slug}")
        yield find_tenant(slug) or create_tenant(slug, slug, own_clock=True)


def build_tenant_slug() -> str:
    """With two hyphens: no tenant of a person has such a slug unless somebody means it to."""
    return f"lab--{uuid4().hex[:12]}"


def delete_abandoned_tenants(keep: Collection[str] = ()) -> list[str]:
    """Delete what killed processes left behind. Returns the slugs of those that are gone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, slug FROM memoryhub_lab_tenants()")
        left = [(at, slug) for at, slug in cursor.fetchall() if slug not in keep]
    gone = []
    for tenant_id, slug in left:
        with LOCKS.hold(slug) as free:
            if free:
                delete_tenant_rows(tenant_id)
                gone.append(slug)
    return gone


def delete_tenant_rows(tenant_id: UUID) -> None:
    """By table: foreign keys are checked at commit, so the order does not matter."""
    tables = [m._meta.db_table for m in apps.get_models() if issubclass(m, TenantModel)]
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        for table in tables:
            quoted = connection.ops.quote_name(table)
            cursor.execute(f"DELETE FROM {quoted} WHERE tenant_id = %s", [tenant_id])  # noqa: S608  # our own table names
        Tenant.objects.filter(id=tenant_id).delete()


def write_derived_dialogue(tenant: Tenant, dialogue: Dialogue) -> Space:
    """Through ingest and pipeline, so that facts and notes are found as well."""
    with silence_doorbell():
        for session in dialogue.conversation.sessions:
            request = IngestRequest(dialogue.name, session.messages, session.name)
            space = ingest_messages(tenant.id, request).space
        run_space(tenant.id, space.id)
    with tenant_scope(tenant.id):
        space.refresh_from_db()
    return space


def write_dialogue_turns(tenant: Tenant, dialogue: Dialogue) -> Space:
    """Turns and their index only: no facts, no notes."""
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, dialogue.name)
        turns = list[Turn]()
        for session in dialogue.conversation.sessions:
            said, now = session.messages, timezone.now()
            turns += append_turns(space, said, received=now, session_id=session.name).turns
    model = get_current_embedder()
    entries = build_turn_entries(turns, space.speakers)
    vectors = embed_entries(entries, model)
    with tenant_scope(tenant.id):
        write_entries(space, model.name, entries, vectors)
    return space
