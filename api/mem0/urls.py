"""Routes of mem0's clients, at the root of the host as they have them."""

from __future__ import annotations

from django.urls import path, re_path

from api.mem0 import (
    adding,
    changing,
    entities,
    exports,
    feedback,
    finding,
    projects,
    views,
    webhooks,
)

app_name = "mem0"
_HOOKS = "api/v1/webhooks/"
_ORG = "api/v1/orgs/organizations/<str:org_id>/projects/"

urlpatterns = [
    path("v1/ping/", projects.PingView.as_view(), name="ping"),
    path("v1/memories/", changing.MemoriesView.as_view(), name="memories-1"),
    path("v1/memories/search/", finding.BareSearchView.as_view(), name="search-1"),
    path("v2/memories/", finding.ListView.as_view(), name="list-2"),
    path("v2/memories/search/", finding.SearchView.as_view(), name="search-2"),
    path("v3/memories/add/", adding.AddView.as_view(), name="add"),
    path("v3/memories/", finding.ListView.as_view(), name="list"),
    path("v3/memories/search/", finding.SearchView.as_view(), name="search"),
    path("v1/memories/<str:memory_id>/", changing.MemoryView.as_view(), name="memory"),
    path("v1/memories/<str:memory_id>/history/", changing.HistoryView.as_view(), name="history"),
    path("v1/batch/", changing.BatchView.as_view(), name="batch"),
    path("v1/events/", adding.EventsView.as_view(), name="events"),
    path("v1/event/<uuid:event_id>/", adding.EventView.as_view(), name="event"),
    path("v1/entities/", entities.EntitiesView.as_view(), name="entities"),
    path("v1/entities/<str:kind>/<path:name>/", entities.EntityView.as_view(), name="entity-1"),
    path("v2/entities/<str:kind>/<path:name>/", entities.EntityView.as_view(), name="entity"),
    path("v1/exports/", exports.ExportsView.as_view(), name="exports"),
    path("v1/exports/get/", exports.ExportView.as_view(), name="export"),
    path("v1/feedback/", feedback.FeedbackView.as_view(), name="feedback"),
    path("v1/summary/", exports.SummaryView.as_view(), name="summary"),
    path(_ORG, projects.ProjectsView.as_view(), name="projects"),
    path(f"{_ORG}<str:project_id>/", projects.ProjectView.as_view(), name="project"),
    path(f"{_ORG}<str:project_id>/members/", projects.MembersView.as_view(), name="members"),
    path(f"{_HOOKS}projects/<str:project_id>/", webhooks.WebhooksView.as_view(), name="hooks"),
    path(f"{_HOOKS}<uuid:webhook_id>/", webhooks.WebhookView.as_view(), name="hook"),
    re_path(r"^v[123]/", views.NotFoundView.as_view(), name="not-found"),
]
