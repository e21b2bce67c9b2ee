"""The tables of the hub: what their lists show and find, and what hangs on a row.

A table without an entry has the usual columns (base.py).
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memoryhub.console.admin.base import HubAdmin
from memoryhub.console.admin.columns import (
    LINE_LENGTH,
    annotated_words,
    badge,
    end_words,
    heat,
    held_state,
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
from memoryhub.pipeline.counts import build_planned_filter
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
        words("text"), plain("owner"), plain("space"), held_state(),
        span("valid_from", "valid_to", _("current")), number("confidence"),
        strength(), heat(), when("asserted_at"),
    )  # fmt: skip
    list_filter = ("status", "kind", "visibility", "pinned", "asserted_at")
    search_fields = ("text", "owner", "object")
    related = ((Relation, "fact"), (Note, "fact"))


@admin.register(Note)
class NoteAdmin(HubAdmin):
    columns = (
        words("content"), words("context"), plain("space"), plain("tags"),
        badge("enrichment"), badge("visibility"), strength(), heat(),
        when("occurred_at"),
    )  # fmt: skip
    list_filter = ("enrichment", "visibility", "pinned", "occurred_at")
    search_fields = ("content", "context", "keywords", "tags")
    related = ((Link, "a", "b"),)


@admin.register(Link)
class LinkAdmin(HubAdmin):
    columns = (
        end_words("a", "content"), badge("kind"), end_words("b", "content"),
        words("reason"), number("weight"), plain("space"),
        when("created_at"),
    )  # fmt: skip
    list_filter = ("kind", "active", "created_at")
    search_fields = ("reason", "a__content", "b__content")


@admin.register(Segment)
class SegmentAdmin(HubAdmin):
    columns = (
        words("summary", "keywords"), plain("space"), badge("tier"),
        number("visits_total"), number("pages_total"), heat(),
        when("ended_at"),
    )  # fmt: skip
    list_filter = ("tier", "stale", "ended_at")
    search_fields = ("summary", "keywords")
    related = ((SegmentPage, "segment"),)


@admin.register(SegmentPage)
class SegmentPageAdmin(HubAdmin):
    columns = (
        end_words("segment", "summary"), plain("page"),
        plain("theme"), number("score"), plain("space"),
        when("added_at"),
    )  # fmt: skip
    list_filter = ("added_at",)
    search_fields = ("segment__summary", "theme")


@admin.register(Page)
class PageAdmin(HubAdmin):
    columns = (
        annotated_words("said", _("first message")), plain("first_seq"), plain("last_seq"),
        plain("session"), plain("space"), badge("kind"), badge("tier"),
        badge("visibility"), number("strength"), when("analysed_at"),
    )  # fmt: skip
    list_filter = ("kind", "tier", "visibility", "analysed_at")
    search_fields = ("session__external_id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        """With the words that an exchange begins with, by which people know it."""
        first = Turn.objects.filter(session=OuterRef("session"), seq=OuterRef("first_seq"))
        words = Subquery(first.values(start=Left("text", 2 * LINE_LENGTH)))
        found: QuerySet[Page] = super().get_queryset(request).annotate(said=words)
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Page], search_term: str
    ) -> tuple[QuerySet[Page], bool]:
        """Found by what was said in it too."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not (term := search_term.strip()):
            return found, may_repeat
        said = Turn.objects.filter(
            session=OuterRef("session"),
            seq__gte=OuterRef("first_seq"),
            seq__lte=OuterRef("last_seq"),
            text__icontains=term,
        )
        return found | queryset.filter(Exists(said)), may_repeat

    related = ((Note, "page"), (SegmentPage, "page"))


@admin.register(Episode)
class EpisodeAdmin(HubAdmin):
    columns = (
        words("title", "text"), badge("kind"), plain("space"),
        strength(), heat(), span("from_at", "to_at", _("when")),
    )  # fmt: skip
    list_filter = ("kind", "stale", "visibility", "to_at")
    search_fields = ("title", "text")
    related = ((Episode, "parent"),)


@admin.register(Entity)
class EntityAdmin(HubAdmin):
    columns = (
        words("name"), plain("type"), plain("aliases"),
        plain("space"), number("mention_count"), plain("merged_into"),
    )  # fmt: skip
    list_filter = ("type",)
    search_fields = ("name", "aliases", "summary")
    related = ((Relation, "src", "dst"),)


@admin.register(Relation)
class RelationAdmin(HubAdmin):
    columns = (
        end_words("src", "name"), plain("label"),
        end_words("dst", "name"), end_words("fact", "text"),
        plain("space"),
    )  # fmt: skip
    search_fields = ("label", "src__name", "dst__name")


@admin.register(Trait)
class TraitAdmin(HubAdmin):
    columns = (
        plain("key"), badge("level"), plain("owner"), plain("space"),
        number("confidence"), words("rationale"),
        span("valid_from", "valid_to", _("current")),
    )  # fmt: skip
    list_filter = ("level", "valid_from")
    search_fields = ("key", "owner", "rationale")


@admin.register(ProfileAttribute)
class ProfileAttributeAdmin(HubAdmin):
    columns = (
        words("value"), plain("key"),
        plain("owner"), plain("space"),
    )  # fmt: skip
    search_fields = ("key", "value", "owner")


@admin.register(CoreBlock)
class CoreBlockAdmin(HubAdmin):
    columns = (
        plain("label"), words("value"), plain("space"),
        plain("agent"), number("version"), when("updated_at"),
    )  # fmt: skip
    list_filter = ("generated", "read_only", "updated_at")
    search_fields = ("label", "value", "agent")
    related = ((BlockVersion, "block"), (BlockAttachment, "block"))


@admin.register(BlockVersion)
class BlockVersionAdmin(HubAdmin):
    columns = (
        words("value"), plain("block"),
        number("version"), plain("actor"),
        words("reason"), when("created_at"),
    )  # fmt: skip
    search_fields = ("value", "actor")


@admin.register(EvolutionEvent)
class EvolutionEventAdmin(HubAdmin):
    columns = (
        badge("kind"), words("reason", "trigger"),
        plain("actor"), plain("space"),
        plain("engine"), plain("policy_version"),
        when("created_at"),
    )  # fmt: skip
    list_filter = ("kind", "is_purged", "created_at")
    search_fields = ("reason", "actor", "trigger")
    related = ((EvolutionEvent, "undo_of"),)


@admin.register(Revision)
class RevisionAdmin(HubAdmin):
    columns = (
        plain("row_type"), plain("row_id"), plain("version_after"),
        plain("event"), plain("space"),
    )  # fmt: skip
    list_filter = ("row_type",)
    search_fields = ("row_id",)


@admin.register(Derivation)
class DerivationAdmin(HubAdmin):
    columns = (
        end_words("turn", "text"), plain("child_type"),
        plain("child_id"), badge("role"), plain("space"),
    )  # fmt: skip
    list_filter = ("role", "child_type")
    search_fields = ("turn__text", "child_id")


@admin.register(Proposal)
class ProposalAdmin(HubAdmin):
    columns = (
        badge("kind"), words("reason"), plain("space"),
        badge("state"), plain("decided_by"), when("created_at"),
    )  # fmt: skip
    list_filter = ("kind", "state", "created_at")
    search_fields = ("reason", "decided_by")


@admin.register(Turn)
class TurnAdmin(HubAdmin):
    columns = (
        words("text"), plain("speaker"), badge("role"), plain("space"),
        badge("state"), when("occurred_at"),
    )  # fmt: skip
    list_filter = ("state", "role", "occurred_at")
    search_fields = ("text", "speaker")
    related = ((Derivation, "turn"),)


@admin.register(Session)
class SessionAdmin(HubAdmin):
    columns = (
        words("external_id", "ordinal"), plain("channel"),
        plain("space"), number("turn_count"), when("started_at"),
        when("ended_at"),
    )  # fmt: skip
    list_filter = ("channel", "started_at")
    search_fields = ("external_id",)
    related = ((Turn, "session"), (Page, "session"))


class DueFilter(admin.SimpleListFilter):
    """Jobs that somebody waits for, or those planned for later: the overview counts them apart."""

    title = _("due")
    parameter_name = "due"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("now", _("now")), ("later", _("planned for later"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        planned = build_planned_filter(timezone.now())
        wanted = {"now": ~planned, "later": planned}.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(wanted)


@admin.register(Job)
class JobAdmin(HubAdmin):
    columns = (
        plain("step"), badge("state"), plain("space"), words("error"),
        number("attempts"), when("run_after"), when("created_at"),
        when("finished_at"),
    )  # fmt: skip
    list_filter = ("state", DueFilter, "step", "created_at")
    search_fields = ("error", "step")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Job], search_term: str
    ) -> tuple[QuerySet[Job], bool]:
        """Found by the words of its step too, in the reader's language: the list shows those."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        term = search_term.strip().lower()
        steps = [step for step, label in Job.Step.choices if term and term in str(label).lower()]
        return found | queryset.filter(step__in=steps), may_repeat


@admin.register(ModelCall)
class ModelCallAdmin(HubAdmin):
    columns = (
        plain("purpose"), plain("model"), badge("status"),
        plain("space"), number("prompt_tokens"),
        number("completion_tokens"), plain("cost"),
        when("created_at"),
    )  # fmt: skip
    list_filter = ("status", "purpose", "created_at")
    search_fields = ("model", "purpose", "error")


@admin.register(RecallLog)
class RecallLogAdmin(HubAdmin):
    columns = (
        words("query"), plain("form"), plain("via"),
        plain("space"), plain("took_ms"), when("asked_at"),
    )  # fmt: skip
    list_filter = ("form", "via", "insufficient", "asked_at")
    search_fields = ("query", "asked_by")
    related = ((RecallLogItem, "log"),)


@admin.register(Space)
class SpaceAdmin(HubAdmin):
    columns = (
        words("name", "subject"), plain("subject"), plain("speakers"),
        plain("timezone"), when("last_activity_at"), when("paused_at"),
        when("created_at"),
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
        words("name"), plain("slug"), plain("engine"),
        when("created_at"),
    )  # fmt: skip
    search_fields = ("name", "slug")


@admin.register(User)
class PersonAdmin(HubAdmin):
    """The tenant's people. Accounts are the hub's: `manage.py account` changes them."""

    fields = ("username", "email", "last_login", "date_joined")
    columns = (
        words("username"), plain("email"), when("last_login"),
        when("date_joined"),
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
        badge("kind"), plain("name"), plain("actor"),
        plain("address"), when("at"),
    )  # fmt: skip
    list_filter = ("kind", "at")
    search_fields = ("name", "address")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccountEvent]:
        rows: QuerySet[AccountEvent] = super().get_queryset(request)
        return rows.filter(account_id__in=Membership.objects.values("user"))


@admin.register(Membership)
class MembershipAdmin(HubAdmin):
    columns = (plain("user"), badge("role"))
    list_filter = ("role",)
    search_fields = ("user__username",)


@admin.register(ApiKey)
class KeyAdmin(HubAdmin):
    columns = (
        words("name"), plain("prefix"), plain("scopes"),
        plain("space"), when("expires_at"), when("revoked_at"),
        when("last_used_at"), when("created_at"),
    )  # fmt: skip
    list_filter = ("revoked_at", "expires_at", "last_used_at")
    search_fields = ("name", "prefix")


@admin.register(PersonLink)
class PersonLinkAdmin(HubAdmin):
    columns = (
        words("note", "created_by"), plain("space"),
        when("expires_at"), when("revoked_at"),
        when("last_used_at"),
    )  # fmt: skip
    list_filter = ("expires_at", "revoked_at")
    search_fields = ("note", "created_by")


@admin.register(AuditEntry)
class AuditEntryAdmin(HubAdmin):
    columns = (
        badge("action"), plain("about"), plain("detail"),
        plain("actor"), when("at"),
    )  # fmt: skip
    list_filter = ("action", "at")
    search_fields = ("about", "actor", "detail")


@admin.register(PolicyVersion)
class PolicyVersionAdmin(HubAdmin):
    columns = (
        plain("version"), plain("preset"),
        plain("space"), plain("actor"),
        words("reason"), when("created_at"),
    )  # fmt: skip
    list_filter = ("preset", "created_at")
    search_fields = ("actor", "reason")


@admin.register(Window)
class WindowAdmin(HubAdmin):
    columns = (
        plain("session"), plain("agent"), plain("space"),
        number("context_limit"), when("beats_at"),
    )  # fmt: skip
    search_fields = ("agent",)


def _register_remaining_models() -> None:
    ours: list[type[Model]] = [m for m in apps.get_models() if issubclass(m, TenantModel)]
    for model in ours:
        if not admin.site.is_registered(model):
            admin.site.register(model, HubAdmin)


_register_remaining_models()
