"""A tenant with one space that has a memory of every kind, and people of all roles."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.golden.models import GoldenQuestion, ReplayRun
from memoryhub.importers.models import ImportRun
from memoryhub.inference.models import ModelCall
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.pipeline.models import Job, SpaceMap
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.services import set_policy
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import ApiKey, Membership, PersonLink, Space, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from memoryhub.webhooks.models import Delivery, Webhook
from notes.models import (
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Note,
    Proposal,
    Receipt,
    ReviewRule,
    Segment,
)
from personas.models import CoreBlock
from tests.support.factories import (
    MAY,
    make_block,
    make_call,
    make_delivery,
    make_entity,
    make_episode,
    make_event,
    make_fact,
    make_import,
    make_job,
    make_lab_run,
    make_member,
    make_note,
    make_person_link,
    make_proposal,
    make_question,
    make_recall,
    make_receipt,
    make_replay,
    make_rule,
    make_segment,
    make_source,
    make_space,
    make_tenant,
    make_turns,
    make_webhook,
)


@dataclass(frozen=True)
class ConsoleWorld:
    tenant: Tenant
    admin: User
    space: Space
    turn: Turn
    fact: Fact
    note: Note
    segment: Segment
    job: Job
    key: ApiKey
    version: PolicyVersion
    call: ModelCall
    event: EvolutionEvent
    proposal: Proposal
    receipt: Receipt
    block: CoreBlock
    episode: Episode
    question: GoldenQuestion
    run: ReplayRun
    recall: RecallLog
    lab: LabRun
    outcome: LabOutcome
    imported: ImportRun
    hook: Webhook
    delivery: Delivery
    link: PersonLink
    rule: ReviewRule
    entity: Entity

    def collect_ids(self) -> dict[str, str]:
        """Values for the parameters of the console's addresses."""
        names: tuple[str, ...] = ("space", "turn", "fact", "note", "segment", "job", "key")
        names += ("version", "call", "event", "proposal", "receipt")
        names += ("block", "episode", "question", "run", "recall", "lab", "outcome")
        names += ("hook", "delivery", "link", "rule", "entity")
        found = {f"{name}_id": str(getattr(self, name).id) for name in names}
        with tenant_scope(self.tenant.id):
            member = Membership.objects.get(user=self.admin)
        found |= {"import_id": str(self.imported.id), "member_id": str(member.id)}
        return found | {"key": "openness"}


def make_world(name: str, tenant: Tenant | None = None) -> ConsoleWorld:
    tenant = tenant or make_tenant(name)
    with tenant_scope(tenant.id):
        space = make_space(tenant, f"nora-of-{tenant.slug}")
        turn, answer = make_turns(space, "Listen, I keep bees in Ghent. Do you?", "Two hives.")
        fact = make_fact(space, "I keep bees in Ghent", turn)
        note = make_note(space, "Bees in Ghent", keywords=["bees"], tags=["hobby"])
        make_source(note, answer)
        segment = make_segment(space, "Keeping bees", turn, answer)
        entity = make_entity(space, "Ghent", type="place")
        job = make_job(space, "dead", error="EngineError: the endpoint is closed")
        call = make_call(space, job=job)
        event = make_event(space)
        proposal = make_proposal(space, row_type="fact", row_id=fact.id, turn_ids=[turn.id])
        receipt = make_receipt(tenant)
        points = [["fact", str(fact.id), 0.5, -0.5], ["note", str(note.id), -1, 1]]
        evolution = {"notes": [[str(note.id), True, -1, 1, 0.5, 0.5]], "any": [0.1, 0.2]}
        SpaceMap.objects.create(
            tenant=tenant,
            space=space,
            points=points,
            evolution=evolution,
            asked_at=MAY,
            drawn_at=MAY,
        )
        block = make_block(space, "human", "Keeps bees.")
        episode = make_episode(space, "Nora keeps bees.", turn, answer, title="Bees")
        question = make_question(space, "Where are the bees?", fact, tags=["bees"])
        replay = make_replay(question)
        recall = make_recall(space, "Where are the bees?", fact, turn)
        lab = make_lab_run(tenant)
        hook = make_webhook(tenant)
        sent = (hook, make_delivery(hook, space), make_person_link(space))
        outcome = LabOutcome.objects.get(run=lab, system="mem0")
        last = (lab, outcome, make_import(tenant), *sent, make_rule(tenant, space), entity)
    key, _ = create_key(tenant, "backend", ["read"])
    version = set_policy(tenant.id, actor="ida", preset="mem0", overrides={"stm.pages": 9})
    rows = (space, turn, fact, note, segment, job, key, version, call, event, proposal, receipt)
    return ConsoleWorld(
        tenant, make_member(tenant), *rows, block, episode, question, replay, recall, *last
    )


@pytest.fixture(scope="module", autouse=True)
def scene(kept_for_module: None) -> ConsoleWorld:
    """For all tests of a module: it takes longer to make than most pages to answer."""
    return make_world("Hive")


@pytest.fixture
def world(db: None, scene: ConsoleWorld) -> ConsoleWorld:
    return deepcopy(scene)


@pytest.fixture
def browser(client: Client, world: ConsoleWorld) -> Client:
    """Signed in as the admin of the world."""
    client.force_login(world.admin)
    return client


def make_plans(world: ConsoleWorld, **values: Any) -> None:
    """One whose day was yesterday, and one whose day is tomorrow."""
    now = timezone.now()
    begun = {"event_from": now - timedelta(days=2)}
    plan: dict[str, Any] = {"kind": "plan", "polarity": "planned"} | begun | values
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "Nora flies to Rome.", event_to=now - timedelta(days=1), **plan)
        make_fact(world.space, "Nora walks to Bruges.", event_to=now + timedelta(days=1), **plan)
