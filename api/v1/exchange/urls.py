"""Routes of exports and imports."""

from __future__ import annotations

from django.urls import path

from api.rows.read_views import TenantRowView
from api.rows.routes import build_space_route
from api.v1.exchange import files, imports

urlpatterns = [
    path("imports", imports.ImportsView.as_view(), name="imports"),
    path("imports/<uuid:row_id>", TenantRowView.as_view(resource=imports.IMPORTS), name="import"),
    path("imports/<uuid:row_id>/take", imports.TakeImportView.as_view(), name="import-take"),
    build_space_route("export", files.ExportSpaceView, "export"),
    path("export", files.ExportTenantView.as_view(), name="tenant-export"),
    path("import", files.ImportFileView.as_view(), name="import-export"),
]
