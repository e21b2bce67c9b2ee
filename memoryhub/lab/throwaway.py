"""A tenant for one measurement: loaded through the real write path, gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.apps import apps
from django.db import connection
from django.utils import timezone

from memoryhub.dialogues.services import append_turns
from memoryhub.lab.datasets import Dialogue
from memoryhub.models_in_use import embedder
from memoryhub.pipeline.services import IngestRequest, ingest, run_space
from memoryhub.tenants.models import Space, Tenant, TenantModel
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.indexing import embed_entries, turn_entries, write_entries


@contextmanager
def throwaway_tenant() -> Iterator[Tenant]:
    """A tenant that is deleted with all its rows, whatever happens meanwhile."""
    name = f"lab-{uuid4().hex[:12]}"
    tenant = create_tenant(name, name)
    try:
        yield tenant
    finally:
        _delete(tenant)


def _delete(tenant: Tenant) -> None:
    """By table: foreign keys are checked at commit, so the order does not matter."""
    tables = [m._meta.db_table for m in apps.get_models() if issubclass(m, TenantModel)]
    with tenant_scope(tenant.id), connection.cursor() as cursor:
        for table in tables:
            quoted = connection.ops.quote_name(table)
            cursor.execute(f"DELETE FROM {quoted} WHERE tenant_id = %s", [tenant.id])  # noqa: S608  # our own table names
        Tenant.objects.filter(id=tenant.id).delete()


def load_derived(tenant: Tenant, dialogue: Dialogue) -> Space:
    """Through ingest and pipeline, so that facts and notes are found as well."""
    for session in dialogue.conversation.sessions:
        request = IngestRequest(dialogue.name, session.messages, session.name)
        space = ingest(tenant.id, request).space
    run_space(tenant.id, space.id)
    with tenant_scope(tenant.id):
        space.refresh_from_db()
    return space


def load_turns(tenant: Tenant, dialogue: Dialogue) -> Space:
    """Turns and their index only: no facts, no notes."""
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, dialogue.name)
        turns = [
            turn
            for session in dialogue.conversation.sessions
            for turn in append_turns(
                space, session.messages, received=timezone.now(), session_id=session.name
            ).turns
        ]
    model = embedder()
    entries = turn_entries(turns, space.speakers)
    vectors = embed_entries(entries, model)
    with tenant_scope(tenant.id):
        write_entries(space, model.name, entries, vectors)
    return space
