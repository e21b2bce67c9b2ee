"""Source: the exchanges that turns form (MemoryOS' dialogue page, spec §8.1)."""

from __future__ import annotations

from django.db import models

from memoryhub.dialogues.models import Session, Turn
from memoryhub.tenants.models import SpaceModel


class Page(SpaceModel):
    """A user's words and the replies to them; one-sided when nobody answered."""

    class Kind(models.TextChoices):
        EXCHANGE = "exchange"
        ONE_SIDED = "one_sided"
        DOCUMENT = "document"

    class Tier(models.TextChoices):
        SHORT = "stm", "Short term"
        MID = "mtm", "Mid term"

    session = models.ForeignKey(Session, models.CASCADE, related_name="pages", db_index=False)
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ONE_SIDED)
    tier = models.CharField(max_length=4, choices=Tier, default=Tier.SHORT)

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["space", "first_seq"], name="page_start")]
        indexes = [models.Index(fields=["session", "-first_seq"], name="page_in_session")]

    def __str__(self) -> str:
        return f"turns {self.first_seq} to {self.last_seq}"

    def covers(self, turn: Turn) -> bool:
        """Other sessions of the space may speak in between."""
        return self.session_id == turn.session_id and self.first_seq <= turn.seq <= self.last_seq
