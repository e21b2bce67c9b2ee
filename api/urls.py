"""Routes of the native API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path, re_path
from drf_spectacular.utils import OpenApiParameter

from api.core.views import NotFoundView
from api.rows.columns import Resource
from api.rows.read_views import (
    RowListView,
    SpaceListView,
    SpaceRowView,
    TenantListView,
    TenantRowView,
    build_query_view,
)
from api.schema.openapi import LOG_PARAMETERS
from api.schema.pages import DescriptionView, RedocView, SwaggerView
from api.v1 import (
    access,
    activity,
    blocks,
    erasure,
    facts,
    files,
    history,
    imports,
    items,
    jobs,
    memories,
    notes,
    personas,
    policies,
    quality,
    replays,
    review,
    search,
    spaces,
    topics,
    webhooks,
    windows,
)

app_name = "api"
_OPEN: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}
_FOR_ADMINS: dict[str, Any] = {"scopes": {"GET": "admin"}}
_SPACE, _ROW = "spaces/<path:subject>", "<uuid:row_id>"


def build_route(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    made: URLPattern = path(route, view.as_view(**options), name=name)
    return made


def build_space_route(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    return build_route(f"{_SPACE}/{route}", view, name, **options)


def build_space_rows(resource: Resource, plural: str, name: str) -> list[URLPattern]:
    """A list of a space and its rows."""
    return [
        build_space_route(plural, SpaceListView, plural, resource=resource),
        build_space_route(f"{plural}/{_ROW}", SpaceRowView, name, resource=resource),
    ]


def build_list(resource: Resource, plural: str, **options: Any) -> URLPattern:
    """A list of the tenant."""
    return build_route(plural, TenantListView, plural, resource=resource, **options)


def build_row(resource: Resource, plural: str, name: str, **options: Any) -> URLPattern:
    return build_route(f"{plural}/{_ROW}", TenantRowView, name, resource=resource, **options)


def build_verbs(plural: str, name: str, **views: Any) -> list[URLPattern]:
    """What can be asked of a row or done to it, by its verb."""
    return [
        build_route(f"{plural}/{_ROW}/{verb}", view, f"{name}-{verb}")
        for verb, view in views.items()
    ]


def build_space_verbs(plural: str, name: str, **views: Any) -> list[URLPattern]:
    return build_verbs(f"{_SPACE}/{plural}", name, **views)


def build_query_route(listed: URLPattern) -> URLPattern:
    """The route of the same list, asked for in a body."""
    callback: Any = listed.callback  # as_view() gives it these two attributes
    view, options = callback.view_class, dict(callback.view_initkwargs)
    parameters = options.pop("parameters", view.parameters)
    members = [each for each in parameters if each.location == OpenApiParameter.QUERY]
    scope = options.pop("scopes", view.scopes)["GET"]
    return build_route(
        f"{listed.pattern}/query",
        build_query_view(view),
        f"{listed.name}-query",
        **options,
        members=members,
        parameters=[],
        scopes={"POST": scope},
    )


_routes = [
    build_route("schema", DescriptionView, "schema", **_OPEN),
    build_route("docs", SwaggerView, "docs", url_name="api:schema", **_OPEN),
    build_route("redoc", RedocView, "redoc", url_name="api:schema", **_OPEN),
    build_route("memories", memories.AddMemoriesView, "memories"),
    build_route("memories/batch", memories.AddBatchView, "memories-batch"),
    *build_space_rows(memories.SESSIONS, "sessions", "session"),
    *build_space_rows(memories.TURNS, "turns", "turn"),
    build_route("search", search.SearchView, "search"),
    build_route("context", search.ContextView, "context"),
    build_route("answer", search.AnswerView, "answer"),
    build_space_route("feedback", SpaceListView, "feedback", resource=search.FEEDBACK),
    build_space_route("feedback/set", search.SetFeedbackView, "feedback-set"),
    build_route("facts", facts.RememberFactView, "fact-remember"),
    build_space_route("facts", facts.FactsView, "facts"),
    build_space_route(f"facts/{_ROW}", SpaceRowView, "fact", resource=facts.FACTS),
    *build_space_verbs(
        "facts",
        "fact",
        versions=facts.FactVersionsView,
        correct=facts.CorrectFactView,
        end=facts.EndFactView,
        retract=facts.RetractFactView,
        forget=facts.ForgetFactView,
        restore=facts.RestoreFactView,
        pin=facts.PinFactView,
        merge=facts.MergeFactView,
    ),
    *build_space_rows(notes.NOTES, "notes", "note"),
    *build_space_verbs(
        "notes",
        "note",
        describe=notes.DescribeNoteView,
        pin=notes.PinNoteView,
        forget=notes.ForgetNoteView,
        restore=notes.RestoreNoteView,
        merge=notes.MergeNoteView,
        delete=notes.DeleteNoteView,
    ),
    *build_space_rows(notes.LINKS, "links", "link"),
    *build_space_rows(notes.ENTITIES, "entities", "entity"),
    *build_space_verbs(
        "entities", "entity", merge=notes.MergeEntityView, split=notes.SplitEntityView
    ),
    *build_space_rows(notes.RELATIONS, "relations", "relation"),
    *build_space_rows(topics.SEGMENTS, "segments", "segment"),
    *build_space_rows(topics.EPISODES, "episodes", "episode"),
    *build_space_rows(personas.TRAITS, "traits", "trait"),
    build_space_route("traits/set", personas.SetTraitView, "trait-set"),
    build_space_route("profile", SpaceListView, "profile", resource=personas.PROFILE_ATTRIBUTES),
    build_space_route("profile/set", personas.SetAttributeView, "profile-set"),
    *build_space_rows(blocks.BLOCKS, "blocks", "block"),
    build_space_route("blocks/new", blocks.NewBlockView, "block-new"),
    *build_space_verbs(
        "blocks",
        "block",
        versions=blocks.BlockVersionsView,
        revise=blocks.ReviseBlockView,
        delete=blocks.DeleteBlockView,
        attach=blocks.AttachBlockView,
        detach=blocks.DetachBlockView,
    ),
    build_space_route("tools", blocks.AgentToolsView, "tools"),
    *build_space_rows(windows.WINDOWS, "windows", "window"),
    build_space_route("windows/open", windows.OpenWindowView, "window-open"),
    *build_space_verbs(
        "windows",
        "window",
        append=windows.AppendToWindowView,
        step=windows.StepWindowView,
        schedule=windows.ScheduleWindowView,
    ),
    *build_space_rows(items.ITEMS, "items", "item"),
    build_route("items/read", items.ReadItemsView, "items-read"),
    build_route("items/write", items.WriteItemsView, "items-write"),
    *build_space_rows(history.EVENTS, "events", "event"),
    *build_space_verbs("events", "event", undo=history.UndoEventView),
    build_space_route("roll-back", history.RollBackView, "roll-back"),
    build_space_route("history", SpaceListView, "history", resource=history.ROW_CHANGES),
    build_space_route("as-of", history.AsOfView, "as-of"),
    build_space_route("changes", history.ChangesView, "changes"),
    *build_space_rows(review.CONFLICTS, "conflicts", "conflict"),
    build_space_route("conflicts/decide-many", review.DecideConflictsView, "conflicts-decide-many"),
    *build_space_verbs(
        "conflicts",
        "conflict",
        **{"decide": review.DecideConflictView, "take-back": review.ReopenConflictView},
    ),
    build_list(review.REVIEW_RULES, "review-rules", of_whole_tenant=True, **_FOR_ADMINS),
    build_route("review-rules/new", review.NewReviewRuleView, "review-rule-new"),
    *build_verbs("review-rules", "review-rule", remove=review.RemoveReviewRuleView),
    build_space_route("quality", SpaceListView, "quality", resource=quality.QUALITY_READINGS),
    build_list(replays.REPLAYS, "replays"),
    build_route("replays/new", replays.NewReplayView, "replay-new"),
    build_row(replays.REPLAYS, "replays", "replay"),
    *build_verbs(
        "replays",
        "replay",
        results=replays.ReplayResultsView,
        cancel=replays.CancelReplayView,
        decide=replays.DecideReplayView,
    ),
    *build_space_rows(quality.GOLDEN_QUESTIONS, "golden", "golden-question"),
    build_space_route("golden/new", quality.NewGoldenQuestionView, "golden-new"),
    *build_space_verbs(
        "golden",
        "golden",
        change=quality.ChangeGoldenQuestionView,
        remove=quality.RemoveGoldenQuestionView,
    ),
    build_route("policy", policies.TenantPolicyView, "tenant-policy"),
    build_route("policy/versions", policies.PolicyVersionsView, "tenant-policy-versions"),
    build_route("policy/presets", policies.PresetsView, "presets"),
    build_route("policy/switches", policies.SwitchesView, "switches"),
    build_space_route("policy", policies.SpacePolicyView, "policy"),
    build_space_route(
        "policy/versions", SpaceListView, "policy-versions", resource=policies.POLICY_VERSIONS
    ),
    build_route("jobs", jobs.JobsView, "jobs"),
    build_row(jobs.JOBS, "jobs", "job"),
    *build_verbs(
        "jobs",
        "job",
        retry=jobs.RetryJobView,
        cancel=jobs.CancelJobView,
        progress=jobs.JobProgressView,
    ),
    build_route("imports", imports.ImportsView, "imports"),
    build_row(imports.IMPORTS, "imports", "import"),
    *build_verbs("imports", "import", take=imports.TakeImportView),
    build_space_route("export", files.ExportSpaceView, "export"),
    build_route("export", files.ExportTenantView, "tenant-export"),
    build_route("import", files.ImportFileView, "import-export"),
    build_list(webhooks.WEBHOOKS, "webhooks", **_FOR_ADMINS),
    build_route("webhooks/new", webhooks.NewWebhookView, "webhook-new"),
    build_row(webhooks.WEBHOOKS, "webhooks", "webhook", **_FOR_ADMINS),
    *build_verbs(
        "webhooks",
        "webhook",
        change=webhooks.ChangeWebhookView,
        rotate=webhooks.RotateWebhookView,
        delete=webhooks.DeleteWebhookView,
        ping=webhooks.PingWebhookView,
        deliveries=webhooks.DeliveriesView,
    ),
    build_row(webhooks.DELIVERIES, "deliveries", "delivery", **_FOR_ADMINS),
    *build_verbs("deliveries", "delivery", replay=webhooks.ReplayDeliveryView),
    build_space_route(
        "person-links", SpaceListView, "person-links", resource=access.PERSON_LINKS, **_FOR_ADMINS
    ),
    build_space_route("person-links/new", access.NewPersonLinkView, "person-link-new"),
    *build_space_verbs("person-links", "person-link", revoke=access.RevokePersonLinkView),
    build_list(access.KEYS, "keys", **_FOR_ADMINS),
    build_route("keys/new", access.NewKeyView, "key-new"),
    *build_verbs("keys", "key", rotate=access.RotateKeyView, revoke=access.RevokeKeyView),
    build_list(access.MEMBERS, "members", of_whole_tenant=True, **_FOR_ADMINS),
    build_route("members/new", access.NewMemberView, "member-new"),
    *build_verbs(
        "members", "member", role=access.SetMemberRoleView, remove=access.RemoveMemberView
    ),
    build_list(
        activity.LOGGED_REQUESTS,
        "requests",
        parameters=LOG_PARAMETERS,
        of_whole_tenant=True,
        **_FOR_ADMINS,
    ),
    build_route("audit", activity.AuditView, "audit"),
    build_route("usage", activity.UsageView, "usage"),
    build_route("usage/calls", TenantListView, "usage-calls", resource=activity.MODEL_CALLS),
    build_space_route("erase", erasure.EraseView, "erase"),
    build_space_route("pause", spaces.PauseSpaceView, "pause"),
    build_space_route("name", spaces.NameSpaceView, "name"),
    build_list(erasure.RECEIPTS, "receipts", **_FOR_ADMINS),
    build_row(erasure.RECEIPTS, "receipts", "receipt", **_FOR_ADMINS),
    build_list(spaces.SPACES, "spaces"),
]
_lists = [
    each
    for each in _routes
    if issubclass(each.callback.view_class, RowListView)  # type: ignore[attr-defined]  # as_view() gives it
]
urlpatterns = [
    *_routes,
    *map(build_query_route, _lists),
    # Behind all others: a subject may have slashes in its name.
    build_route(_SPACE, spaces.SpaceView, "space"),
    re_path(r"^[\s\S]*$", NotFoundView.as_view(), name="not-found"),
]
