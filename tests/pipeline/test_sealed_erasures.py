"""What a wish erases is sealed for a day: nobody finds it, and undone, all is as it was."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.erasure.signed_receipts import sign_receipt
from memoryhub.pipeline.models import Job, SealedErasure
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.sealed_erasures import destroy
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.sealing import open_sealed, seal_secret
from memoryhub.tenants.services import create_key
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent, Fact, Proposal, Receipt
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    make_fact_reply,
    make_home_reply,
    say_and_derive,
)
from tests.support.database_scan import find_tables_with_word
from tests.support.factories import make_fact, make_job, make_tenant
from tests.support.hub import ScriptedHub

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_claims")]

_DUMP = """
SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.id::text), '[]')::text FROM {} r
"""
# What was said and what is held; history and logs grow by the erasure and its undo.
_TABLES = (
    *("dialogues_turn", "notes_fact", "notes_note", "notes_page", "notes_link", "notes_entity"),
    *("notes_relation", "notes_indexentry", "notes_derivation", "notes_tombstone"),
    *("notes_segment", "notes_segmentpage", "notes_chain", "notes_episode", "notes_revision"),
    *("personas_profileattribute", "personas_coreblock", "personas_blockversion"),
)


def dump_tables(hub: ScriptedHub) -> dict[str, dict[str, Any]]:
    """By table, its rows by their ids."""
    found = {}
    with tenant_scope(hub.tenant.id), connection.cursor() as cursor:
        for table in _TABLES:
            cursor.execute(_DUMP.format(table))
            rows = json.loads(cursor.fetchone()[0])
            found[table] = {row["id"]: row for row in rows}
    return found


def tell_an_address(hub: ScriptedHub, **policy: Any) -> None:
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=True, **policy)
    hub.model.allow("resolve")
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    told = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    say_and_derive(
        hub, "My door is 12 Elm Street.", make_fact_reply("Ana lives at 12 Elm Street.", **told)
    )


def wish_it_away(hub: ScriptedHub) -> None:
    hub.model.script("resolve", decide_on_claim("Ana lives at 12 Elm Street.", "forget"))
    acts = [{"handle": "t1", "act": "forget"}]
    say_and_derive(hub, "Forget my address.", parts={"speech_acts": acts})


def get_erasure(hub: ScriptedHub) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        event: EvolutionEvent = EvolutionEvent.objects.get(kind="erase")
        return event


def get_receipt(hub: ScriptedHub) -> Receipt:
    with tenant_scope(hub.tenant.id):
        receipt: Receipt = Receipt.objects.get()
        return receipt


def count_sealed(hub: ScriptedHub) -> int:
    with tenant_scope(hub.tenant.id):
        count: int = SealedErasure.objects.count()
        return count


def test_a_wish_is_sealed_for_a_day_and_its_words_are_nowhere(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    assert list_current_texts(hub) == ["Ana lives in Porto."]
    receipt = get_receipt(hub)
    assert receipt.is_sealed
    assert receipt.undoable_until == hub.now + timedelta(hours=24)
    for hours in range(0, 24, 8):  # whatever is made anew from what remained meanwhile
        hub.now = receipt.created_at + timedelta(hours=hours)
        hub.run_due_jobs()
        with tenant_scope(hub.tenant.id):
            assert find_tables_with_word("Elm Street") == []


def test_undone_every_row_is_as_it_was(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    before = dump_tables(hub)
    wish_it_away(hub)
    undone_at = hub.now
    corrections.undo_event(get_erasure(hub), "eva", undone_at)
    hub.run_due_jobs()
    after = dump_tables(hub)
    # The wish itself stands beside what was said before it.
    neighbours = {"embedding", "window_words", "text_hash"}
    for table, rows in before.items():
        differing = [
            (key, name, value, after[table].get(key, {}).get(name))
            for key, row in rows.items()
            for name, value in row.items()
            if after[table].get(key, {}).get(name) != value and name not in neighbours
        ]
        assert differing == [], table
    # The wish was said meanwhile, and nothing else came.
    more = {table for table in _TABLES if after[table].keys() > before[table].keys()}
    assert more == {"dialogues_turn", "notes_page", "notes_indexentry"}
    assert sorted(list_current_texts(hub)) == [
        "Ana lives at 12 Elm Street.",
        "Ana lives in Porto.",
    ]
    receipt = get_receipt(hub)
    assert (receipt.undone_at, receipt.is_sealed, count_sealed(hub)) == (undone_at, False, 0)


def test_undone_the_wish_is_answered_and_grants_itself_no_second_time(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    corrections.undo_event(get_erasure(hub), "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        wish = Proposal.objects.get(kind="erase")
        assert (wish.state, wish.decided_by, wish.payload["auto"]) == ("rejected", "eva", False)
    assert answer_proposals.grant_forget_requests(hub.space, hub.now) == []
    with pytest.raises(Conflict):
        corrections.undo_event(get_erasure(hub), "eva", hub.now)


def test_a_dry_run_of_the_undo_changes_nothing(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    before = dump_tables(hub)
    undone = corrections.undo_event(get_erasure(hub), "eva", hub.now, dry_run=True)
    assert [event.kind for event in undone.undone_events] == ["erase"]
    assert (dump_tables(hub), count_sealed(hub)) == (before, 1)


def test_after_the_day_it_is_gone_and_the_receipt_says_so(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    hub.now += timedelta(hours=24)
    with pytest.raises(Conflict):
        corrections.undo_event(get_erasure(hub), "eva", hub.now)
    hub.run_due_jobs()
    receipt = get_receipt(hub)
    assert (receipt.gone_at, receipt.is_sealed, count_sealed(hub)) == (hub.now, False, 0)


@pytest.mark.parametrize("end", ["gone_at", "undone_at"])
def test_a_printed_receipt_stays_true_whatever_comes_of_it(
    hub: ScriptedHub, tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    receipt, printed = get_receipt(hub), tmp_path / "receipt.json"
    told = sign_receipt(receipt)
    assert told["undoable_until"] == (hub.now + timedelta(hours=24)).isoformat()
    printed.write_text(json.dumps(told))
    call_command("receipt", verify=printed)
    assert "Since it was printed" not in capsys.readouterr().out
    if end == "undone_at":
        corrections.undo_event(get_erasure(hub), "eva", hub.now)
    else:
        with tenant_scope(hub.tenant.id):
            destroy(SealedErasure.objects.all(), hub.now)
    call_command("receipt", verify=printed)
    said = capsys.readouterr().out
    assert "Genuine: " in said
    assert f"Since it was printed: {end} {hub.now.isoformat()}." in said
    printed.write_text(json.dumps(told | {"undoable_until": None}))
    with pytest.raises(CommandError, match="changed"):
        call_command("receipt", verify=printed)


def test_in_another_tenant_it_is_gone(hub: ScriptedHub) -> None:
    """What is sealed is in no export: nothing there can bring it back, and no receipt says so."""
    tell_an_address(hub)
    wish_it_away(hub)
    other = make_tenant("Other")
    exported, imported = (
        APIClient(headers={"Authorization": f"Bearer {create_key(each, 'k', ['admin'])[1]}"})
        for each in (hub.tenant, other)
    )
    data = b"".join(exported.get("/api/v1/export")).decode()
    assert "Elm Street" not in data
    sent = imported.generic("POST", "/api/v1/import", data, "application/x-ndjson")
    assert sent.status_code == 200, sent.content
    with tenant_scope(other.id):
        (receipt,) = Receipt.objects.all()
    assert not receipt.is_sealed


def test_under_a_legal_hold_it_stays_sealed(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    hub.set_policy("mem0", erase__hold=True)
    hub.now += timedelta(hours=25)
    hub.run_due_jobs()
    assert (get_receipt(hub).is_sealed, count_sealed(hub)) == (True, 1)


def test_the_policy_says_how_long(hub: ScriptedHub) -> None:
    tell_an_address(hub, erase__undo_hours=0)
    wish_it_away(hub)
    assert (get_receipt(hub).undoable_until, count_sealed(hub)) == (None, 0)


def test_a_confirmed_erasure_of_the_same_words_destroys_it_at_once(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    with tenant_scope(hub.tenant.id):
        (told,) = SealedErasure.objects.values_list("turn_ids", flat=True)
    erase_targets.execute_erasure(hub.space, ErasureTarget("turns", tuple(told)), "eva", hub.now)
    assert (get_receipt(hub).gone_at, count_sealed(hub)) == (hub.now, 0)


def test_what_another_erasure_makes_final_is_known_before(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    receipt = get_receipt(hub)
    with tenant_scope(hub.tenant.id):
        said = {turn.words: turn for turn in Turn.objects.all()}
        (hidden, *_) = SealedErasure.objects.get().turn_ids
        other = said["I live in Porto."].id
        session = said["I live in Porto."].session_id

    def list_overtaken(target: ErasureTarget, hours: int = 0) -> list[Receipt]:
        at = hub.now + timedelta(hours=hours)
        return erase_targets.list_overtaken_erasures(hub.space, target, at)

    assert list_overtaken(ErasureTarget("turns", (other,))) == []
    for target in (
        ErasureTarget("turns", (hidden,)),
        ErasureTarget("session", (session,)),
        ErasureTarget("subject"),
    ):
        assert list_overtaken(target) == [receipt]
        assert list_overtaken(target, hours=25) == []
    assert count_sealed(hub) == 1


def test_another_erasure_is_not_taken_back_with_it(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    event = get_erasure(hub)
    with tenant_scope(hub.tenant.id):
        porto = Turn.objects.get(text__contains="Porto")
    erase_targets.execute_erasure(hub.space, ErasureTarget("turns", (porto.id,)), "eva", hub.now)
    corrections.undo_event(event, "eva", hub.now)
    assert list_current_texts(hub) == ["Ana lives at 12 Elm Street."]
    with tenant_scope(hub.tenant.id):
        assert find_tables_with_word("Porto") == []


def test_what_has_taken_its_place_stands_in_the_way(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    told = {"predicate": "address", "verb": "lives at", "object": "3 Oak Lane"}
    say_and_derive(
        hub, "My door is 3 Oak Lane.", make_fact_reply("Ana lives at 3 Oak Lane.", **told)
    )
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(get_erasure(hub), "eva", hub.now)
    assert refused.value.code == "undo_conflict"
    assert count_sealed(hub) == 1


def search_texts(hub: ScriptedHub, question: str) -> list[str]:
    return [found.text for found in search_memories(hub.space, question, now=hub.now).items]


def test_undone_a_search_finds_what_it_found(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    before = search_texts(hub, "Elm Street")
    assert any("12 Elm Street" in text for text in before)
    wish_it_away(hub)
    assert not any("Elm" in text for text in search_texts(hub, "Elm Street"))
    corrections.undo_event(get_erasure(hub), "eva", hub.now)
    hub.run_due_jobs()
    again = [text for text in search_texts(hub, "Elm Street") if "Forget" not in text]
    assert again == before


def test_what_it_left_and_was_changed_since_is_undone_first(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    with tenant_scope(hub.tenant.id):
        left = Fact.objects.get(text="Ana lives in Porto.")
        # As if the erasure had touched it, which leaves what was built on it in the way.
        sealed = SealedErasure.objects.get()
        fact = json.loads(open_sealed(sealed.sealed))
        fact.append(
            ["notes_fact", str(left.id), {"text": "Ana lives in Faro."}, {"text": "Oporto"}]
        )
        sealed.sealed = seal_secret(json.dumps(fact))
        sealed.save()
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(get_erasure(hub), "eva", hub.now)
    assert refused.value.code == "later_events"
    assert list_current_texts(hub) == ["Ana lives in Porto."]


def read_again(hub: ScriptedHub, text: str) -> Fact:
    """A claim that the erasure's own work read in what remained."""
    fact = make_fact(hub.space, text)
    job = make_job(hub.space, Job.State.DONE, step=Job.Step.REDERIVE)
    changes = ChangeSet(hub.space, EvolutionEvent.Kind.RESOLVE, "engine", hub.now, job_id=job.id)
    changes.record_creation(fact, ())
    changes.save()
    sealed = SealedErasure.objects.get()
    images = json.loads(open_sealed(sealed.sealed))
    sealed.sealed = seal_secret(json.dumps([*images, ["pipeline_job", str(job.id), None, {}]]))
    sealed.save()
    return fact


def change_by_job(hub: ScriptedHub, fact: Fact, step: Job.Step) -> None:
    job = make_job(hub.space, Job.State.DONE, step=step)
    changes = ChangeSet(hub.space, EvolutionEvent.Kind.REFRESH, "engine", hub.now, job_id=job.id)
    changes.update_row(fact, confidence=0.5)
    changes.save()


def test_what_the_hub_made_of_what_it_read_again_goes_along(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    with tenant_scope(hub.tenant.id):
        change_by_job(hub, read_again(hub, "Ana lives behind a door."), Job.Step.PLACE)
    corrections.undo_event(get_erasure(hub), "eva", hub.now)
    told = ["Ana lives at 12 Elm Street.", "Ana lives in Porto."]
    assert sorted(list_current_texts(hub)) == told


def test_what_a_later_message_said_of_it_stands_in_the_way(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    with tenant_scope(hub.tenant.id):
        change_by_job(hub, read_again(hub, "Ana lives behind a door."), Job.Step.DERIVE)
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(get_erasure(hub), "eva", hub.now)
    assert refused.value.code == "later_events"


def test_a_key_undoes_it_and_a_stranger_finds_nothing(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    until = timezone.now() + timedelta(hours=1)
    with tenant_scope(hub.tenant.id):
        SealedErasure.objects.update(until=until)
    path = f"/api/v1/spaces/{hub.space.subject}/events/{get_erasure(hub).id}/undo"
    stranger = make_tenant("Stranger")
    for tenant, status in ((stranger, 404), (hub.tenant, 200)):
        _, key = create_key(tenant, "test", ("read", "write"))
        client = APIClient(headers={"Authorization": f"Bearer {key}"})
        assert client.post(path, {}, format="json").status_code == status
    assert sorted(list_current_texts(hub)) == ["Ana lives at 12 Elm Street.", "Ana lives in Porto."]
    assert count_sealed(hub) == 0


def test_the_whole_subject_takes_it_along(hub: ScriptedHub) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    erase_targets.execute_erasure(hub.space, ErasureTarget("subject"), "eva", hub.now)
    assert count_sealed(hub) == 0
    with tenant_scope(hub.tenant.id):
        assert not any(receipt.is_sealed for receipt in Receipt.objects.all())


def test_it_opens_under_a_rotated_key(
    hub: ScriptedHub, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_an_address(hub)
    wish_it_away(hub)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of the hub, long enough to be one"
    call_command("rotate_secrets")
    assert "1 erasures that can be undone" in capsys.readouterr().out
    corrections.undo_event(get_erasure(hub), "eva", hub.now)
    assert "Ana lives at 12 Elm Street." in list_current_texts(hub)


def test_every_table_of_tenants_is_noted() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') "
            "AND NOT c.relispartition AND a.attname = 'tenant_id' AND NOT EXISTS "
            "(SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'note_row')"
        )
        assert [name for (name,) in cursor.fetchall()] == ["pipeline_sealederasure"]
