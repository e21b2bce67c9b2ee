"""The search index: one row per searchable chunk, vectors and words side by side.

Exact search over a covering btree beats an approximate index up to about 50k rows a space,
so (tenant, space, kind, model) leads and the vector rides in the index's leaves. Nothing that
changes on a read lives here: index-only scans need a clean visibility map.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models.functions import Coalesce
from pgvector.django import HalfVectorField

from memoryhub.tenants.models import SpaceModel


class IndexEntry(SpaceModel):
    """A turn's, fact's or note's chunk. `embedding` is null until an embedder has seen it (E18).

    `words` are the chunk's own lexemes, `window_words` those of the turn with its neighbours.
    For a turn the vector is the sum of its own and its window's: compare by inner product.
    """

    class Kind(models.TextChoices):
        TURN = "turn"
        FACT = "fact"
        NOTE = "note"
        PAGE = "page"
        SEGMENT = "segment"
        EPISODE = "episode"
        ENTITY = "entity"
        RELATION = "relation"

    kind = models.CharField(max_length=8, choices=Kind)
    owner_id = models.UUIDField()
    chunk = models.SmallIntegerField(default=0)
    model = models.CharField(max_length=80)
    embedding = HalfVectorField(null=True, blank=True)
    words = SearchVectorField()
    window_words = SearchVectorField(null=True, blank=True)
    text_hash = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "index entries"
        constraints = [
            models.UniqueConstraint(
                fields=["owner_id", "kind", "chunk", "model"], name="one_entry_a_chunk"
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "space", "kind", "model"],
                include=["owner_id", "chunk", "embedding"],
                name="entry_exact_search",
            ),
            # A window holds all the words of its turn.
            GinIndex(
                OpClass("space_id", name="uuid_ops"),
                OpClass(Coalesce("window_words", "words"), name="tsvector_ops"),
                name="entry_all_words",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.owner_id}"
