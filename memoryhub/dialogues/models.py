"""What was said: sessions and turns. Append-only, the truth everything derives from."""

from __future__ import annotations

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.tenants.models import SpaceModel

# What stands in a turn's text in the place of words that were erased.
REDACTION_BAR = "█"
# In the metadata of a turn that is an agent's own step, or what its window or a timer told it: part
# of its queue and of recall storage, and no dialogue. Nothing is derived from it.
INNER = "inner"
# In its metadata, the `seq` of the turns whose words it may repeat.
RESTS_ON = "rests_on"
# In that of a turn that asks a memory tool to look something up, or tells what it found.
LOOKUP = "lookup"
# What the hub alone writes into metadata: a sender's word for it counts for nothing.
OWN_KEYS = frozenset({INNER, RESTS_ON, LOOKUP})
IS_INNER = Q(metadata__has_key=INNER)


class Session(SpaceModel):
    """A conversation. `ordinal` counts the space's sessions from 1 (D{ordinal}:{turn})."""

    external_id = models.CharField(max_length=200, blank=True)
    ordinal = models.IntegerField()
    channel = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    turn_count = models.IntegerField(default=0)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            UniqueConstraint(fields=["space", "ordinal"], name="session_ordinal"),
            UniqueConstraint(
                fields=["space", "external_id"],
                condition=~Q(external_id=""),
                name="session_external_id",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id or f"session {self.ordinal}"


class Turn(SpaceModel):
    """One message, verbatim. The text never changes, except by redaction (I1)."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        PROCESSED = "processed", pgettext_lazy("a message's state", "Read")
        FAILED = "failed", _("Failed")
        REDACTED = "redacted", _("Redacted")

    class TimeFlag(models.TextChoices):
        """What had to be assumed about the time (spec E9)."""

        NONE = "", _("As given")
        MISSING = "missing", _("No time given: time of receipt")
        NAIVE = "naive", _("No zone given: the space's")
        FUTURE = "future", _("More than a day in the future")

    session = models.ForeignKey(Session, models.CASCADE, related_name="turns", db_index=False)
    seq = models.BigIntegerField()
    ordinal = models.IntegerField()
    role = models.CharField(max_length=10, choices=Role)
    speaker = models.CharField(max_length=120)
    agent = models.CharField(max_length=120, blank=True)
    text = models.TextField()
    lang = models.CharField(max_length=8, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    # What the sender laid down for what is read from it (notes/facts/terms.py).
    terms = models.JSONField(default=dict, blank=True)
    occurred_at = models.DateTimeField()
    time_flag = models.CharField(max_length=8, choices=TimeFlag, blank=True, default=TimeFlag.NONE)
    received_at = models.DateTimeField()
    external_id = models.CharField(max_length=200, blank=True)
    content_hash = models.CharField(max_length=64)
    speech_act = models.CharField(max_length=16, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)

    class Meta:
        ordering = ["seq"]
        constraints = [
            UniqueConstraint(fields=["space", "seq"], name="turn_seq"),
            UniqueConstraint(
                fields=["session", "external_id"],
                condition=~Q(external_id=""),
                name="turn_external_id",
            ),
            # The same words said again later are a new turn (E7); delivered again, they are not.
            UniqueConstraint(
                fields=["session", "role", "speaker", "content_hash", "occurred_at"],
                condition=Q(external_id=""),
                name="turn_content",
            ),
        ]
        indexes = [
            Index(fields=["session", "ordinal"], name="turn_in_session"),
            Index(fields=["space", "seq"], condition=Q(state="pending"), name="turn_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.speaker}: {Truncator(self.text).chars(60)}"

    @property
    def words(self) -> str:
        """What is there to be read of its text: blank where words were erased, each character
        where it was."""
        return self.text.replace(REDACTION_BAR, " ")
