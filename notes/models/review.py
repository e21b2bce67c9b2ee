"""What waits for a person's word: nothing in here is recalled or followed."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.tenants.models import Space, SpaceModel, TenantModel
from notes.models.history import EvolutionEvent


class Risk(models.TextChoices):
    """What saying yes puts at stake: see `notes.facts.risk`."""

    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


class Proposal(SpaceModel):
    """A change that the pipeline may not make by itself.

    `payload` is what it would write: a candidate, new values, the rows to erase or to merge; of a
    `rename`, the `old` name and the `new` one, the `lineage` of the memory in which it was put
    right, and the `fact_ids` of the others. `row` is what it would change, if that exists, or has
    the name right. `turn_ids` are where it came from, so that erasing a turn finds it. `event`:
    the change-set that carried its answer out, if one did. `rule_id`: the rule that answered or
    tried to; no rule answers it again.
    """

    class Kind(models.TextChoices):
        CONFLICT = "conflict", _("Contradicts an existing memory")
        QUARANTINE = "quarantine", _("Quarantined: not trusted")
        OVERWRITE = "overwrite", _("Would change an existing memory")
        ERASE = "erase", _("Request to forget")
        MERGE = "merge", _("May be the same")
        RENAME = "rename", _("Has a name that was put right elsewhere")

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("cases", "Open")
        ACCEPTED = "accepted", _("Accepted")
        REJECTED = "rejected", _("Rejected")

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
    risk = models.CharField(max_length=6, choices=Risk, default=Risk.MEDIUM)
    event = models.ForeignKey(
        EvolutionEvent, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    rule_id = models.UUIDField(null=True, blank=True)

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
        return f"{self.kind}: {Truncator(self.reason).chars(60)}"


class ReviewRule(TenantModel):
    """An answer that a person gives beforehand to proposals of one kind, in a space or in all.

    `predicate_key` and `role` narrow it to what is said of one matter, and by whom; "" is any.
    It is never changed, only removed, and stays to be read: that is its history.
    """

    class Answer(models.TextChoices):
        ACCEPT = "accept", _("Accept")
        KEEP_BOTH = "keep_both", _("Keep both")
        REJECT = "reject", _("Reject")

    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=10, choices=Proposal.Kind)
    predicate_key = models.CharField(max_length=80, blank=True)
    role = models.CharField(max_length=20, blank=True)
    answer = models.CharField(max_length=9, choices=Answer)
    reason = models.CharField(max_length=500, blank=True)
    created_by = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    removed_by = models.CharField(max_length=120, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "space", "kind", "predicate_key", "role"],
                condition=models.Q(removed_at=None),
                name="one_rule_a_case",
            ),
            models.UniqueConstraint(
                fields=["tenant", "kind", "predicate_key", "role"],
                condition=models.Q(removed_at=None, space=None),
                name="one_rule_a_case_of_all_spaces",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.answer} {self.kind}"


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
        POSITIVE = "positive", _("Helpful")
        NEGATIVE = "negative", _("Not helpful")
        VERY_NEGATIVE = "very_negative", _("Harmful")
        WRONG = "wrong", _("Not true")

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
