"""Where a step works, and what new dialogue makes due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Embedder, Engine, Extraction
from memoryhub.inference.selection import select_embedder, select_engine
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.services import load_space
from notes.history.change_set import ChangeSet


@dataclass(frozen=True)
class StepContext:
    """A step's space, the policy in force, and the models that serve it."""

    job: Job
    now: datetime
    space: Space
    tenant: Tenant
    effective: EffectivePolicy

    @property
    def policy(self) -> Policy:
        return self.effective.policy

    @cached_property
    def engine(self) -> Engine:
        return select_engine(self.tenant, self.policy)

    @cached_property
    def embedder(self) -> Embedder:
        return select_embedder(self.space)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.space.timezone)

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"[:60]

    def build_change_set(self, kind: str, reason: str) -> ChangeSet:
        return ChangeSet(
            self.space,
            kind,
            "pipeline",
            self.now,
            reason,
            engine=self.stamp,
            job_id=self.job.id,
            trigger=self.job.step,
            policy_version=self.effective.version,
        )


def load_context(job: Job, now: datetime) -> StepContext:
    """Call inside the tenant's scope."""
    space = load_space(job.tenant_id, job.space_id)
    return StepContext(job, now, space, space.tenant, load_effective_policy(space))


@dataclass(frozen=True, slots=True)
class DerivedDialogue:
    """What a derivation has just read: `turns`, in order, of one session. The steps behind it are
    planned in its transaction.

    `constructions`: what was read of each page, by its id, in order.
    """

    space: Space
    policy: Policy
    job: Job
    turns: list[Turn]
    now: datetime
    constructions: Mapping[UUID, Extraction] = field(default_factory=dict)

    @property
    def seqs(self) -> tuple[int, int]:
        return self.turns[0].seq, self.last_seq

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq
