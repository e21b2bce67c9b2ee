"""Source: the exchanges that turns form, and the chains they form (MemoryOS, spec §8.1)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.dialogues.models import Session, Turn
from notes.models.base import Derived, Retained
from notes.models.fields import (
    DERIVED_FIELDS,
    INTERNAL,
    RETAINED_FIELDS,
    ROW_FIELDS,
    MemoryField,
    MemoryFields,
)


class Chain(Derived):
    """Pages of which each goes on from the one before, with the latest summary of them all."""

    summary = models.TextField(blank=True)
    page_count = models.IntegerField(default=0)
    open = models.BooleanField(default=True)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "summary": MemoryField(_("text"), is_words=True),
        "page_count": MemoryField(_("exchanges")),
        "open": MemoryField(_("still open")),
        **DERIVED_FIELDS,
    }

    def __str__(self) -> str:
        return Truncator(self.summary).chars(80) or f"chain of {self.page_count}"


class Page(Retained, Derived):
    """A user's words and the replies to them; one-sided when nobody answered."""

    class Kind(models.TextChoices):
        EXCHANGE = "exchange"
        ONE_SIDED = "one_sided", "One-sided"
        DOCUMENT = "document"

    class Tier(models.TextChoices):
        SHORT = "stm", _("Short term")
        MID = "mtm", _("Mid term")

    session = models.ForeignKey(Session, models.CASCADE, related_name="pages", db_index=False)
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ONE_SIDED)
    tier = models.CharField(max_length=4, choices=Tier, default=Tier.SHORT)
    chain = models.ForeignKey(Chain, models.SET_NULL, null=True, blank=True, related_name="pages")
    chain_pos = models.IntegerField(default=0)
    # Set when promotion has read it; None: not yet (spec §11.5).
    analysed_at = models.DateTimeField(null=True, blank=True)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "session_id": MemoryField(_("session")),
        "first_seq": INTERNAL,
        "last_seq": INTERNAL,
        "kind": MemoryField(_("kind")),
        "tier": MemoryField(_("stored in")),
        "chain_id": MemoryField(_("conversation")),
        "chain_pos": MemoryField(_("place in the conversation")),
        "analysed_at": MemoryField(_("read for the persona")),
        **RETAINED_FIELDS,
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["space", "first_seq"], name="page_start")]
        indexes = [
            models.Index(fields=["session", "-first_seq"], name="page_in_session"),
            models.Index(fields=["space", "tier", "first_seq"], name="page_tier"),
        ]

    def __str__(self) -> str:
        return gettext("turns %(first)s to %(last)s") % {
            "first": self.first_seq,
            "last": self.last_seq,
        }

    def covers(self, turn: Turn) -> bool:
        """Other sessions of the space may speak in between."""
        return turn.session_id == self.session_id and self.first_seq <= turn.seq <= self.last_seq
