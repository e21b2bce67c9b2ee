"""The tables of the hub: what their lists show and find, and what hangs on a row.

A table without an entry has the usual columns (base.py).
"""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memoryhub.console.admin.base import HubAdmin
from memoryhub.console.admin.columns import (
    badge,
    end_words,
    heat,
    number,
    plain,
    span,
    strength,
    when,
    words,
)
from memoryhub.console.admin.names import name_models
from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.policies.models import PolicyVersion
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.tenants.models import (
    AccountEvent,
    ApiKey,
    AuditEntry,
    Membership,
    PersonLink,
    Space,
    Tenant,
    TenantModel,
    User,
)
from notes.models import (
    Derivation,
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Link,
    Note,
    Page,
    Proposal,
    Relation,
    Revision,
    Segment,
    SegmentPage,
)
from personas.models import (
    BlockAttachment,
    BlockVersion,
    CoreBlock,
    ProfileAttribute,
    Trait,
    Window,
)

name_models()


@admin.register(Fact)
class FactAdmin(HubAdmin):
    columns = (
        words(Fact, "text"), plain(Fact, "owner"), plain(Fact, "space"), badge(Fact, "status"),
        span(Fact, "valid_from", "valid_to", _("held")), number(Fact, "confidence"),
        strength(), heat(), when(Fact, "asserted_at"),
    )  # fmt: skip
    list_filter = ("status", "kind", "visibility", "pinned", "asserted_at")
    search_fields = ("text", "owner", "object")
    related = ((Relation, "fact"), (Note, "fact"))


@admin.register(Note)
class NoteAdmin(HubAdmin):
    columns = (
        words(Note, "content"), words(Note, "context"), plain(Note, "space"), plain(Note, "tags"),
        badge(Note, "enrichment"), badge(Note, "visibility"), strength(), heat(),
        when(Note, "occurred_at"),
    )  # fmt: skip
    list_filter = ("enrichment", "visibility", "pinned", "occurred_at")
    search_fields = ("content", "context", "keywords", "tags")
    related = ((Link, "a", "b"),)


@admin.register(Link)
class LinkAdmin(HubAdmin):
    columns = (
        end_words(Link, "a", "content"), badge(Link, "kind"), end_words(Link, "b", "content"),
        words(Link, "reason"), number(Link, "weight"), plain(Link, "space"),
        when(Link, "created_at"),
    )  # fmt: skip
    list_filter = ("kind", "active", "created_at")
    search_fields = ("reason", "a__content", "b__content")


@admin.register(Segment)
class SegmentAdmin(HubAdmin):
    columns = (
        words(Segment, "summary", "keywords"), plain(Segment, "space"), badge(Segment, "tier"),
        number(Segment, "visits_total"), number(Segment, "pages_total"), heat(),
        when(Segment, "ended_at"),
    )  # fmt: skip
    list_filter = ("tier", "stale", "ended_at")
    search_fields = ("summary", "keywords")
    related = ((SegmentPage, "segment"),)


@admin.register(SegmentPage)
class SegmentPageAdmin(HubAdmin):
    columns = (
        end_words(SegmentPage, "segment", "summary"), plain(SegmentPage, "page"),
        plain(SegmentPage, "theme"), number(SegmentPage, "score"), plain(SegmentPage, "space"),
        when(SegmentPage, "added_at"),
    )  # fmt: skip
    list_filter = ("added_at",)
    search_fields = ("segment__summary", "theme")


@admin.register(Page)
class PageAdmin(HubAdmin):
    columns = (
        plain(Page, "first_seq"), plain(Page, "last_seq"), plain(Page, "session"),
        plain(Page, "space"), badge(Page, "kind"), badge(Page, "tier"),
        badge(Page, "visibility"), number(Page, "strength"), when(Page, "analysed_at"),
    )  # fmt: skip
    list_filter = ("kind", "tier", "visibility", "analysed_at")
    search_fields = ("session__external_id",)
    related = ((Note, "page"), (SegmentPage, "page"))


@admin.register(Episode)
class EpisodeAdmin(HubAdmin):
    columns = (
        words(Episode, "title", "text"), badge(Episode, "kind"), plain(Episode, "space"),
        strength(), heat(), span(Episode, "from_at", "to_at", _("when")),
    )  # fmt: skip
    list_filter = ("kind", "stale", "visibility", "to_at")
    search_fields = ("title", "text")
    related = ((Episode, "parent"),)


@admin.register(Entity)
class EntityAdmin(HubAdmin):
    columns = (
        words(Entity, "name"), plain(Entity, "type"), plain(Entity, "aliases"),
        plain(Entity, "space"), number(Entity, "mention_count"), plain(Entity, "merged_into"),
    )  # fmt: skip
    list_filter = ("type",)
    search_fields = ("name", "aliases", "summary")
    related = ((Relation, "src", "dst"),)


@admin.register(Relation)
class RelationAdmin(HubAdmin):
    columns = (
        end_words(Relation, "src", "name"), plain(Relation, "label"),
        end_words(Relation, "dst", "name"), end_words(Relation, "fact", "text"),
        plain(Relation, "space"),
    )  # fmt: skip
    search_fields = ("label", "src__name", "dst__name")


@admin.register(Trait)
class TraitAdmin(HubAdmin):
    columns = (
        plain(Trait, "key"), badge(Trait, "level"), plain(Trait, "owner"), plain(Trait, "space"),
        number(Trait, "confidence"), words(Trait, "rationale"),
        span(Trait, "valid_from", "valid_to", _("held")),
    )  # fmt: skip
    list_filter = ("level", "valid_from")
    search_fields = ("key", "owner", "rationale")


@admin.register(ProfileAttribute)
class ProfileAttributeAdmin(HubAdmin):
    columns = (
        words(ProfileAttribute, "value"), plain(ProfileAttribute, "key"),
        plain(ProfileAttribute, "owner"), plain(ProfileAttribute, "space"),
    )  # fmt: skip
    search_fields = ("key", "value", "owner")


@admin.register(CoreBlock)
class CoreBlockAdmin(HubAdmin):
    columns = (
        plain(CoreBlock, "label"), words(CoreBlock, "value"), plain(CoreBlock, "space"),
        plain(CoreBlock, "agent"), number(CoreBlock, "version"), when(CoreBlock, "updated_at"),
    )  # fmt: skip
    list_filter = ("generated", "read_only", "updated_at")
    search_fields = ("label", "value", "agent")
    related = ((BlockVersion, "block"), (BlockAttachment, "block"))


@admin.register(BlockVersion)
class BlockVersionAdmin(HubAdmin):
    columns = (
        words(BlockVersion, "value"), plain(BlockVersion, "block"),
        number(BlockVersion, "version"), plain(BlockVersion, "actor"),
        words(BlockVersion, "reason"), when(BlockVersion, "created_at"),
    )  # fmt: skip
    search_fields = ("value", "actor")


@admin.register(EvolutionEvent)
class EvolutionEventAdmin(HubAdmin):
    columns = (
        badge(EvolutionEvent, "kind"), words(EvolutionEvent, "reason", "trigger"),
        plain(EvolutionEvent, "actor"), plain(EvolutionEvent, "space"),
        plain(EvolutionEvent, "engine"), plain(EvolutionEvent, "policy_version"),
        when(EvolutionEvent, "created_at"),
    )  # fmt: skip
    list_filter = ("kind", "is_purged", "created_at")
    search_fields = ("reason", "actor", "trigger")
    related = ((EvolutionEvent, "undo_of"),)


@admin.register(Revision)
class RevisionAdmin(HubAdmin):
    columns = (
        plain(Revision, "row_type"), plain(Revision, "row_id"), plain(Revision, "version_after"),
        plain(Revision, "event"), plain(Revision, "space"),
    )  # fmt: skip
    list_filter = ("row_type",)
    search_fields = ("row_id",)


@admin.register(Derivation)
class DerivationAdmin(HubAdmin):
    columns = (
        end_words(Derivation, "turn", "text"), plain(Derivation, "child_type"),
        plain(Derivation, "child_id"), badge(Derivation, "role"), plain(Derivation, "space"),
    )  # fmt: skip
    list_filter = ("role", "child_type")
    search_fields = ("turn__text", "child_id")


@admin.register(Proposal)
class ProposalAdmin(HubAdmin):
    columns = (
        badge(Proposal, "kind"), words(Proposal, "reason"), plain(Proposal, "space"),
        badge(Proposal, "state"), plain(Proposal, "decided_by"), when(Proposal, "created_at"),
    )  # fmt: skip
    list_filter = ("kind", "state", "created_at")
    search_fields = ("reason", "decided_by")


@admin.register(Turn)
class TurnAdmin(HubAdmin):
    columns = (
        words(Turn, "text"), plain(Turn, "speaker"), badge(Turn, "role"), plain(Turn, "space"),
        badge(Turn, "state"), when(Turn, "occurred_at"),
    )  # fmt: skip
    list_filter = ("state", "role", "occurred_at")
    search_fields = ("text", "speaker")
    related = ((Derivation, "turn"),)


@admin.register(Session)
class SessionAdmin(HubAdmin):
    columns = (
        words(Session, "external_id", "ordinal"), plain(Session, "channel"),
        plain(Session, "space"), number(Session, "turn_count"), when(Session, "started_at"),
        when(Session, "ended_at"),
    )  # fmt: skip
    list_filter = ("channel", "started_at")
    search_fields = ("external_id",)
    related = ((Turn, "session"), (Page, "session"))


@admin.register(Job)
class JobAdmin(HubAdmin):
    columns = (
        plain(Job, "step"), badge(Job, "state"), plain(Job, "space"), words(Job, "error"),
        number(Job, "attempts"), when(Job, "run_after"), when(Job, "created_at"),
        when(Job, "finished_at"),
    )  # fmt: skip
    list_filter = ("state", "step", "created_at")
    search_fields = ("error",)


@admin.register(ModelCall)
class ModelCallAdmin(HubAdmin):
    columns = (
        plain(ModelCall, "purpose"), plain(ModelCall, "model"), badge(ModelCall, "status"),
        plain(ModelCall, "space"), number(ModelCall, "prompt_tokens"),
        number(ModelCall, "completion_tokens"), plain(ModelCall, "cost"),
        when(ModelCall, "created_at"),
    )  # fmt: skip
    list_filter = ("status", "purpose", "created_at")
    search_fields = ("model", "purpose", "error")


@admin.register(RecallLog)
class RecallLogAdmin(HubAdmin):
    columns = (
        words(RecallLog, "query"), plain(RecallLog, "form"), plain(RecallLog, "via"),
        plain(RecallLog, "space"), plain(RecallLog, "took_ms"), when(RecallLog, "asked_at"),
    )  # fmt: skip
    list_filter = ("form", "via", "insufficient", "asked_at")
    search_fields = ("query", "asked_by")
    related = ((RecallLogItem, "log"),)


@admin.register(Space)
class SpaceAdmin(HubAdmin):
    columns = (
        words(Space, "name", "subject"), plain(Space, "subject"), plain(Space, "speakers"),
        plain(Space, "timezone"), when(Space, "last_activity_at"), when(Space, "paused_at"),
        when(Space, "created_at"),
    )  # fmt: skip
    list_filter = ("last_activity_at", "created_at", "timezone")
    search_fields = ("subject", "name", "speakers")
    related = (
        (Fact, "space"), (Note, "space"), (Segment, "space"), (EvolutionEvent, "space"),
        (Job, "space"),
    )  # fmt: skip


@admin.register(Tenant)
class TenantAdmin(HubAdmin):
    """What a tenant costs the hub is its operators' to decide: others change its name elsewhere."""

    fields = readonly_fields = ("name", "slug", "engine", "created_at")
    columns = (
        words(Tenant, "name"), plain(Tenant, "slug"), plain(Tenant, "engine"),
        when(Tenant, "created_at"),
    )  # fmt: skip
    search_fields = ("name", "slug")


@admin.register(User)
class PersonAdmin(HubAdmin):
    """The tenant's people. Accounts are the hub's: `manage.py account` changes them."""

    fields = ("username", "email", "last_login", "date_joined")
    columns = (
        words(User, "username"), plain(User, "email"), when(User, "last_login"),
        when(User, "date_joined"),
    )  # fmt: skip
    list_filter = ("last_login", "date_joined")
    search_fields = ("username", "email")
    related = ((Membership, "user"),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.filter(pk__in=Membership.objects.values("user"))


@admin.register(AccountEvent)
class AccountEventAdmin(HubAdmin):
    """Sign-ins and the like of the tenant's people."""

    columns = (
        badge(AccountEvent, "kind"), plain(AccountEvent, "name"), plain(AccountEvent, "actor"),
        plain(AccountEvent, "address"), when(AccountEvent, "at"),
    )  # fmt: skip
    list_filter = ("kind", "at")
    search_fields = ("name", "address")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccountEvent]:
        rows: QuerySet[AccountEvent] = super().get_queryset(request)
        return rows.filter(account_id__in=Membership.objects.values("user"))


@admin.register(Membership)
class MembershipAdmin(HubAdmin):
    columns = (plain(Membership, "user"), badge(Membership, "role"))
    list_filter = ("role",)
    search_fields = ("user__username",)


@admin.register(ApiKey)
class KeyAdmin(HubAdmin):
    columns = (
        words(ApiKey, "name"), plain(ApiKey, "prefix"), plain(ApiKey, "scopes"),
        plain(ApiKey, "space"), when(ApiKey, "expires_at"), when(ApiKey, "revoked_at"),
        when(ApiKey, "last_used_at"), when(ApiKey, "created_at"),
    )  # fmt: skip
    list_filter = ("revoked_at", "expires_at", "last_used_at")
    search_fields = ("name", "prefix")


@admin.register(PersonLink)
class PersonLinkAdmin(HubAdmin):
    columns = (
        words(PersonLink, "note", "created_by"), plain(PersonLink, "space"),
        when(PersonLink, "expires_at"), when(PersonLink, "revoked_at"),
        when(PersonLink, "last_used_at"),
    )  # fmt: skip
    list_filter = ("expires_at", "revoked_at")
    search_fields = ("note", "created_by")


@admin.register(AuditEntry)
class AuditEntryAdmin(HubAdmin):
    columns = (
        badge(AuditEntry, "action"), plain(AuditEntry, "about"), plain(AuditEntry, "detail"),
        plain(AuditEntry, "actor"), when(AuditEntry, "at"),
    )  # fmt: skip
    list_filter = ("action", "at")
    search_fields = ("about", "actor", "detail")


@admin.register(PolicyVersion)
class PolicyVersionAdmin(HubAdmin):
    columns = (
        plain(PolicyVersion, "version"), plain(PolicyVersion, "preset"),
        plain(PolicyVersion, "space"), plain(PolicyVersion, "actor"),
        words(PolicyVersion, "reason"), when(PolicyVersion, "created_at"),
    )  # fmt: skip
    list_filter = ("preset", "created_at")
    search_fields = ("actor", "reason")


@admin.register(Window)
class WindowAdmin(HubAdmin):
    columns = (
        plain(Window, "session"), plain(Window, "agent"), plain(Window, "space"),
        number(Window, "context_limit"), when(Window, "beats_at"),
    )  # fmt: skip
    search_fields = ("agent",)


def _register_remaining_models() -> None:
    ours: list[type[Model]] = [m for m in apps.get_models() if issubclass(m, TenantModel)]
    for model in ours:
        if not admin.site.is_registered(model):
            admin.site.register(model, HubAdmin)


_register_remaining_models()
