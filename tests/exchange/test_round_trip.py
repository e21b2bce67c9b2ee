"""What goes out comes in again, whole: export, import elsewhere, export again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps

from memoryhub.declarations import load_declarations
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.exchange.after_import import IMPORT_TRIGGER
from memoryhub.exchange.tables import SPACE_TABLES, TENANT_TABLES
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review import review_rules
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import serialize_row
from notes.history.timeline import list_later_events
from notes.models import EvolutionEvent, Fact, IndexEntry, Link, Note
from personas.blocks import attach_block
from personas.models import CoreBlock
from tests.support.export_files import (
    JULY,
    build_export_file,
    change_export_file,
    import_export_file,
    make_export_file,
    normalise_export_file,
    parse_lines,
    select_arrivals,
    select_kind,
)
from tests.support.factories import (
    make_proposal,
    make_receipt,
    make_space,
    make_tenant,
    make_turns,
)
from tests.support.hub import ScriptedHub


def get_space(tenant: Tenant, subject: str = "Ana") -> Space:
    with tenant_scope(tenant.id):
        return Space.objects.get(subject=subject)


def get_policy(tenant: Tenant) -> Policy:
    with tenant_scope(tenant.id):
        return load_effective_policy(Space.objects.get(subject="Ana")).policy


def get_liking_text(tenant: Tenant) -> str:
    with tenant_scope(tenant.id):
        return str(Fact.objects.get(retired_at=None, text__contains="kayaking").text)


def test_a_space_comes_out_as_it_went_in_up_to_its_ids(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    set_policy(full.tenant.id, actor="ida", overrides={"recall.k_min": 6}, space=full.space)
    review_rules.create_rule(full.tenant.id, "conflict", "reject", "ida", JULY, space=full.space)
    data = make_export_file(full.tenant, "Ana")
    told = {line["row"] for line in parse_lines(data)[1:]}
    assert set(SPACE_TABLES) <= told  # a row of every kind, or this test shows less than it says
    report = import_export_file(elsewhere, data)
    assert report.ids == "new"  # they are taken, by a tenant that this one can't see
    assert normalise_export_file(make_export_file(elsewhere, "Ana")) == normalise_export_file(data)
    assert not {line.get("id") for line in parse_lines(data)[1:]} & {
        line.get("id", "-") for line in parse_lines(make_export_file(elsewhere, "Ana"))[1:]
    }


def test_ids_are_kept_where_they_are_free(full: ScriptedHub, elsewhere: Tenant) -> None:
    data = make_export_file(full.tenant, "Ana")
    with tenant_scope(full.tenant.id):
        Space.objects.all().delete()
    assert import_export_file(elsewhere, data).ids == "kept"
    again = make_export_file(elsewhere, "Ana")
    (came,) = select_arrivals(again)
    assert [line for line in parse_lines(again)[1:-1] if line != came] == parse_lines(data)[1:-1]


def test_history_says_who_brought_it_in_and_from_what(full: ScriptedHub, elsewhere: Tenant) -> None:
    first = make_export_file(full.tenant, "Ana")
    import_export_file(elsewhere, first, subject="Rui")
    second = make_export_file(elsewhere, "Rui")
    (came,) = select_arrivals(second)
    assert came["reason"] == "imported from an export of Ana made on 1 July 2026 (format 2.0)"
    assert (came["actor"], came["created_at"]) == ("ida", JULY.isoformat())
    third = make_tenant("Third")
    import_export_file(third, second)
    said = [event["reason"] for event in select_arrivals(make_export_file(third, "Rui"))]
    assert [reason.split(" made ")[0].split(" of ")[1] for reason in said] == ["Ana", "Rui"]


def test_going_back_before_an_import_is_going_back_in_what_came(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    """The event of an import changed no row, so that nothing of it stands in the way."""
    with tenant_scope(full.tenant.id):
        edit = EvolutionEvent.objects.get(reason="as she says")
    import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    space = get_space(elsewhere)
    with tenant_scope(elsewhere.id):
        later = list_later_events(space, edit.created_at - timedelta(microseconds=1))
        assert IMPORT_TRIGGER not in {event.trigger for event in later}
        came = EvolutionEvent.objects.get(trigger=IMPORT_TRIGGER)
    with pytest.raises(Conflict, match="nothing was changed"):
        undo_event(came, "ida", JULY)


def test_every_table_is_in_a_file_or_stays_for_a_reason() -> None:
    ours = ("memoryhub", "notes", "personas", "api")
    tables = {
        model._meta.label_lower
        for model in apps.get_models()
        if model.__module__.partition(".")[0] in ours
    }
    told = {
        kind.model._meta.label_lower for kind in (*SPACE_TABLES.values(), *TENANT_TABLES.values())
    }
    excluded = {
        f"{label}.{name}"
        for label, app in load_declarations().items()
        for name, kind in app.export_kinds.items()
        if isinstance(kind, str)
    }
    assert tables == told | excluded
    assert not told & excluded


def test_it_comes_back_beside_itself_under_another_name(full: ScriptedHub) -> None:
    data = make_export_file(full.tenant, "Ana")
    report = import_export_file(full.tenant, data, subject="Ana, as of July")
    assert [each["subject"] for each in report.spaces] == ["Ana, as of July"]
    first, second = (
        normalise_export_file(data),
        normalise_export_file(make_export_file(full.tenant, "Ana, as of July")),
    )
    assert second[1].pop("subject") == "Ana, as of July"
    assert first[1].pop("subject") == "Ana"
    # Whose words and facts these are is told by the name that was written.
    assert (first[1].pop("name"), second[1].pop("name")) == ("", "Ana")
    assert (first[1].pop("former_names"), second[1].pop("former_names")) == ([], ["Ana"])
    assert first == second


def test_a_copy_under_another_name_is_about_who_spoke_under_the_first(hub: ScriptedHub) -> None:
    hub.subject = "user-7"
    hub.say("I live in Porto.")
    import_export_file(hub.tenant, make_export_file(hub.tenant, "user-7"), subject="user-8")
    copy = get_space(hub.tenant, "user-8")
    with tenant_scope(hub.tenant.id):
        speakers = set(Turn.objects.filter(space=copy).values_list("speaker", flat=True))
    assert speakers == {"user-7"}
    assert speakers <= {*copy.called_names}
    assert copy.name_owner("user-7") == copy.display_name == "the user"


def test_an_empty_space_that_is_there_takes_it_in(full: ScriptedHub, elsewhere: Tenant) -> None:
    with tenant_scope(elsewhere.id):
        waiting = make_space(elsewhere, "Ana")
    report = import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    assert report.spaces == [{"id": str(waiting.id), "subject": "Ana", "existed": True}]
    assert get_space(elsewhere).next_seq == full.space.next_seq


def test_history_goes_on_where_it_came_to(full: ScriptedHub, elsewhere: Tenant) -> None:
    """What was done there can be undone here: revisions name the rows they became."""
    import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    assert get_liking_text(elsewhere) == "Ana loves kayaking."
    with tenant_scope(elsewhere.id):
        edit = EvolutionEvent.objects.get(reason="as she says")
    undo_event(edit, "ida", full.now, cascade=True)
    assert get_liking_text(elsewhere) == "Ana likes kayaking."


def check_read_alike(hub: ScriptedHub, tenant: Tenant) -> None:
    """The other tenant's spaces are read as the first one's are."""
    with tenant_scope(hub.tenant.id):
        said = PolicyVersion.objects.get(space=None)
    set_policy(tenant.id, actor="ida", preset=said.preset, overrides=said.overrides)


def test_it_is_found_by_its_words_at_once_and_by_its_vectors_after_the_job(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    check_read_alike(full, elsewhere)
    report = import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    space = get_space(elsewhere)
    found = [item.text for item in search_memories(space, "kayaking").items]
    assert any("kayaking" in text for text in found)
    with tenant_scope(elsewhere.id):
        waiting = IndexEntry.objects.filter(embedding=None).count()
    assert waiting == report.vectors["to_make"] > 0
    runner.drain_space(elsewhere.id, space.id, JULY)
    with tenant_scope(elsewhere.id):
        assert not IndexEntry.objects.filter(embedding=None).exists()


def list_entries(tenant: Tenant, space: Space) -> list[tuple[Any, ...]]:
    names = ("kind", "chunk", "model", "text_hash", "words", "window_words", "embedding")
    with tenant_scope(tenant.id):
        rows = IndexEntry.objects.filter(space=space).values_list(*names)
        return sorted((*map(str, row),) for row in rows)


def test_vectors_in_the_file_are_taken_in_and_none_is_made(
    spoken: ScriptedHub, elsewhere: Tenant
) -> None:
    data = make_export_file(spoken.tenant, "Ana", embeddings=True)
    told = select_kind(data, "vector")
    report = import_export_file(elsewhere, data)
    assert report.vectors == {"taken": len(told), "to_make": 0}
    assert list_entries(elsewhere, get_space(elsewhere)) == list_entries(
        spoken.tenant, spoken.space
    )
    assert normalise_export_file(
        make_export_file(elsewhere, "Ana", embeddings=True)
    ) == normalise_export_file(data)


def test_vectors_of_an_embedder_that_is_not_here_are_made_anew(
    spoken: ScriptedHub, elsewhere: Tenant
) -> None:
    data = make_export_file(spoken.tenant, "Ana", embeddings=True).replace(b'"table"', b'"chair"')
    report = import_export_file(elsewhere, build_export_file(parse_lines(data)[:-1]))
    assert report.vectors["taken"] == 0
    assert report.vectors["to_make"] == len(select_kind(data, "vector"))
    assert get_space(elsewhere).embedding_model == get_configured_embedder().name == "table"


def test_vectors_of_other_words_are_not_taken_I9(spoken: ScriptedHub, elsewhere: Tenant) -> None:
    data = change_export_file(
        make_export_file(spoken.tenant, "Ana", embeddings=True), ("vector", {"text_hash": "0" * 64})
    )
    assert import_export_file(elsewhere, data).vectors["to_make"] == 1


def test_what_was_not_read_yet_is_read_where_it_came_to(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    check_read_alike(full, elsewhere)
    with tenant_scope(full.tenant.id):
        Turn.objects.filter(state="pending").update(state="failed")
    import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    with tenant_scope(elsewhere.id):
        (turn,) = Turn.objects.filter(state="pending")
        job = Job.objects.get(step="derive")
        assert (job.first_seq, job.last_seq) == (turn.seq, turn.seq)
    runner.drain_space(elsewhere.id, get_space(elsewhere).id, JULY)
    with tenant_scope(elsewhere.id):
        assert not Turn.objects.exclude(state="processed").exists()


def test_a_tenant_comes_out_as_it_went_in(full: ScriptedHub, elsewhere: Tenant) -> None:
    with tenant_scope(full.tenant.id):
        other = make_space(full.tenant, "Rui")
        make_turns(other, "I play chess.")
        attach_block(CoreBlock.objects.get(label="house rules"), other)
        make_receipt(full.tenant)
    data = make_export_file(full.tenant)
    told = {line["row"] for line in parse_lines(data)[1:]}
    assert set(TENANT_TABLES) - told == {"tombstone"}
    report = import_export_file(elsewhere, data)
    assert [each["subject"] for each in report.spaces] == ["Ana", "Rui"]
    first, second = normalise_export_file(data), normalise_export_file(make_export_file(elsewhere))
    apart = {"name", "slug", "engine"}
    assert [{k: v for k, v in line.items() if k not in apart} for line in first] == [
        {k: v for k, v in line.items() if k not in apart} for line in second
    ]
    assert get_policy(elsewhere) == get_policy(full.tenant)


def test_a_tenants_own_policy_stays(full: ScriptedHub, elsewhere: Tenant) -> None:
    set_policy(elsewhere.id, actor="eva", preset="mem0")
    report = import_export_file(elsewhere, make_export_file(full.tenant))
    assert report.left_out == {"policyversion": 1}
    assert get_policy(elsewhere).preset == "mem0"


def test_shared_blocks_are_not_a_subjects_own(full: ScriptedHub) -> None:
    """A space's file tells that it changed one, and no word of it."""
    data = make_export_file(full.tenant, "Ana")
    assert b"Be kind." not in data
    shared = [r for r in select_kind(data, "revision") if r["row_type"] == "coreblock"]
    assert any(r["after"] is None for r in shared)
    assert b"Be kind." in make_export_file(full.tenant)


def test_links_stay_in_order_and_ids_keep_their_times(full: ScriptedHub, elsewhere: Tenant) -> None:
    import_export_file(elsewhere, make_export_file(full.tenant, "Ana"))
    with tenant_scope(full.tenant.id):
        old = list(Note.objects.order_by("id").values_list("id", "content"))
    with tenant_scope(elsewhere.id):
        new = list(Note.objects.order_by("id").values_list("id", "content"))
        link = Link.objects.get()
        assert link.a_id < link.b_id
    assert [content for _, content in old] == [content for _, content in new]
    assert [note.bytes[:8] for note, _ in old] == [note.bytes[:8] for note, _ in new]


def test_the_same_file_comes_in_as_often_as_there_are_tenants(full: ScriptedHub) -> None:
    data = make_export_file(full.tenant, "Ana")
    for name in ("Second", "Third"):
        tenant = make_tenant(name)
        import_export_file(tenant, data)
        assert normalise_export_file(make_export_file(tenant, "Ana")) == normalise_export_file(data)


_SLOTS = {"subject": "s", "verb": "v", "object": "o", "indirect_object": "o2", "complement": "c"}


def rename_slots(row: dict[str, Any] | None) -> dict[str, Any] | None:
    return row and {_SLOTS.get(name, name): value for name, value in row.items()}


def build_first_version(data: bytes) -> bytes:
    """The file as version 1 had it."""
    lines = parse_lines(data)[:-1]
    lines[0]["version"] = "1.0"
    for at, line in enumerate(lines):
        if line.get("row") == "fact":
            lines[at] = rename_slots(line) or {}
        elif line.get("row") == "revision" and line["row_type"] == "fact":
            line |= {side: rename_slots(line[side]) for side in ("before", "after")}
        elif line.get("row") == "proposal" and "candidate" in line["payload"]:
            line["payload"]["candidate"] = rename_slots(line["payload"]["candidate"])
    return build_export_file(lines)


def test_a_file_of_version_1_comes_in_under_the_names_of_today(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    with tenant_scope(full.tenant.id):
        fact = Fact.objects.get(text="Ana loves kayaking.")
        candidate = serialize_row(fact)
        payload: dict[str, Any] = {
            "op": "supersede",
            "fact_id": None,
            "candidate": candidate,
            "sources": [],
        }
        make_proposal(full.space, kind="overwrite", row_type="fact", payload=payload)
    data = make_export_file(full.tenant, full.space.subject)
    assert select_kind(data, "fact")[0]["object"]
    old = build_first_version(data)
    assert b'"o2":' in old.replace(b" ", b"")
    assert b'"indirect_object":' not in old
    report = import_export_file(elsewhere, old)
    assert (report.version, report.ignored) == ("1.0", {})
    again = make_export_file(elsewhere, full.space.subject)
    assert normalise_export_file(again) == normalise_export_file(data)
