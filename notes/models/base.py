"""What every derived row has: a version, a maker, an end; and what may fade."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import SpaceModel


class Derived(SpaceModel):
    """A row made from turns or by hand. `version` rises by one a revision (I7).

    `retired_at`: when the hub stopped holding the row, by undo or rewording; it stays for its
    history. `corrected_by` names the person whose word the pipeline may only propose against.
    """

    version = models.IntegerField(default=1)
    engine = models.CharField(max_length=60, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    corrected_by = models.CharField(max_length=120, blank=True)

    class Meta:
        abstract = True

    @property
    def is_protected(self) -> bool:
        """Pinned or corrected by a person: the pipeline proposes, it does not write."""
        return bool(self.corrected_by or getattr(self, "pinned", False))


class Retained(models.Model):
    """The retention facet (spec §11.6): strength grows with every recall, R falls with time.

    These are recall counters, which reading may change; `visibility` is set by sweeps.
    """

    class Visibility(models.TextChoices):
        ACTIVE = "active", _("Active")
        DORMANT = "dormant", _("Dormant")

    strength = models.IntegerField(default=1)
    last_recall_at = models.DateTimeField(null=True, blank=True)
    recall_count = models.IntegerField(default=0)
    forget_at = models.DateTimeField(null=True, blank=True)
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.ACTIVE)
    pinned = models.BooleanField(default=False)

    class Meta:
        abstract = True


# Columns that reading or a sweep's own book-keeping changes: no revision is written for them
# (I6, I11).
COUNTER_COLUMNS = frozenset(
    {
        "strength",
        "last_recall_at",
        "recall_count",
        "forget_at",
        "visits_total",
        "promo_visits",
        "last_visited_at",
        "compared_at",
    }
)
