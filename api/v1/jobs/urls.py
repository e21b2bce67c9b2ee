"""Routes of jobs."""

from __future__ import annotations

from django.urls import path

from api.rows.read_views import TenantRowView
from api.v1.jobs import views
from api.v1.jobs.progress import JobProgressView

urlpatterns = [
    path("jobs", views.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:row_id>", TenantRowView.as_view(resource=views.JOBS), name="job"),
    path("jobs/<uuid:row_id>/retry", views.RetryJobView.as_view(), name="job-retry"),
    path("jobs/<uuid:row_id>/cancel", views.CancelJobView.as_view(), name="job-cancel"),
    path("jobs/<uuid:row_id>/progress", JobProgressView.as_view(), name="job-progress"),
]
