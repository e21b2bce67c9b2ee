"""Routes of mem0's clients, at the root of the host as they have them."""

from __future__ import annotations

from django.urls import path, re_path

from api.mem0 import add, change, entities, exports, profiles, projects, search, views, webhooks

app_name = "mem0"
_WEBHOOKS = "api/v1/webhooks/"
_PROFILES = "v2/profiles/"
_PROJECTS = "api/v1/orgs/organizations/<str:org_id>/projects/"
_PROJECT = f"{_PROJECTS}<str:project_id>/"

urlpatterns = [
    path("v1/ping/", projects.PingView.as_view(), name="ping"),
    path("v1/memories/", change.MemoriesV1View.as_view(), name="memories-1"),
    path("v1/memories/search/", search.BareSearchMemoriesView.as_view(), name="search-1"),
    path("v2/memories/", search.ListMemoriesView.as_view(), name="list-2"),
    path("v2/memories/search/", search.SearchMemoriesView.as_view(), name="search-2"),
    path("v3/memories/add/", add.AddView.as_view(), name="add"),
    path("v3/memories/", search.ListMemoriesView.as_view(), name="list"),
    path("v3/memories/search/", search.SearchMemoriesView.as_view(), name="search"),
    path("v1/memories/<str:memory_id>/", change.MemoryView.as_view(), name="memory"),
    path(
        "v1/memories/<str:memory_id>/history/", change.MemoryHistoryView.as_view(), name="history"
    ),
    path("v1/batch/", change.MemoryBatchView.as_view(), name="batch"),
    path("v1/events/", add.EventsView.as_view(), name="events"),
    path("v1/event/<uuid:event_id>/", add.EventView.as_view(), name="event"),
    path("v1/entities/", entities.EntitiesView.as_view(), name="entities"),
    path("v2/entities/user/<path:name>/profile/", profiles.ProfileView.as_view(), name="profile"),
    path(f"{_PROFILES}settings/", profiles.ProfileSettingsView.as_view(), name="profile-settings"),
    path(f"{_PROFILES}jobs/", profiles.ProfileJobsView.as_view(), name="profile-jobs"),
    path(f"{_PROFILES}jobs/<str:job_id>/", profiles.ProfileJobView.as_view(), name="profile-job"),
    path("v1/entities/<str:kind>/<path:name>/", entities.EntityView.as_view(), name="entity-1"),
    path("v2/entities/<str:kind>/<path:name>/", entities.EntityView.as_view(), name="entity"),
    path("v1/exports/", exports.CreateExportView.as_view(), name="exports"),
    path("v1/exports/get/", exports.FetchExportView.as_view(), name="export"),
    path("v1/feedback/", change.MemoryFeedbackView.as_view(), name="feedback"),
    path("v1/summary/", exports.SummaryView.as_view(), name="summary"),
    path(_PROJECTS, projects.ProjectsView.as_view(), name="projects"),
    path(_PROJECT, projects.ProjectView.as_view(), name="project"),
    path(f"{_PROJECT}members/", projects.ProjectMembersView.as_view(), name="members"),
    path(
        f"{_WEBHOOKS}projects/<str:project_id>/",
        webhooks.ProjectWebhooksView.as_view(),
        name="hooks",
    ),
    path(f"{_WEBHOOKS}<uuid:webhook_id>/", webhooks.ProjectWebhookView.as_view(), name="hook"),
    re_path(r"^v[123]/", views.Mem0NotFoundView.as_view(), name="not-found"),
]
