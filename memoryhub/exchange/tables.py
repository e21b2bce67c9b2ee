"""What belongs in a file: the tables, in the order of their lines.

`STAYS` is what does not belong: logs, work under way, what is made anew, and what is the hub's.
A space's rows name rows of the same space alone (I8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import ForeignKey, Model, Q, QuerySet

from memoryhub.dialogues.models import Session, Turn
from memoryhub.exchange.columns import FileColumn, list_columns
from memoryhub.golden.models import GoldenQuestion
from memoryhub.items.models import Item, ItemText
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.models import Space
from notes.models import (
    Chain,
    Derivation,
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Feedback,
    Fingerprint,
    Link,
    Note,
    Page,
    Proposal,
    Receipt,
    Relation,
    ReviewRule,
    Revision,
    Segment,
    SegmentPage,
    Tombstone,
)
from personas.models import (
    BlockAttachment,
    BlockVersion,
    CoreBlock,
    ProfileAttribute,
    Trait,
    Window,
)


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table. `of_space`: the lookup that says whose a row is; "": the tenant's own.

    `shared`: rows of the tenant, of which some may name a space. `keys`: text columns made of ids.
    """

    model: type[Model]
    order: tuple[str, ...] = ("id",)
    of_space: str = "space"
    shared: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def columns(self) -> tuple[FileColumn, ...]:
        return list_columns(self.model, shared=self.shared)

    def select_rows(self, space: Space) -> QuerySet[Any]:
        """The rows of a space. Call inside the tenant's scope."""
        rows = self.model._default_manager.filter(**{self.of_space: space.pk})
        return rows.order_by(*self.order)

    def select_tenant_rows(self) -> QuerySet[Any]:
        """The rows that are the tenant's own."""
        own = Q(**{f"{self.of_space}__isnull": True}) if self.of_space else Q()
        return self.model._default_manager.filter(own).order_by(*self.order)

    def list_references(self) -> Iterator[tuple[str, type[Model]]]:
        """(column, model it names) of every reference but those to tenant and space."""
        for column in self.columns:
            if isinstance(column.field, ForeignKey) and column.field.related_model is not Space:
                yield column.name, column.field.related_model


def _index_by_name(*kinds: ExportTable) -> dict[str, ExportTable]:
    return {kind.name: kind for kind in kinds}


SPACE_ROW = "space"
# Of one space. Turns come early, for whoever reads the file by itself.
SPACE_TABLES = _index_by_name(
    ExportTable(PolicyVersion, ("version",)),
    ExportTable(ReviewRule, ("created_at", "id")),
    ExportTable(Session, ("ordinal",)),
    ExportTable(Turn, ("seq",)),
    ExportTable(EvolutionEvent, ("created_at", "id")),
    ExportTable(Chain),
    ExportTable(Page, ("first_seq",)),
    ExportTable(Fact, ("recorded_at", "id")),
    ExportTable(Entity),
    ExportTable(Relation),
    ExportTable(Note, ("created_at", "id")),
    ExportTable(Link, ("created_at", "id")),
    ExportTable(Segment),
    ExportTable(SegmentPage),
    ExportTable(Episode),
    ExportTable(Trait, ("valid_from", "id")),
    ExportTable(ProfileAttribute),
    ExportTable(CoreBlock),
    ExportTable(BlockVersion, ("block_id", "version"), of_space="block__space", shared=True),
    ExportTable(Window),
    ExportTable(GoldenQuestion, ("created_at", "id")),
    ExportTable(Item, ("created_at", "id")),
    ExportTable(ItemText, ("item_id", "place")),
    ExportTable(Proposal, ("created_at", "id"), keys=frozenset({"dedupe_key"})),
    ExportTable(Feedback, ("created_at", "id")),
    ExportTable(Fingerprint, ("seen_at", "id")),
    ExportTable(Revision),
    ExportTable(Derivation),
)
# Of the tenant as a whole, behind its spaces; its rules for answers stay: another gives its own.
TENANT_TABLES = _index_by_name(
    ExportTable(PolicyVersion, ("version",)),
    ExportTable(CoreBlock),
    ExportTable(BlockVersion, ("block_id", "version"), of_space="block__space", shared=True),
    ExportTable(BlockAttachment, of_space="", shared=True),
    ExportTable(Tombstone, of_space="", shared=True),
    ExportTable(Receipt, of_space="", shared=True),
)
# Not in a file, and why; a table that is neither here nor above fails a test.
EXCLUDED_TABLES = {
    "tenants.tenant": "the importing tenant is another; name, slug and engine are told",
    "tenants.space": "told as its own line",
    "tenants.user": "people sign in where they have an account",
    "tenants.membership": "people sign in where they have an account",
    "tenants.auditentry": "who changed what of the tenant here",
    "tenants.apikey": "a key opens one hub",
    "tenants.personlink": "a link opens one hub",
    "notes.indexentry": "made anew of the same texts; its vectors are told as their own lines",
    "pipeline.job": "planned anew where the space comes to",
    "pipeline.embeddingmigration": "work under way",
    "pipeline.spacemap": "drawn anew of the vectors",
    "pipeline.qualityreading": "measured anew",
    "inference.modelcall": "a log of what was spent here",
    "recall.recalllog": "a log of what was asked here",
    "recall.recalllogitem": "a log of what was asked here",
    "golden.replayrun": "a measurement, made here",
    "golden.replayanswer": "a measurement, made here",
    "importers.importfile": "a file that waits to be taken in",
    "importers.importpart": "a file that waits to be taken in",
    "importers.importrun": "a log; what came in is in the history",
    "webhooks.webhook": "its secret comes of this hub's key",
    "webhooks.webhookevent": "sent from here",
    "webhooks.delivery": "a log of what was sent from here",
    "api.mem0project": "how this hub answers mem0's clients",
    "api.idempotentrequest": "answers to requests that were made here",
    "api.loggedrequest": "a log of what was asked here",
    "api.ratewindow": "counts requests that were made here",
    "lab.labrun": "a measurement, made here",
    "lab.labderivation": "a measurement, made here",
    "lab.laboutcome": "a measurement, made here",
}
