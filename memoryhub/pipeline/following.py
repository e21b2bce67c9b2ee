"""What new dialogue makes due: the steps behind a derivation, planned in its transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class Derived:
    """What a derivation has just read: `turns`, in order, of one session."""

    space: Space
    policy: Policy
    job: Job
    turns: list[Turn]
    now: datetime

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq
