"""History: what caused every derived row, what it was made from, and what it was before."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import SpaceModel, TenantModel


class EvolutionEvent(SpaceModel):
    """One change-set: who or what changed memory, and why."""

    class Kind(models.TextChoices):
        RESOLVE = "resolve", _("Facts resolved")
        EVOLVE = "evolve", _("Notes evolved")
        PLACE = "place", _("Placed in a topic")
        ARCHIVE = "archive", _("Hidden by fading")
        PROMOTE = "promote", _("Promoted")
        DIGEST = "digest", _("Summarised")
        REFRESH = "refresh", _("Updated")
        MERGE = "merge", _("Entities merged")
        FORGET = "forget", _("Faded")
        MANUAL = "manual", _("Manual")
        UNDO = "undo", _("Undone")
        ERASE = "erase", _("Erased")

    kind = models.CharField(max_length=10, choices=Kind)
    actor = models.CharField(max_length=120)
    # What set it off: a step of the pipeline, a page, a tool, a request.
    trigger = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    engine = models.CharField(max_length=60, blank=True)
    policy_version = models.CharField(max_length=20, blank=True)
    job_id = models.UUIDField(null=True, blank=True)
    undo_of = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="undone_by"
    )
    # Its revisions' values are gone with what was erased: it can't be undone any more.
    is_purged = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["space", "-created_at"], name="event_recent")]

    def __str__(self) -> str:
        return self.get_kind_display()


class Revision(SpaceModel):
    """One row's change within an event. `before` is null when the event made the row."""

    event = models.ForeignKey(EvolutionEvent, models.CASCADE, related_name="revisions")
    row_type = models.CharField(max_length=20)
    row_id = models.UUIDField()
    version_before = models.IntegerField(null=True, blank=True)
    version_after = models.IntegerField()
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["row_type", "row_id"], name="revision_of_row")]

    def __str__(self) -> str:
        return f"{self.row_type} v{self.version_after}"


class Derivation(SpaceModel):
    """Where a derived row came from: a turn, with the characters that support it.

    `via` is the derived row in between, if it was not made from the turn itself: a summary's
    facts, a digest's episodes. Support that came to a row by an event that was undone since is
    `withdrawn`: it counts no more, and an erasure still finds the row by it.
    """

    class Role(models.TextChoices):
        SUPPORT = "support"
        CONTEXT = "context"
        CONTRADICTION = "contradiction"
        WITHDRAWN = "withdrawn"

    child_type = models.CharField(max_length=20)
    child_id = models.UUIDField()
    child_version = models.IntegerField(default=1)
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="derivations")
    span_start = models.IntegerField(null=True, blank=True)
    span_end = models.IntegerField(null=True, blank=True)
    via_type = models.CharField(max_length=20, blank=True)
    via_id = models.UUIDField(null=True, blank=True)
    role = models.CharField(max_length=13, choices=Role, default=Role.SUPPORT)
    event = models.ForeignKey(EvolutionEvent, models.CASCADE, related_name="derivations")

    class Meta:
        indexes = [models.Index(fields=["child_type", "child_id"], name="derivation_of_row")]

    def __str__(self) -> str:
        return f"{self.child_type} from turn {self.turn_id}"


class Tombstone(TenantModel):
    """That something was erased, without saying what: a salted hash of its type and id."""

    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="one_tombstone")]

    def __str__(self) -> str:
        return self.digest[:12]


class Receipt(TenantModel):
    """What an erasure removed, in numbers. It outlives the space it was about.

    `undoable_until`: what nobody confirmed is sealed until then and can be brought back; `gone_at`
    says since when it can't, `undone_at` that it was. All three are empty where it went for good
    at once.
    """

    target = models.CharField(max_length=20)
    # A salted hash: the receipt can be found by who knows the id, and tells nothing else.
    target_digest = models.CharField(max_length=64)
    actor = models.CharField(max_length=120)
    reason = models.CharField(max_length=500, blank=True)
    counts = models.JSONField(default=dict)
    # What a person has to look at: shared blocks, promotions beyond the space.
    review = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()
    undoable_until = models.DateTimeField(null=True, blank=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["tenant", "-created_at"], name="receipt_recent")]

    def __str__(self) -> str:
        return f"{self.target} erased by {self.actor}"

    @property
    def is_sealed(self) -> bool:
        """Whether what went is hidden only, and not yet gone for good."""
        return bool(self.undoable_until) and not self.gone_at and not self.undone_at

    def is_undoable(self, now: datetime) -> bool:
        """Past its time it is hidden until the sweep comes by, and no undo brings it back."""
        return self.is_sealed and self.undoable_until is not None and now < self.undoable_until
