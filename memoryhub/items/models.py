"""Items and the texts they are found by."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Index, UniqueConstraint
from pgvector.django import HalfVectorField

from memoryhub.tenants.models import SpaceModel


class Item(SpaceModel):
    """A value of the application's, by its namespace (a path of labels) and key.

    Nothing is derived from it, and nothing but its application changes it. With a lifetime it
    goes that many minutes after it was last written, or read by somebody who asked for that.
    """

    namespace = ArrayField(models.CharField(max_length=200))
    key = models.CharField(max_length=500)
    value = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ttl_minutes = models.FloatField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "space", "namespace", "key"], name="one_item_a_key")
        ]
        indexes = [
            Index(fields=["tenant", "namespace", "key"], name="item_by_namespace"),
            Index(
                fields=["tenant", "expires_at"],
                name="item_expiry",
                condition=models.Q(expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{'/'.join(self.namespace)}: {self.key}"


class ItemText(SpaceModel):
    """One text that an item is found by, with its vector of the embedder named in `model`.

    Without a vector, or with another embedder's, it gets one before the next search.
    """

    item = models.ForeignKey(Item, models.CASCADE, related_name="texts", db_index=False)
    place = models.PositiveSmallIntegerField()
    text = models.TextField()
    model = models.CharField(max_length=80, blank=True)
    embedding = HalfVectorField(null=True, blank=True)

    class Meta:
        constraints = [UniqueConstraint(fields=["item", "place"], name="one_text_a_place")]
        indexes = [Index(fields=["tenant", "model"], name="item_text_by_model")]

    def __str__(self) -> str:
        return self.text[:80]
