"""The Python client against the hub itself: every call of the contract, and every column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer

import memoryhub_client as client
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from memoryhub_client import AsyncMemoryHub, MemoryHub, Retries, Row
from memoryhub_client.rows import models
from memoryhub_client.rows.base import _list_attribute_types
from tests.support.api_scene import make_row_of_every_kind
from tests.support.event_loop import run_coroutine
from tests.support.factories import make_entity, make_fact, make_note
from tests.support.in_process import InProcessTransport, serve_in_process

CONTRACT = Path(__file__).parent.parent / "api/openapi.json"


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def line() -> Iterator[InProcessTransport]:
    with serve_in_process() as line:
        yield line


@pytest.fixture
def hub(tenant: Tenant, line: InProcessTransport) -> Iterator[MemoryHub]:
    _, key = create_key(tenant, "client", ["read", "write", "admin"])
    with httpx.Client(transport=line) as http:
        yield MemoryHub("http://testserver", key, http=http, retries=Retries(times=0))


def list_operations() -> set[tuple[str, str]]:
    paths = json.loads(CONTRACT.read_text(encoding="utf-8"))["paths"]
    return {
        (method.upper(), path)
        for path, given in paths.items()
        for method, operation in given.items()
        if not operation.get("deprecated")
    }


def find_operation(asked: tuple[str, str], known: set[tuple[str, str]]) -> tuple[str, str]:
    """The operation a request was of: that with the most literal path."""

    def fits(path: str) -> bool:
        pattern = re.sub(r"\\{\w+\\}", r"[^/]+", re.escape(path))
        return re.fullmatch(pattern, asked[1]) is not None

    return min(
        (each for each in known if each[0] == asked[0] and fits(each[1])),
        key=lambda each: each[1].count("{"),
    )


def list_unknown_fields(row: Row) -> list[str]:
    """What the hub told and the client has no attribute for, at any depth."""
    kinds: dict[str, Any] = _list_attribute_types(type(row))
    missing = [f"{type(row).__name__}.{name}" for name in row.raw if name not in kinds]
    inner = [value for value in vars(row).values() if not isinstance(value, Mapping)]
    rows = [each for value in inner for each in (value if isinstance(value, list) else [value])]
    return missing + [
        name for each in rows if isinstance(each, Row) for name in list_unknown_fields(each)
    ]


def _call_merges(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    ana, space = hub.space("ana"), scene["fact"].space
    with tenant_scope(space.tenant_id):
        fact, again = make_fact(space, "Ana swims"), make_fact(space, "Ana goes swimming")
        note, same = make_note(space, "Swims"), make_note(space, "Swims on Mondays")
        bob, robert = make_entity(space, "Bob"), make_entity(space, "Robert")
    yield ana.facts.merge(str(fact.id), str(again.id)).row
    yield ana.notes.merge(str(note.id), str(same.id)).row
    merged = ana.entities.merge(str(robert.id), str(bob.id), reason="the same person")
    assert merged.row.aliases == ["Bob"]
    yield merged.row
    yield ana.entities.split(str(bob.id)).row


def call_everything(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    """Every call of the client on a row of every kind; yields all rows it is answered with."""
    ana = hub.space("ana")
    yield from _call_reads(hub, scene)
    yield from _call_settings(hub, scene)
    yield from _call_adds(hub)
    given = hub.remember("ana", "Ana's sister is Rita.", predicate="sister", value="Rita")
    assert given.fact
    assert given.fact.value == "Rita"
    yield given
    yield ana.set_name("")
    fact, note = str(scene["fact"].id), str(scene["note"].id)
    yield ana.facts.correct(fact, "Ana plays chess well", reason="better", version=0 or None).row
    newest = next(iter(ana.facts.list(filter={"text": "Ana plays chess well"}))).id
    pinned = ana.facts.pin(newest)
    ana.facts.pin(newest, pinned=False)
    yield pinned.row
    yield ana.facts.end(newest, "2026-11-01T00:00:00Z").row
    yield ana.facts.restore(newest).row
    retracted = ana.facts.retract(newest)
    assert retracted.event_id
    yield ana.events.undo(retracted.event_id, dry_run=True)
    yield ana.events.undo(retracted.event_id, reason="it was so")
    yield ana.facts.forget(newest).row
    one = ana.fact(newest)
    yield from (one.restore().row, one.get(), *one.versions(), one.correct("Ana plays chess").row)
    yield ana.notes.describe(note, tags=["game"], context="").row
    yield ana.notes.pin(note, pinned=True).row
    yield ana.notes.forget(note).row
    yield ana.notes.restore(note).row
    yield from _call_merges(hub, scene)
    assert ana.traits.set("openness", "low") == "openness"
    assert ana.profile.set("home_town", "Braga") == "home_town"
    yield from _call_blocks(hub)
    yield from _call_windows(hub)
    yield from _call_items(hub)
    yield from _call_questions(hub, scene)
    yield ana.set_policy({"recall.k_min": 6}, version=0)
    assert ana.tools()
    yield ana.use_tool("core_append", {"label": "human", "text": "Plays chess."})
    again = hub.jobs.retry(str(scene["job"].id))
    stopped = hub.jobs.cancel(again.id, reason="sent by mistake")
    assert (stopped.state, stopped.ended) == ("cancelled", True)
    yield from (again, stopped, *hub.requests.list(), *hub.audit.list())
    conflict = str(scene["conflict"].id)
    assert "keep" in ana.conflicts.get(conflict).answers
    yield ana.conflicts.decide(conflict, "keep").row
    yield ana.conflicts.take_back(conflict).row
    yield ana.conflicts.decide_many([conflict], "keep_both", reason="both are so")
    yield ana.roll_back("2030-01-01T00:00:00Z", dry_run=True)
    yield ana.erase("turns", [str(scene["turn"].id)], dry_run=True)
    yield ana.erase("turns", [str(scene["turn"].id)])
    yield from _call_access(hub, scene)
    yield from _call_webhooks(hub, scene)
    yield from _call_files(hub, scene)


def _call_reads(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    ana = hub.space("ana")
    kinds = [
        (ana.sessions, "session"),
        (ana.turns, "turn"),
        (ana.windows, "window"),
        (ana.facts, "fact"),
        (ana.notes, "note"),
        (ana.links, "link"),
        (ana.entities, "entity"),
        (ana.relations, "relation"),
        (ana.segments, "segment"),
        (ana.episodes, "episode"),
        (ana.traits, "trait"),
        (ana.blocks, "block"),
        (ana.events, "event"),
        (ana.conflicts, "conflict"),
        (ana.golden, "golden"),
        (ana.items, "item"),
        (hub.jobs, "job"),
        (hub.receipts, "receipt"),
    ]
    for calls, kind in kinds:
        wanted = str(scene[kind].id)
        listed: list[Any] = [*calls.list(status="all", page_size=1)]  # type: ignore[attr-defined]  # each has it
        assert wanted in [row.id for row in listed], kind
        one = calls.get(wanted)  # type: ignore[attr-defined]  # each has it
        assert one.id == wanted
        yield from [*listed, one]
    for calls in (ana.profile, ana.history, ana.feedback, ana.quality, hub.spaces, hub.keys):
        yield from calls.list()
    yield from ana.facts.versions(str(scene["fact"].id))
    yield from ana.facts.held_at("2030-01-01T00:00:00Z")
    yield from ana.blocks.versions(str(scene["block"].id))
    yield from ana.as_of("2030-01-01T00:00:00Z", kind="note")
    yield from ana.changes("2026-01-01T00:00:00Z")
    yield from hub.jobs.in_state("dead")
    yield from hub.jobs.progress(str(scene["job"].id))
    yield from hub.model_calls()
    yield from (ana.get(), ana.policy(), hub.usage(days=7), *ana.tools())


def _call_adds(hub: MemoryHub) -> Iterator[Row]:
    words = "I moved to Lisbon last week."
    rehearsed = hub.rehearse("ana", words)
    assert rehearsed.decisions
    added = hub.add("ana", words, session="s", agent="bot", metadata={"k": 1}, wait=True)
    assert added.job
    assert added.job.state == "done"
    assert added.job.decisions[0].op == "add"
    yield hub.jobs.wait(added.job.id)
    batch = [
        {"subject": "ana", "messages": "I play the oboe."},
        {"subject": "rui", "messages": "Oi."},
    ]
    yield from (rehearsed, added, *hub.add_batch(batch))
    found = hub.search("ana", "where does she live", kinds=["fact"], explain=True)
    assert "Lisbon" in found.items[0].text
    assert found.items[0].metadata == {"k": 1}
    (fact,) = hub.space("ana").facts.list(filter={"text": found.items[0].text})
    assert fact.metadata == {"k": 1}
    block = hub.context("ana", "where does she live", budget_tokens=500)
    assert "Lisbon" in block.text
    told = hub.answer("ana", "Where does Ana live?", limit=None)
    assert told.citations
    yield from (found, block, told)
    verdict = hub.space("ana").feedback.set("fact", found.items[0].id, "positive")
    assert verdict
    yield verdict
    assert hub.space("ana").feedback.set("fact", found.items[0].id, None) is None


def _call_items(hub: MemoryHub) -> Iterator[Row]:
    place = ("ana", ("memories", "ana"), "diet")
    assert hub.items.put(*place, {"text": "Ana eats fish."}, ttl_minutes=5) == 1
    kept = hub.items.get(*place)
    assert kept
    assert kept.value == {"text": "Ana eats fish."}
    (found,) = hub.items.search(("memories",), query="food", filter={"text": {"$ne": ""}})
    assert found.score is not None
    yield from (kept, found)
    assert hub.items.put(*place, None) == 1
    assert hub.items.get(*place) is None


def _call_blocks(hub: MemoryHub) -> Iterator[Row]:
    blocks = hub.space("ana").blocks
    made = blocks.new("plans", "None.", description="What is next", char_limit=300)
    revised = blocks.revise(made.row.id, value="A trip.", version=made.row.version)
    assert revised.row.value == "A trip."
    shared = blocks.new("house", "Be kind.", shared=True)
    yield from (made.row, revised.row, shared.row)
    yield blocks.attach(shared.row.id).row
    yield blocks.detach(shared.row.id).row
    yield blocks.delete(made.row.id).row


def _call_windows(hub: MemoryHub) -> Iterator[Row]:
    windows = hub.space("ana").windows
    opened = windows.open("monday", agent="tutor")
    assert (opened.session, opened.agent) == ("monday", "tutor")
    call = {"id": "c1", "name": "weather", "arguments": {"city": "Porto"}}
    appended = windows.append(opened.id, [{"role": "assistant", "tool_calls": [call]}])
    assert len(appended.turns) == 1
    turned = windows.step(opened.id, [{"content": "Where do I play chess?"}], max_steps=5)
    assert (turned.ending, len(turned.said)) == ("yielded", 1)
    read = windows.get(opened.id)
    assert any(message.tool == "weather" for message in read.messages if "tool" in message.raw)
    timed = windows.schedule(opened.id, every_minutes=60, no_alarm=True)
    assert (timed.beat_minutes, timed.alarm_at) == (60, None)
    yield from (opened, appended, turned, read, timed, *windows.list())


def _call_access(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    made = hub.keys.new("bot", ["read"], subject="ana", expires_at="2031-01-01T00:00:00Z")
    assert ((made.key or "").startswith("mh_"), made.subject) == (True, "ana")
    links = hub.space("ana").person_links
    link = links.new(note="asked for")
    assert link.url
    yield from (link, *links.list(), links.revoke(link.id))
    assert hub.space("ana").pause().paused_at
    yield hub.space("ana").pause(paused=False)
    rotated = hub.keys.rotate(str(scene["key"].id), overlap_hours=0)
    assert (rotated.key or "").startswith("mh_")
    yield from (made, rotated, hub.keys.revoke(rotated.id))
    known = str(scene["member"].id)
    assert known in [each.id for each in hub.members.list()]
    person = hub.members.new("rui@one", "viewer", email="rui@example.com")
    assert person.password
    assert hub.members.set_role(person.member.id, "editor").role == "editor"
    yield from (person, *hub.members.list(), hub.members.remove(person.member.id))
    rule = hub.review_rules.new("conflict", "reject", predicate_key="lives_in", reason="hearsay")
    assert rule.id in [each.id for each in hub.review_rules.list()]
    yield from (rule, *hub.review_rules.list(), hub.review_rules.remove(rule.id))


def _call_settings(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    tried = hub.set_policy({"recall.k_min": 7}, dry_run=True)
    assert [(each.name, each.after) for each in tried.changes] == [("recall.k_min", 7)]
    changed = hub.set_policy({"recall.k_min": 7}, reason="wider", version=0)
    assert (changed.version, hub.policy().overrides) == (1, {"recall.k_min": 7})
    yield from (tried, changed, *hub.policy_versions(), *hub.space("ana").policy_versions())
    yield from (*hub.presets(), *hub.switches())
    replay = str(scene["replay"].id)
    assert replay in [each.id for each in hub.replays.list()]
    yield from (*hub.replays.list(), hub.replays.get(replay), *hub.replays.results(replay))
    made = hub.replays.new(subject="ana", overrides={"recall.k_min": 9})
    yield from (made, hub.replays.cancel(made.id), hub.replays.decide(made.id, "dropped"))


def _call_webhooks(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    made = hub.webhooks.new("CRM", "https://crm.invalid/", ["fact.added"], subject="ana")
    hook, known = made.webhook, str(scene["webhook"].id)
    off = hub.webhooks.change(hook.id, is_active=False, version=hook.version)
    assert (off.is_active, off.name) == (False, "CRM")
    again = hub.webhooks.rotate(hook.id, overlap_hours=0)
    assert again.secret != made.secret
    assert {hook.id, known} <= {each.id for each in hub.webhooks.list()}
    yield from (made, off, again, hub.webhooks.get(hook.id), hub.webhooks.ping(hook.id))
    hub.webhooks.delete(hook.id)
    one = str(scene["delivery"].id)
    sent = [*hub.webhooks.deliveries(known)]
    assert one in [each.id for each in sent]
    yield from (*sent, hub.deliveries.get(one), hub.deliveries.replay(one))


def _call_files(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    line = '{"subject": "eva", "fact": "Eva lives in Faro"}\n'
    tried = hub.imports.new("jsonl", line, name="eva.jsonl", dry_run=True)
    taken = hub.imports.take(tried.id)
    assert taken.report["taken"]["fact"] == 1
    yield from (tried, taken, *hub.imports.list(), hub.imports.get(tried.id))
    file = b"".join(hub.space("eva").export())
    assert b"Eva lives in Faro" in file
    assert b"Eva lives in Faro" in b"".join(hub.export(embeddings=True))
    told = hub.import_spaces(file, subject="rita", dry_run=True)
    assert [each.subject for each in told.spaces] == ["rita"]
    yield from (told, hub.import_spaces(file, subject="rita"))


def _call_questions(hub: MemoryHub, scene: Mapping[str, Any]) -> Iterator[Row]:
    golden = hub.space("ana").golden
    expected = [{"kind": "fact", "id": str(scene["fact"].id)}]
    made = golden.new("Chess?", expected, tags=["games"])
    yield made.row
    yield golden.change(made.row.id, "Chess at all?", expected, version=made.row.version).row
    yield golden.remove(made.row.id).row


def test_every_operation_of_the_contract_has_a_call_and_every_column_an_attribute(
    tenant: Tenant, hub: MemoryHub, line: InProcessTransport, acting_rules: None
) -> None:
    scene = make_row_of_every_kind(tenant)
    missing = {name for row in call_everything(hub, scene) for name in list_unknown_fields(row)}
    assert missing == set()
    known = list_operations()
    called = {find_operation(each, known) for each in line.asked}
    # A list with a filter is asked for in a body, whichever it is.
    lists = {("POST", f"{path}/query") for method, path in called if method == "GET"}
    assert known - called - lists == set()


def test_what_was_read_and_changed_meanwhile_is_not_written_over(
    tenant: Tenant, hub: MemoryHub
) -> None:
    ana = make_row_of_every_kind(tenant)["space"]
    facts = hub.space(ana.subject).facts
    read = next(iter(facts.list()))
    facts.pin(read.id, version=read.version)
    with pytest.raises(client.Outdated) as told:
        facts.pin(read.id, pinned=False, version=read.version)
    assert told.value.version == read.version + 1


def test_a_write_with_a_key_of_ones_own_happens_once(tenant: Tenant, hub: MemoryHub) -> None:
    scene = make_row_of_every_kind(tenant)
    facts, fact = hub.space("ana").facts, str(scene["fact"].id)
    first, second = (facts.correct(fact, "Ana plays chess well", key="k-1") for _ in range(2))
    assert (first.replayed, second.replayed) == (False, True)
    assert first.row == second.row
    with pytest.raises(client.Conflict, match="idempotency_key_reused"):
        facts.correct(fact, "Ana plays it badly", key="k-1")


def test_filters_and_fields_reach_the_hub(tenant: Tenant, hub: MemoryHub) -> None:
    make_row_of_every_kind(tenant)
    turns = hub.space("ana").turns
    assert [*turns.list(filter={"text": {"icontains": "oboe"}})] == []
    (turn,) = turns.list(filter={"OR": [{"text": {"icontains": "chess"}}]}, fields=["id", "text"])
    assert sorted(turn.raw) == ["id", "text"]
    with pytest.raises(client.Invalid) as told:
        next(iter(turns.list(filter={"nothing": 1})))
    assert told.value.field.startswith("filter")


def test_other_tenants_rows_and_unknown_ones_are_not_found(tenant: Tenant, hub: MemoryHub) -> None:
    other = make_row_of_every_kind(create_tenant("Two", "two"), subject="eve")
    with pytest.raises(client.NotFound):
        hub.space("eve").get()
    hub.add("ana", "I moved.")
    with pytest.raises(client.NotFound):
        hub.space("ana").facts.get(str(other["fact"].id))
    with pytest.raises(client.NotAuthenticated):
        MemoryHub("http://testserver", "mh_wrong", http=hub._runner.http).spaces.list().page()


def test_what_has_no_name_yet_can_be_asked_for(tenant: Tenant, hub: MemoryHub) -> None:
    hub.add("ana", "I moved to Lisbon.", wait=True)
    told = hub.request("GET", "spaces/ana/facts", query={"limit": 1})
    assert told["total"] == 1
    found = hub.request("POST", "search", body={"subject": "ana", "query": "Lisbon"})
    assert found["items"]


def test_the_async_client_talks_to_a_live_hub(live_server: LiveServer) -> None:
    _, key = create_key(create_tenant("One", "one"), "client", ["read", "write"])

    async def talk() -> tuple[str, list[str], list[str]]:
        async with AsyncMemoryHub(live_server.url, key) as hub:
            added = await hub.add("ana", "I moved to Lisbon last week.", wait=True)
            assert added.job_id
            states = [job.state async for job in hub.jobs.progress(added.job_id)]
            found = await hub.search("ana", "where does she live")
            facts = [fact.text async for fact in hub.space("ana").facts.list(page_size=1)]
            return found.items[0].text, facts, states

    text, facts, states = run_coroutine(talk())
    assert "Lisbon" in text
    assert text in facts
    assert states == ["done"]


def test_annotations_name_types_that_can_be_read() -> None:
    rows = [
        kind for kind in vars(models).values() if isinstance(kind, type) and issubclass(kind, Row)
    ]
    for row in rows:
        for kind in _list_attribute_types(row).values():
            assert kind is Any or isinstance(kind, type) or get_args(kind), (row, kind)


def test_a_key_of_one_subject_sees_no_other(tenant: Tenant, line: InProcessTransport) -> None:
    scene = make_row_of_every_kind(tenant)
    with tenant_scope(tenant.id):
        space = scene["space"]
    _, key = create_key(tenant, "ana's", ["read"], space=space)
    with httpx.Client(transport=line) as http:
        hub = MemoryHub("http://testserver", key, http=http, retries=Retries(times=0))
        assert [each.subject for each in hub.spaces.list()] == ["ana"]
        with pytest.raises(client.NotAllowed):
            hub.add("ana", "I moved.")
