"""What new dialogue makes due: the steps behind a derivation, planned in its transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Extraction
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class DerivedDialogue:
    """What a derivation has just read: `turns`, in order, of one session.

    `constructions`: what was read of each page, by its id, in order.
    """

    space: Space
    policy: Policy
    job: Job
    turns: list[Turn]
    now: datetime
    constructions: Mapping[UUID, Extraction] = field(default_factory=dict)

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq
