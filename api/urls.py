"""Routes of the native API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path, re_path
from drf_spectacular.views import SpectacularAPIView

from api.core import views
from api.rows.columns import Resource
from api.rows.read_views import SpaceListView, SpaceRowView, TenantRowView
from api.schema.pages import RedocView, SwaggerView
from api.v1.access import keys, members, person_links
from api.v1.activity import usage
from api.v1.activity import views as activity_views
from api.v1.blocks import reads, writes
from api.v1.exchange import files, imports
from api.v1.facts import reads as facts_reads
from api.v1.facts import writes as facts_writes
from api.v1.facts.reads import FACTS
from api.v1.history import reads as history_reads
from api.v1.history import writes as history_writes
from api.v1.history.reads import EVENTS, ROW_CHANGES
from api.v1.items import views as items_views
from api.v1.items.views import ITEMS
from api.v1.jobs import views as jobs_views
from api.v1.jobs.progress import JobProgressView
from api.v1.memories import add
from api.v1.memories.dialogues import SESSIONS, TURNS
from api.v1.notes import writes as notes_writes
from api.v1.notes.reads import ENTITIES, LINKS, NOTES, RELATIONS
from api.v1.personas import reads as personas_reads
from api.v1.personas import writes as personas_writes
from api.v1.personas.reads import PROFILE_ATTRIBUTES
from api.v1.policies import views as policies_views
from api.v1.quality import golden, replays
from api.v1.quality.readings import QUALITY_READINGS
from api.v1.review import conflicts
from api.v1.review.conflicts import CONFLICTS
from api.v1.search import feedback
from api.v1.search import views as search_views
from api.v1.spaces import erasure
from api.v1.spaces import views as spaces_views
from api.v1.topics.reads import EPISODES, SEGMENTS
from api.v1.webhooks import views as webhooks_views

app_name = "api"
_OPEN_OPTIONS: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}


def _build_space_route(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    made: URLPattern = path(f"spaces/<path:subject>/{route}", view.as_view(**options), name=name)
    return made


def _build_row_routes(resource: Resource, plural: str, name: str) -> list[URLPattern]:
    """A list and its rows."""
    return [
        _build_space_route(plural, SpaceListView, plural, resource=resource),
        _build_space_route(f"{plural}/<uuid:row_id>", SpaceRowView, name, resource=resource),
    ]


def _build_action_routes(plural: str, name: str, **views: Any) -> list[URLPattern]:
    """What can be done to a row, by its verb."""
    return [
        _build_space_route(f"{plural}/<uuid:row_id>/{verb}", view, f"{name}-{verb}")
        for verb, view in views.items()
    ]


urlpatterns = [
    path("memories", add.AddMemoriesView.as_view(), name="memories"),
    path("memories/batch", add.AddBatchView.as_view(), name="memories-batch"),
    path("search", search_views.SearchView.as_view(), name="search"),
    path("context", search_views.ContextView.as_view(), name="context"),
    path("answer", search_views.AnswerView.as_view(), name="answer"),
    path("imports", imports.ImportsView.as_view(), name="imports"),
    path("imports/<uuid:row_id>", TenantRowView.as_view(resource=imports.IMPORTS), name="import"),
    path("imports/<uuid:row_id>/take", imports.TakeImportView.as_view(), name="import-take"),
    path("jobs", jobs_views.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:row_id>", TenantRowView.as_view(resource=jobs_views.JOBS), name="job"),
    path("jobs/<uuid:row_id>/retry", jobs_views.RetryJobView.as_view(), name="job-retry"),
    path("jobs/<uuid:row_id>/cancel", jobs_views.CancelJobView.as_view(), name="job-cancel"),
    path("jobs/<uuid:row_id>/progress", JobProgressView.as_view(), name="job-progress"),
    path("schema", SpectacularAPIView.as_view(**_OPEN_OPTIONS), name="schema"),
    path("docs", SwaggerView.as_view(url_name="api:schema", **_OPEN_OPTIONS), name="docs"),
    path("redoc", RedocView.as_view(url_name="api:schema", **_OPEN_OPTIONS), name="redoc"),
    *_build_row_routes(SESSIONS, "sessions", "session"),
    *_build_row_routes(TURNS, "turns", "turn"),
    _build_space_route("facts", facts_reads.FactsView, "facts"),
    _build_space_route("facts/<uuid:row_id>", SpaceRowView, "fact", resource=FACTS),
    _build_space_route(
        "facts/<uuid:row_id>/versions", facts_reads.FactVersionsView, "fact-versions"
    ),
    *_build_action_routes(
        "facts",
        "fact",
        correct=facts_writes.CorrectFactView,
        end=facts_writes.EndFactView,
        retract=facts_writes.RetractFactView,
        forget=facts_writes.ForgetFactView,
        restore=facts_writes.RestoreFactView,
        pin=facts_writes.PinFactView,
    ),
    *_build_row_routes(NOTES, "notes", "note"),
    *_build_action_routes(
        "notes",
        "note",
        describe=notes_writes.DescribeNoteView,
        pin=notes_writes.PinNoteView,
        forget=notes_writes.ForgetNoteView,
        delete=notes_writes.DeleteNoteView,
    ),
    *_build_row_routes(LINKS, "links", "link"),
    *_build_row_routes(ENTITIES, "entities", "entity"),
    *_build_row_routes(RELATIONS, "relations", "relation"),
    *_build_row_routes(SEGMENTS, "segments", "segment"),
    *_build_row_routes(EPISODES, "episodes", "episode"),
    _build_space_route("traits", personas_reads.TraitsView, "traits"),
    _build_space_route("traits/<uuid:row_id>", personas_reads.TraitView, "trait"),
    _build_space_route("traits/set", personas_writes.SetTraitView, "trait-set"),
    _build_space_route("profile", SpaceListView, "profile", resource=PROFILE_ATTRIBUTES),
    _build_space_route("profile/set", personas_writes.SetAttributeView, "profile-set"),
    _build_space_route("blocks", reads.BlocksView, "blocks"),
    _build_space_route("blocks/new", writes.NewBlockView, "block-new"),
    _build_space_route("blocks/<uuid:row_id>", reads.BlockView, "block"),
    _build_space_route("blocks/<uuid:row_id>/versions", reads.BlockVersionsView, "block-versions"),
    *_build_action_routes(
        "blocks",
        "block",
        revise=writes.ReviseBlockView,
        delete=writes.DeleteBlockView,
        attach=writes.AttachBlockView,
        detach=writes.DetachBlockView,
    ),
    _build_space_route("tools", writes.AgentToolsView, "tools"),
    *_build_row_routes(EVENTS, "events", "event"),
    *_build_action_routes("events", "event", undo=history_writes.UndoEventView),
    _build_space_route("roll-back", history_writes.RollBackView, "roll-back"),
    _build_space_route("history", SpaceListView, "history", resource=ROW_CHANGES),
    _build_space_route("as-of", history_reads.AsOfView, "as-of"),
    _build_space_route("changes", history_reads.ChangesView, "changes"),
    *_build_row_routes(CONFLICTS, "conflicts", "conflict"),
    _build_space_route(
        "conflicts/decide-many", conflicts.DecideConflictsView, "conflicts-decide-many"
    ),
    *_build_action_routes("conflicts", "conflict", decide=conflicts.DecideConflictView),
    _build_space_route(
        "conflicts/<uuid:row_id>/take-back", conflicts.ReopenConflictView, "conflict-take-back"
    ),
    path("review-rules", conflicts.ReviewRulesView.as_view(), name="review-rules"),
    path("review-rules/new", conflicts.NewReviewRuleView.as_view(), name="review-rule-new"),
    path(
        "review-rules/<uuid:row_id>/remove",
        conflicts.RemoveReviewRuleView.as_view(),
        name="review-rule-remove",
    ),
    _build_space_route("quality", SpaceListView, "quality", resource=QUALITY_READINGS),
    _build_space_route("erase", erasure.EraseView, "erase"),
    _build_space_route("export", files.ExportSpaceView, "export"),
    _build_space_route("pause", spaces_views.PauseSpaceView, "pause"),
    _build_space_route("person-links", person_links.PersonLinksView, "person-links"),
    _build_space_route("person-links/new", person_links.NewPersonLinkView, "person-link-new"),
    *_build_action_routes("person-links", "person-link", revoke=person_links.RevokePersonLinkView),
    path("export", files.ExportTenantView.as_view(), name="tenant-export"),
    path("import", files.ImportFileView.as_view(), name="import-export"),
    path("requests", activity_views.RequestsView.as_view(), name="requests"),
    path("audit", activity_views.AuditView.as_view(), name="audit"),
    path("usage", usage.UsageView.as_view(), name="usage"),
    path("usage/calls", usage.ModelCallsView.as_view(), name="usage-calls"),
    path("keys", keys.KeysView.as_view(), name="keys"),
    path("keys/new", keys.NewKeyView.as_view(), name="key-new"),
    path("keys/<uuid:row_id>/rotate", keys.RotateKeyView.as_view(), name="key-rotate"),
    path("keys/<uuid:row_id>/revoke", keys.RevokeKeyView.as_view(), name="key-revoke"),
    path("webhooks", webhooks_views.WebhooksView.as_view(), name="webhooks"),
    path("webhooks/new", webhooks_views.NewWebhookView.as_view(), name="webhook-new"),
    path("webhooks/<uuid:row_id>", webhooks_views.WebhookView.as_view(), name="webhook"),
    *(
        path(f"webhooks/<uuid:row_id>/{verb}", view.as_view(), name=f"webhook-{verb}")
        for verb, view in (
            ("change", webhooks_views.ChangeWebhookView),
            ("rotate", webhooks_views.RotateWebhookView),
            ("delete", webhooks_views.DeleteWebhookView),
            ("ping", webhooks_views.PingWebhookView),
            ("deliveries", webhooks_views.DeliveriesView),
        )
    ),
    path("deliveries/<uuid:row_id>", webhooks_views.DeliveryView.as_view(), name="delivery"),
    path(
        "deliveries/<uuid:row_id>/replay",
        webhooks_views.ReplayDeliveryView.as_view(),
        name="delivery-replay",
    ),
    path("members", members.MembersView.as_view(), name="members"),
    path("members/new", members.NewMemberView.as_view(), name="member-new"),
    path("members/<uuid:row_id>/role", members.SetMemberRoleView.as_view(), name="member-role"),
    path("members/<uuid:row_id>/remove", members.RemoveMemberView.as_view(), name="member-remove"),
    path("policy", policies_views.TenantPolicyView.as_view(), name="tenant-policy"),
    path(
        "policy/versions",
        policies_views.PolicyVersionsView.as_view(),
        name="tenant-policy-versions",
    ),
    path("policy/presets", policies_views.PresetsView.as_view(), name="presets"),
    path("policy/switches", policies_views.SwitchesView.as_view(), name="switches"),
    path("replays", replays.ReplaysView.as_view(), name="replays"),
    path("replays/new", replays.NewReplayView.as_view(), name="replay-new"),
    path("replays/<uuid:row_id>", replays.ReplayView.as_view(), name="replay"),
    path(
        "replays/<uuid:row_id>/results", replays.ReplayResultsView.as_view(), name="replay-results"
    ),
    path("replays/<uuid:row_id>/cancel", replays.CancelReplayView.as_view(), name="replay-cancel"),
    path("replays/<uuid:row_id>/decide", replays.DecideReplayView.as_view(), name="replay-decide"),
    path("receipts", erasure.ReceiptsView.as_view(), name="receipts"),
    path("receipts/<uuid:row_id>", erasure.ReceiptView.as_view(), name="receipt"),
    *_build_row_routes(golden.GOLDEN_QUESTIONS, "golden", "golden-question"),
    _build_space_route("golden/new", golden.NewGoldenQuestionView, "golden-new"),
    *_build_action_routes(
        "golden",
        "golden",
        change=golden.ChangeGoldenQuestionView,
        remove=golden.RemoveGoldenQuestionView,
    ),
    _build_space_route("feedback", SpaceListView, "feedback", resource=feedback.FEEDBACK),
    _build_space_route("feedback/set", feedback.SetFeedbackView, "feedback-set"),
    _build_space_route("policy", policies_views.SpacePolicyView, "policy"),
    _build_space_route(
        "policy/versions", policies_views.SpacePolicyVersionsView, "policy-versions"
    ),
    *_build_row_routes(ITEMS, "items", "item"),
    path("items/read", items_views.ReadItemsView.as_view(), name="items-read"),
    path("items/write", items_views.WriteItemsView.as_view(), name="items-write"),
    path("spaces", spaces_views.SpacesView.as_view(), name="spaces"),
    # Last of them: a subject may have slashes in its name.
    path("spaces/<path:subject>", spaces_views.SpaceView.as_view(), name="space"),
    re_path(r"^[\s\S]*$", views.NotFoundView.as_view(), name="not-found"),
]
