"""What waits for a person's word: nothing in here is recalled or followed."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from memoryhub.tenants.models import SpaceModel


class Proposal(SpaceModel):
    """A change that the pipeline may not make by itself.

    `payload` is what it would write: a candidate, new values, the rows to erase or to merge.
    `row` is what it would change, if that exists. `turn_ids` are where it came from, so that
    erasing a turn finds it.
    """

    class Kind(models.TextChoices):
        CONFLICT = "conflict", "Contradicts what is held"
        QUARANTINE = "quarantine", "Held back: not trusted"
        OVERWRITE = "overwrite", "Would change what a person corrected"
        ERASE = "erase", "Asked to be forgotten"
        MERGE = "merge", "May be the same"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        ACCEPTED = "accepted", "Accepted"
        REJECTED = "rejected", "Rejected"

    kind = models.CharField(max_length=10, choices=Kind)
    row_type = models.CharField(max_length=20, blank=True)
    row_id = models.UUIDField(null=True, blank=True)
    payload = models.JSONField(default=dict, blank=True)
    turn_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    reason = models.TextField(blank=True)
    dedupe_key = models.CharField(max_length=120)
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=120, blank=True)
    decided_because = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["space", "dedupe_key"], name="proposed_once")
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-created_at"],
                condition=models.Q(state="open"),
                name="proposal_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason[:60]}"


class Fingerprint(SpaceModel):
    """A sentence the hub gave out: when it comes back, it is an echo and no news (loop guard).

    `seen_at`: when it was first given out, `given_at`: when last, to the day.
    """

    digest = models.CharField(max_length=64)
    seen_at = models.DateTimeField()
    given_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space", "digest"], name="one_fingerprint")]
        indexes = [
            models.Index(fields=["space", "-seen_at"], name="fingerprint_recent"),
            models.Index(fields=["space", "given_at"], name="fingerprint_given"),
        ]

    def __str__(self) -> str:
        return self.digest[:12]


class Feedback(SpaceModel):
    """What somebody thinks of a memory; the latest word of each counts.

    `recall_id`: the question it was shown for, whose log entry may be gone.
    """

    class Verdict(models.TextChoices):
        POSITIVE = "positive", "Helpful"
        NEGATIVE = "negative", "Not helpful"
        VERY_NEGATIVE = "very_negative", "Harmful"
        WRONG = "wrong", "Not true"

    row_type = models.CharField(max_length=20)
    row_id = models.UUIDField()
    verdict = models.CharField(max_length=13, choices=Verdict)
    reason = models.CharField(max_length=2000, blank=True)
    recall_id = models.UUIDField(null=True, blank=True)
    actor = models.CharField(max_length=120)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["space", "row_type", "row_id", "actor"], name="one_word_of_each"
            )
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.verdict}"
