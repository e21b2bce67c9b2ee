"""Rows for tests, each valid by itself. Call inside the tenant's scope unless said otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from django.utils import timezone

from api.models import LoggedRequest
from memoryhub.dialogues.messages import Message, hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer, ReplayRun
from memoryhub.importers.models import ImportFile, ImportPart, ImportRun
from memoryhub.importers.records import BlockRecord, SkippedRecord, UnknownFields
from memoryhub.importers.report import ImportReport
from memoryhub.inference.models import ModelCall
from memoryhub.items.models import Item
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.reports.build import load_report
from memoryhub.pipeline.models import Job, QualityReading
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.tenants.models import Membership, PersonLink, Space, Tenant, User
from memoryhub.tenants.scope import hub_scope
from memoryhub.tenants.services import add_member, create_tenant, ensure_space
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent
from notes.models import (
    Derivation,
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Link,
    Note,
    Page,
    Proposal,
    Receipt,
    ReviewRule,
    Segment,
    SegmentPage,
)
from personas.blocks import BlockWriter, create_block
from personas.models import CoreBlock, Trait
from personas.traits import get_owner_name

MAY = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
_numbers = count(1)


def make_tenant(name: str = "") -> Tenant:
    """Needs no scope."""
    number = next(_numbers)
    return create_tenant(name or f"Tenant {number}", f"tenant-{number}")


def make_member(tenant: Tenant, role: str = Membership.Role.ADMIN, **values: Any) -> User:
    """A person of this tenant. Needs no scope."""
    with hub_scope():
        name = f"person-{next(_numbers)}"
        user = User.objects.create_user(name, password="correct horse", **values)
        add_member(tenant, user, role)
    return user


def make_space(tenant: Tenant, subject: str = "") -> Space:
    return ensure_space(tenant.id, subject or f"subject-{next(_numbers)}")


def make_turns(space: Space, *texts: str, at: datetime = MAY, role: str = "user") -> list[Turn]:
    """One a minute, of one session."""
    messages = [
        Message(role, text, timestamp=at + timedelta(minutes=place))
        for place, text in enumerate(texts)
    ]
    return append_turns(space, messages, received=at, session_id=f"session-{next(_numbers)}").turns


def make_event(space: Space, **values: Any) -> EvolutionEvent:
    values = {"kind": "resolve", "actor": "pipeline", "created_at": MAY} | values
    return EvolutionEvent.objects.create(tenant_id=space.tenant_id, space=space, **values)


def make_fact(space: Space, text: str, source: Turn | None = None, **values: Any) -> Fact:
    """A current fact; with a source, its own words there are the supporting span if found."""
    values = {
        "owner": space.subject,
        "speaker": space.subject,
        "text_key": hash_text(text),
        "valid_from": MAY,
        "asserted_at": MAY,
        "recorded_at": MAY,
        "engine": "local/1",
    } | values
    fact = Fact.objects.create(tenant_id=space.tenant_id, space=space, text=text, **values)
    if source is not None:
        make_source(fact, source, text)
    return fact


def make_source(row: Fact | Note | Trait | Episode, turn: Turn, words: str = "") -> Derivation:
    start = turn.text.find(words) if words else -1
    return Derivation.objects.create(
        tenant_id=row.tenant_id,
        space_id=row.space_id,
        child_type=type(row).__name__.lower(),
        child_id=row.id,
        turn=turn,
        span_start=start if start >= 0 else None,
        span_end=start + len(words) if start >= 0 else None,
        event=make_event(turn.space),
    )


def make_item(space: Space, key: str, value: dict[str, Any]) -> Item:
    keys = {"tenant_id": space.tenant_id, "space": space}
    times = {"created_at": MAY, "updated_at": MAY}
    return Item.objects.create(namespace=["places"], key=key, value=value, **keys, **times)


def make_note(space: Space, content: str, **values: Any) -> Note:
    values = {"occurred_at": MAY, "created_at": MAY, "engine": "local/1"} | values
    return Note.objects.create(tenant_id=space.tenant_id, space=space, content=content, **values)


def make_link(first: Note, second: Note, **values: Any) -> Link:
    """In either order."""
    a, b = sorted((first, second), key=lambda note: note.id)
    values = {"created_at": MAY, "engine": "local/1"} | values
    return Link.objects.create(tenant_id=a.tenant_id, space_id=a.space_id, a=a, b=b, **values)


def make_segment(space: Space, summary: str = "A topic", *turns: Turn, **values: Any) -> Segment:
    """With one page a turn."""
    values = {
        "started_at": MAY,
        "ended_at": MAY,
        "last_visited_at": MAY,
        "pages_total": len(turns),
        "engine": "local/1",
    } | values
    keys = {"tenant_id": space.tenant_id, "space": space}
    segment = Segment.objects.create(summary=summary, **keys, **values)
    for turn in turns:
        page = Page.objects.create(
            session=turn.session, first_seq=turn.seq, last_seq=turn.seq, **keys
        )
        SegmentPage.objects.create(segment=segment, page=page, added_at=MAY, **keys)
    return segment


def make_episode(space: Space, text: str = "A day.", *turns: Turn, **values: Any) -> Episode:
    """A topic's, with the turns for its sources."""
    values = {
        "kind": "topic",
        "from_seq": min((turn.seq for turn in turns), default=1),
        "to_seq": max((turn.seq for turn in turns), default=1),
        "from_at": MAY,
        "to_at": MAY,
        "engine": "local/1",
    } | values
    episode = Episode.objects.create(tenant_id=space.tenant_id, space=space, text=text, **values)
    for turn in turns:
        make_source(episode, turn)
    return episode


def make_entity(space: Space, name: str, **values: Any) -> Entity:
    values = {"canonical_key": name.casefold(), "engine": "local/1"} | values
    return Entity.objects.create(tenant_id=space.tenant_id, space=space, name=name, **values)


def make_block(
    space: Space, label: str, value: str = "", *, shared: bool = False, **values: Any
) -> CoreBlock:
    """With its first version, as the service makes it."""
    writer = BlockWriter("ida", "person", MAY, space)
    owner = None if shared else space
    return create_block(writer, label, value, tenant_id=space.tenant_id, space=owner, **values)


def make_trait(space: Space, key: str, level: str, *sources: Turn, **values: Any) -> Trait:
    """An open assessment of the space's subject."""
    values = {"owner": get_owner_name(space), "valid_from": MAY, "engine": "local/1"} | values
    keys = {"tenant_id": space.tenant_id, "space": space}
    trait = Trait.objects.create(key=key, level=level, **keys, **values)
    for turn in sources:
        make_source(trait, turn)
    return trait


def make_job(space: Space, state: str = "queued", **values: Any) -> Job:
    number = next(_numbers)
    values = {
        "dedupe_key": f"job-{number}",
        "first_seq": number,
        "last_seq": number,
        "run_after": MAY,
        "created_at": MAY,
    } | values
    return Job.objects.create(tenant_id=space.tenant_id, space=space, state=state, **values)


def make_recall(space: Space, query: str, *memories: Any, **values: Any) -> RecallLog:
    """A search of this moment that showed these memories."""
    values = {
        "form": RecallLog.Form.SEARCH,
        "asked_at": timezone.now(),
        "route": {"because": "the question asks for a fact", "query": query},
        "channels": {"facts": len(memories)},
        "shown": len(memories),
    } | values
    log: RecallLog = RecallLog.objects.create(
        tenant_id=space.tenant_id, space=space, query=query, **values
    )
    for place, memory in enumerate(memories, 1):
        RecallLogItem.objects.create(
            tenant_id=space.tenant_id,
            space=space,
            log=log,
            place=place,
            kind=memory._meta.model_name,
            memory_id=memory.id,
            score=1.5,
            parts={"dense": 1.0, "lexical": 0.5},
            found=[{"channel": "facts", "rank": place, "score": 1.5, "arms": {"dense": [1, 0.6]}}],
        )
    return log


def make_request(tenant: Tenant, **values: Any) -> LoggedRequest:
    """A request of this moment that was answered."""
    values = {
        "at": timezone.now(),
        "method": "GET",
        "route": "api/v1/spaces",
        "status": 200,
        "milliseconds": 12.5,
        "key_id": uuid4(),
        "request_id": uuid4().hex,
    } | values
    return LoggedRequest.objects.create(tenant=tenant, **values)


def make_call(
    space: Space,
    purpose: str = "construct",
    *,
    model: str = "small",
    job: Job | None = None,
    **values: Any,
) -> ModelCall:
    """A question of this moment that was answered."""
    words = values.get("output", '{"facts": []}')
    values = {
        "template": f"{purpose}.v1",
        "status": ModelCall.Status.OK,
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "milliseconds": 900.0,
        "input": [{"role": "user", "content": words}],
        "output": words,
        "created_at": timezone.now(),
    } | values
    return ModelCall.objects.create(
        tenant_id=space.tenant_id,
        space=space,
        purpose=purpose,
        model=model,
        job_id=job.id if job else None,
        **values,
    )


def make_proposal(space: Space, **values: Any) -> Proposal:
    values = {
        "kind": "conflict",
        "reason": "says otherwise",
        "dedupe_key": f"proposal-{next(_numbers)}",
        "created_at": MAY,
    } | values
    return Proposal.objects.create(tenant_id=space.tenant_id, space=space, **values)


def make_reading(space: Space, **values: Any) -> QualityReading:
    values = {"signal": "duplicates", "found": 1, "of": 4, "computed_at": MAY} | values
    return QualityReading.objects.create(tenant_id=space.tenant_id, space=space, **values)


def make_rule(tenant: Tenant, space: Space | None = None, **values: Any) -> ReviewRule:
    values = {
        "kind": "merge",
        "answer": "reject",
        "created_by": "eva",
        "created_at": MAY,
    } | values
    return ReviewRule.objects.create(tenant=tenant, space=space, **values)


def make_receipt(tenant: Tenant, **values: Any) -> Receipt:
    values = {
        "target": "turns",
        "target_digest": "0" * 64,
        "actor": "eva",
        "counts": {"turns": 1},
        "created_at": MAY,
    } | values
    return Receipt.objects.create(tenant=tenant, **values)


def make_person_link(space: Space, **values: Any) -> PersonLink:
    until = timezone.now() + timedelta(days=7)
    given = {"created_by": "ida", "created_at": MAY, "expires_at": until} | values
    return PersonLink.objects.create(tenant_id=space.tenant_id, space=space, **given)


def make_question(
    space: Space, text: str, named: Fact | Note | Turn, **values: Any
) -> GoldenQuestion:
    """A golden question that should find this, without an event of its own."""
    kind = type(named).__name__.lower()
    stored = {"kind": kind, "id": str(named.id), "lineage": "", "turns": []}
    times = dict.fromkeys(("created_at", "changed_at"), MAY)
    values = times | {"created_by": "ida", "expected": [stored], "names": [str(named.id)]} | values
    return GoldenQuestion.objects.create(
        tenant_id=space.tenant_id, space=space, text=text, **values
    )


def make_import(tenant: Tenant, **values: Any) -> ImportRun:
    """A dry run that is done, with its file. `word` stands wherever a file speaks."""
    word = values.pop("word", "boats")
    file = ImportFile.objects.create(tenant=tenant, name=word, size=2, created_at=MAY)
    ImportPart.objects.create(tenant=tenant, file=file, number=0, data=b'{"subject": "x"}')
    report = ImportReport("jsonl", word, dry_run=True)
    report.count_record(BlockRecord("line 1", word, word, word), word)
    report.add_skipped(SkippedRecord(word, word, "fact", word))
    report.count_record(UnknownFields([word]), "")
    defaults = {
        "source": "jsonl",
        "file": file,
        "file_name": word,
        "subject": word,
        "dry_run": True,
        "state": "done",
        "report": report.to_dict(),
        "actor": word,
        "created_at": MAY,
    }
    run: ImportRun = ImportRun.objects.create(tenant=tenant, **(defaults | values))
    return run


def make_lab_run(tenant: Tenant, *names: str, **values: Any) -> LabRun:
    """Done, with its report: one question to each system. `word` stands wherever data speaks."""
    word, number = values.pop("word", "boats"), 0
    names = names or ("mem0", "rag")
    chosen = {"presets": list(names), "questions": 1, "categories": [], "seed": 3}
    chosen |= {"engine": "local", "judge": "off", "budget_tokens": 2000}
    others = {"A paper": f"{word} printed"}
    used = {"conversations": [word], "turns": 5, "questions": {"4": 1}}
    defaults = {
        "state": "done",
        "file": "boats.json",
        "actor": "ida",
        "settings": chosen | {"limit_conversations": None, "turns": None},
        "environment": {
            "memoryhub": "1",
            "engine": {"name": "local", "version": "1", "model": word},
            "embedder": {"name": "table", "dimension": 3, "max_tokens": 9},
            "prompts": {"grade": "grade.v1"},
            "judge": {"name": "llm", "version": "1", "model": word, "prompt": f"Grade {word}"},
            "prices": {},
        },
        "dataset": {
            "name": word,
            "format": "locomo",
            "sha256": 64 * "a",
            "categories": [{"number": 4, "content": "single-hop", "others": others}],
            "whole": {"conversations": 1, "turns": 5, "questions": {"4": 1}},
            "used": used | {"with_evidence": 1, "with_answers": 1},
        },
        "systems": [_make_described_system(name, word) for name in names],
        "total": len(names),
        "done": len(names),
        **dict.fromkeys(("created_at", "updated_at", "finished_at"), MAY),
    }
    run: LabRun = LabRun.objects.create(tenant=tenant, **(defaults | values))
    for number, name in enumerate(names):
        make_outcome(run, name, word=word, places={"D1:1": [1, 9]} if not number else {})
    if run.state == "done":
        run.report = load_report(run)
        run.save(update_fields=["report"])
    return run


def _make_described_system(name: str, word: str) -> dict[str, Any]:
    told = dict.fromkeys(("title", "what", "paper"), f"{name} of {word}")
    return {"name": name, **told, "signature": "", "reader": "hub", "options": {}, "policy": {}}


def make_outcome(run: LabRun, system: str, **values: Any) -> LabOutcome:
    word = values.pop("word", "boats")
    item = {"place": 1, "kind": "turn", "text": f"{word} was said", "evidence": ["D1:1"]}
    defaults: dict[str, Any] = {
        "dialogue": word,
        "number": 0,
        "category": 4,
        "question": f"What of {word}?",
        "expected": word,
        "answer": f"{word}, it seems",
        "evidence": ["D1:1"],
        "places": {"D1:1": [1, 9]},
        "shown": [item],
        "items": 1,
        "tokens": 9,
        "scores": {
            "f1": 0.5,
            "bleu1": 0.25,
            "rouge_2": 0.2,
            "rouge_l": 0.4,
            "meteor": 0.45,
            "sbert": 0.8,
        },
        "created_at": MAY,
    }
    return LabOutcome.objects.create(
        tenant_id=run.tenant_id, run=run, system=system, **(defaults | values)
    )


def make_replay(question: GoldenQuestion, **values: Any) -> ReplayRun:
    """Done, with an answer of each side."""
    policy = {"engine": "local", "model": "", "embedder": "table", "prompts": {"route": "v1"}}
    values = {
        "overrides": {},
        "questions": [question.id],
        "current": policy | {"switches": {"recall.k_min": 5}},
        "candidate": policy | {"switches": {"recall.k_min": 6}},
        "state": "done",
        "actor": "ida",
        "created_at": MAY,
        "finished_at": MAY,
    } | values
    run = ReplayRun.objects.create(tenant_id=question.tenant_id, **values)
    for side, ranks in (("current", [1]), ("candidate", [None])):
        ReplayAnswer.objects.create(
            tenant_id=question.tenant_id,
            space_id=question.space_id,
            run=run,
            question=question,
            side=side,
            ranks=ranks,
            shown=[[each["kind"], each["id"]] for each in question.expected if ranks[0]],
        )
    return run


def make_webhook(tenant: Tenant, **values: Any) -> Webhook:
    """One to an address that is refused, so that nothing is ever sent."""
    values = {
        "name": "CRM",
        "url": "https://127.0.0.1/hook",
        "events": ["fact.added"],
        "created_by": "test",
        "created_at": MAY,
        "changed_at": MAY,
    } | values
    return Webhook.objects.create(tenant=tenant, **values)


def make_delivery(hook: Webhook, space: Space | None = None, **values: Any) -> Delivery:
    """One that was given up."""
    event = WebhookEvent.objects.create(
        tenant_id=hook.tenant_id,
        kind="fact.added",
        space=space,
        data={"id": "0", "version": 1},
        occurred_at=MAY,
        created_at=MAY,
    )
    values = {
        "name": "fact.added",
        "state": "dead",
        "run_after": MAY,
        "created_at": MAY,
        "finished_at": MAY,
        "status": 500,
        "error": "answered 500",
    } | values
    return Delivery.objects.create(tenant_id=hook.tenant_id, webhook=hook, event=event, **values)
