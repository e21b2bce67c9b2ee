"""Routes of the native API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path, re_path
from drf_spectacular.views import SpectacularAPIView

from api import views
from api.answering import AnswerView
from api.columns import Resource
from api.pages import RedocView, SwaggerView
from api.progress import JobProgressView
from api.resources import (
    activity,
    block_writes,
    blocks,
    erasing,
    exchange,
    fact_writes,
    facts,
    feedback,
    golden,
    history,
    history_writes,
    imports,
    items,
    jobs,
    keys,
    members,
    note_writes,
    person_links,
    persona_writes,
    personas,
    policies,
    replays,
    review,
    spaces,
    usage,
    webhooks,
)
from api.resources.abstractions import EPISODES, SEGMENTS
from api.resources.associations import ENTITIES, LINKS, NOTES, RELATIONS
from api.resources.base import ListView, RowView, TenantRowView
from api.resources.dialogue import SESSIONS, TURNS
from api.resources.facts import FACTS
from api.resources.history import EVENTS, HISTORY
from api.resources.items import ITEMS
from api.resources.personas import PROFILE
from api.resources.quality import QUALITY
from api.resources.review import CONFLICTS

app_name = "api"
_open: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}


def _space(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    made: URLPattern = path(f"spaces/<path:subject>/{route}", view.as_view(**options), name=name)
    return made


def _of(resource: Resource, plural: str, name: str) -> list[URLPattern]:
    """A list and its rows."""
    return [
        _space(plural, ListView, plural, resource=resource),
        _space(f"{plural}/<uuid:row_id>", RowView, name, resource=resource),
    ]


def _deeds(plural: str, name: str, **views: Any) -> list[URLPattern]:
    """What can be done to a row, by its verb."""
    return [
        _space(f"{plural}/<uuid:row_id>/{verb}", view, f"{name}-{verb}")
        for verb, view in views.items()
    ]


urlpatterns = [
    path("memories", views.MemoriesView.as_view(), name="memories"),
    path("memories/batch", views.BatchView.as_view(), name="memories-batch"),
    path("search", views.SearchView.as_view(), name="search"),
    path("context", views.ContextView.as_view(), name="context"),
    path("answer", AnswerView.as_view(), name="answer"),
    path("imports", imports.ImportsView.as_view(), name="imports"),
    path("imports/<uuid:row_id>", TenantRowView.as_view(resource=imports.IMPORTS), name="import"),
    path("imports/<uuid:row_id>/take", imports.TakeImportView.as_view(), name="import-take"),
    path("jobs", jobs.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:row_id>", TenantRowView.as_view(resource=jobs.JOBS), name="job"),
    path("jobs/<uuid:row_id>/retry", jobs.JobRetryView.as_view(), name="job-retry"),
    path("jobs/<uuid:row_id>/cancel", jobs.JobCancelView.as_view(), name="job-cancel"),
    path("jobs/<uuid:row_id>/progress", JobProgressView.as_view(), name="job-progress"),
    path("schema", SpectacularAPIView.as_view(**_open), name="schema"),
    path("docs", SwaggerView.as_view(url_name="api:schema", **_open), name="docs"),
    path("redoc", RedocView.as_view(url_name="api:schema", **_open), name="redoc"),
    *_of(SESSIONS, "sessions", "session"),
    *_of(TURNS, "turns", "turn"),
    _space("facts", facts.FactsView, "facts"),
    _space("facts/<uuid:row_id>", RowView, "fact", resource=FACTS),
    _space("facts/<uuid:row_id>/versions", facts.FactVersionsView, "fact-versions"),
    *_deeds(
        "facts",
        "fact",
        correct=fact_writes.CorrectFactView,
        end=fact_writes.EndFactView,
        retract=fact_writes.RetractFactView,
        forget=fact_writes.ForgetFactView,
        restore=fact_writes.RestoreFactView,
        pin=fact_writes.PinFactView,
    ),
    *_of(NOTES, "notes", "note"),
    *_deeds(
        "notes",
        "note",
        describe=note_writes.DescribeNoteView,
        pin=note_writes.PinNoteView,
        delete=note_writes.DeleteNoteView,
    ),
    *_of(LINKS, "links", "link"),
    *_of(ENTITIES, "entities", "entity"),
    *_of(RELATIONS, "relations", "relation"),
    *_of(SEGMENTS, "segments", "segment"),
    *_of(EPISODES, "episodes", "episode"),
    _space("traits", personas.TraitsView, "traits"),
    _space("traits/<uuid:row_id>", personas.TraitView, "trait"),
    _space("traits/set", persona_writes.SetTraitView, "trait-set"),
    _space("profile", ListView, "profile", resource=PROFILE),
    _space("profile/set", persona_writes.SetAttributeView, "profile-set"),
    _space("blocks", blocks.BlocksView, "blocks"),
    _space("blocks/new", block_writes.NewBlockView, "block-new"),
    _space("blocks/<uuid:row_id>", blocks.BlockView, "block"),
    _space("blocks/<uuid:row_id>/versions", blocks.BlockVersionsView, "block-versions"),
    *_deeds(
        "blocks",
        "block",
        revise=block_writes.ReviseBlockView,
        delete=block_writes.DeleteBlockView,
        attach=block_writes.AttachBlockView,
        detach=block_writes.DetachBlockView,
    ),
    _space("tools", block_writes.ToolsView, "tools"),
    *_of(EVENTS, "events", "event"),
    *_deeds("events", "event", undo=history_writes.UndoView),
    _space("roll-back", history_writes.RollBackView, "roll-back"),
    _space("history", ListView, "history", resource=HISTORY),
    _space("as-of", history.AsOfView, "as-of"),
    _space("changes", history.ChangesView, "changes"),
    *_of(CONFLICTS, "conflicts", "conflict"),
    _space("conflicts/decide-many", review.DecideManyView, "conflicts-decide-many"),
    *_deeds("conflicts", "conflict", decide=review.DecideView),
    _space("conflicts/<uuid:row_id>/take-back", review.TakeBackView, "conflict-take-back"),
    path("review-rules", review.RulesView.as_view(), name="review-rules"),
    path("review-rules/new", review.NewRuleView.as_view(), name="review-rule-new"),
    path(
        "review-rules/<uuid:row_id>/remove",
        review.RemoveRuleView.as_view(),
        name="review-rule-remove",
    ),
    _space("quality", ListView, "quality", resource=QUALITY),
    _space("erase", erasing.EraseView, "erase"),
    _space("export", exchange.ExportView, "export"),
    _space("pause", spaces.PauseView, "pause"),
    _space("person-links", person_links.PersonLinksView, "person-links"),
    _space("person-links/new", person_links.NewPersonLinkView, "person-link-new"),
    *_deeds("person-links", "person-link", revoke=person_links.RevokePersonLinkView),
    path("export", exchange.TenantExportView.as_view(), name="tenant-export"),
    path("import", exchange.ImportView.as_view(), name="import-export"),
    path("requests", activity.RequestsView.as_view(), name="requests"),
    path("audit", activity.AuditView.as_view(), name="audit"),
    path("usage", usage.UsageView.as_view(), name="usage"),
    path("usage/calls", usage.CallsView.as_view(), name="usage-calls"),
    path("keys", keys.KeysView.as_view(), name="keys"),
    path("keys/new", keys.NewKeyView.as_view(), name="key-new"),
    path("keys/<uuid:row_id>/rotate", keys.RotateKeyView.as_view(), name="key-rotate"),
    path("keys/<uuid:row_id>/revoke", keys.RevokeKeyView.as_view(), name="key-revoke"),
    path("webhooks", webhooks.WebhooksView.as_view(), name="webhooks"),
    path("webhooks/new", webhooks.NewWebhookView.as_view(), name="webhook-new"),
    path("webhooks/<uuid:row_id>", webhooks.WebhookView.as_view(), name="webhook"),
    *(
        path(f"webhooks/<uuid:row_id>/{verb}", view.as_view(), name=f"webhook-{verb}")
        for verb, view in (
            ("change", webhooks.ChangeWebhookView),
            ("rotate", webhooks.RotateWebhookView),
            ("delete", webhooks.DeleteWebhookView),
            ("ping", webhooks.PingWebhookView),
            ("deliveries", webhooks.DeliveriesView),
        )
    ),
    path("deliveries/<uuid:row_id>", webhooks.DeliveryView.as_view(), name="delivery"),
    path(
        "deliveries/<uuid:row_id>/replay",
        webhooks.ReplayDeliveryView.as_view(),
        name="delivery-replay",
    ),
    path("members", members.MembersView.as_view(), name="members"),
    path("members/new", members.NewMemberView.as_view(), name="member-new"),
    path("members/<uuid:row_id>/role", members.RoleView.as_view(), name="member-role"),
    path("members/<uuid:row_id>/remove", members.RemoveMemberView.as_view(), name="member-remove"),
    path("policy", policies.TenantPolicyView.as_view(), name="tenant-policy"),
    path("policy/versions", policies.PolicyVersionsView.as_view(), name="tenant-policy-versions"),
    path("policy/presets", policies.PresetsView.as_view(), name="presets"),
    path("policy/switches", policies.SwitchesView.as_view(), name="switches"),
    path("replays", replays.ReplaysView.as_view(), name="replays"),
    path("replays/new", replays.NewReplayView.as_view(), name="replay-new"),
    path("replays/<uuid:row_id>", replays.ReplayView.as_view(), name="replay"),
    path(
        "replays/<uuid:row_id>/results", replays.ReplayResultsView.as_view(), name="replay-results"
    ),
    path("replays/<uuid:row_id>/cancel", replays.CancelReplayView.as_view(), name="replay-cancel"),
    path("replays/<uuid:row_id>/decide", replays.DecideReplayView.as_view(), name="replay-decide"),
    path("receipts", erasing.ReceiptsView.as_view(), name="receipts"),
    path("receipts/<uuid:row_id>", erasing.ReceiptView.as_view(), name="receipt"),
    *_of(golden.QUESTIONS, "golden", "golden-question"),
    _space("golden/new", golden.NewQuestionView, "golden-new"),
    *_deeds(
        "golden",
        "golden",
        change=golden.ChangeQuestionView,
        remove=golden.RemoveQuestionView,
    ),
    _space("feedback", ListView, "feedback", resource=feedback.FEEDBACK),
    _space("feedback/set", feedback.SetFeedbackView, "feedback-set"),
    _space("policy", policies.SpacePolicyView, "policy"),
    _space("policy/versions", policies.SpacePolicyVersionsView, "policy-versions"),
    *_of(ITEMS, "items", "item"),
    path("items/read", items.ReadItemsView.as_view(), name="items-read"),
    path("items/write", items.WriteItemsView.as_view(), name="items-write"),
    path("spaces", spaces.SpacesView.as_view(), name="spaces"),
    # Last of them: a subject may have slashes in its name.
    path("spaces/<path:subject>", spaces.SpaceView.as_view(), name="space"),
    re_path(r"^[\s\S]*$", views.NotFoundView.as_view(), name="not-found"),
]
