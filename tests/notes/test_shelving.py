"""The shelf: a bounded view of facts (MemoryOS, spec §11.4)."""

from __future__ import annotations

from datetime import timedelta

from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.facts import fact_shelf
from notes.history.change_set import ChangeSet
from notes.index import indexer
from notes.models import Fact
from tests.support.factories import MAY, make_fact, make_space, make_tenant
from tests.support.hub import ScriptedHub


def test_MO9_the_shelf_shows_the_newest_and_all_pinned(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        space = hub.space
        for number in range(104):
            fact = make_fact(
                space,
                f"Fact number {number}.",
                shelf="user_kb",
                shelved_at=MAY + timedelta(minutes=number),
                pinned=number < 3,
            )
            if number == 3:
                entries = indexer.build_fact_entries([fact])
                vectors = indexer.embed_entries(entries, hub.embedder)
                indexer.write_entries(space, hub.embedder.name, entries, vectors)
        shelf = fact_shelf.select_within_cap(
            fact_shelf.filter_shelved(space, Fact.Shelf.USER, MAY), 100
        )
        shown = [fact.text for fact in shelf]
        assert len(shown) == 103
        assert [fact.pinned for fact in shelf] == [True] * 3 + [False] * 100
        assert "Fact number 3." not in shown
        fallen = Fact.objects.get(text="Fact number 3.")
        assert (fallen.shelf, fallen.status, fallen.version) == ("user_kb", "active", 1)
    found = search_memories(hub.space, "fact number 3", kinds=("fact",), as_of=MAY)
    assert [item.text for item in found.items] == ["Fact number 3."]


def test_a_successor_takes_the_slot(db: None) -> None:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        space = make_space(tenant)
        old = make_fact(space, "Lives in Rome.", shelf="user_kb", shelved_at=MAY)
        new = make_fact(space, "Lives in Berlin.")
        fact_shelf.hand_over_shelf_slot(old, new)
        assert (old.shelf, old.shelved_at) == ("", None)
        assert (new.shelf, new.shelved_at) == ("user_kb", MAY)


def test_what_is_shelved_already_keeps_its_place(db: None) -> None:
    tenant = make_tenant()
    later = MAY + timedelta(days=1)
    with tenant_scope(tenant.id):
        space = make_space(tenant)
        old = make_fact(space, "Keeps bees.", shelf="user_kb", shelved_at=MAY)
        new = make_fact(space, "Keeps hens.")
        changes = ChangeSet(space, "promote", "pipeline", later)
        assert fact_shelf.shelve_facts([old, new], Fact.Shelf.USER, changes, later) == 1
        old.refresh_from_db()
        assert (old.shelved_at, old.version) == (MAY, 1)
        assert [each.row_id for each in changes.revisions] == [new.id]
