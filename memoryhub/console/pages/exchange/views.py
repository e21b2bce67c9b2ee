"""Taking spaces out as files, and bringing files in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe

from memoryhub.console.frame.access import ADMIN, page_at, tenant_view
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_plain_space_or_404
from memoryhub.errors import InvalidInput, MemoryHubError, TooLarge
from memoryhub.exchange import exporter, importer
from memoryhub.exchange.downloads import build_download
from memoryhub.exchange.importer import SpaceImportOptions, SpaceImportReport
from memoryhub.tenants import audit
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

# What a file has of each kind.
EXCHANGED_KIND_LABELS = {
    "blockattachment": gettext_lazy("block attachments"),
    "blockversion": gettext_lazy("block versions"),
    "chain": gettext_lazy("chains"),
    "coreblock": gettext_lazy("core blocks"),
    "derivation": gettext_lazy("derivations"),
    "entity": gettext_lazy("entities"),
    "episode": gettext_lazy("episodes"),
    "evolutionevent": gettext_lazy("evolution events"),
    "fact": gettext_lazy("facts"),
    "feedback": gettext_lazy("feedback"),
    "fingerprint": gettext_lazy("fingerprints"),
    "goldenquestion": gettext_lazy("test questions"),
    "item": gettext_lazy("items"),
    "itemtext": gettext_lazy("item texts"),
    "link": gettext_lazy("links"),
    "note": gettext_lazy("notes"),
    "page": pgettext_lazy("of memory", "pages"),
    "policyversion": gettext_lazy("policy versions"),
    "profileattribute": gettext_lazy("profile attributes"),
    "proposal": gettext_lazy("proposals"),
    "receipt": gettext_lazy("receipts"),
    "relation": gettext_lazy("relations"),
    "reviewrule": gettext_lazy("review rules"),
    "revision": gettext_lazy("revisions"),
    "segment": gettext_lazy("topics"),
    "segmentpage": gettext_lazy("places in topics"),
    "session": gettext_lazy("sessions"),
    "tombstone": gettext_lazy("tombstones"),
    "trait": gettext_lazy("traits"),
    "turn": gettext_lazy("turns"),
    "window": gettext_lazy("windows"),
}


@page_at("spaces/<uuid:space_id>/export", "space-export")
@require_safe
@tenant_view(role=ADMIN)
def export_space(request: ConsoleRequest, space_id: UUID) -> HttpResponseBase:
    """A subject's file."""
    with tenant_scope(request.tenant.id):
        space = get_plain_space_or_404(space_id)
        _record_export(request, "one space", space)
    now, tenant_id = timezone.now(), request.tenant.id
    return build_download(
        space.subject, lambda out: exporter.export_space(tenant_id, space_id, out, now)
    )


@page_at("spaces/export", "spaces-export")
@require_safe
@tenant_view(role=ADMIN)
def export_tenant(request: ConsoleRequest) -> HttpResponseBase:
    """The file of all of the tenant's subjects."""
    tenant, now = request.tenant, timezone.now()
    with tenant_scope(tenant.id):
        _record_export(request, "everything")
    return build_download(tenant.slug, lambda out: exporter.export_tenant(tenant.id, out, now))


def _record_export(request: ConsoleRequest, what: str, space: Space | None = None) -> None:
    audit.record_audit_entry(
        request.tenant.id, audit.Action.EXPORTED, request.actor, what, space=space
    )


@page_at("spaces/import", "spaces-import")
@tenant_view(role=ADMIN)
def space_import_page(request: ConsoleRequest) -> HttpResponse:
    """The form, and what came of a file that was sent with it; for htmx that alone."""
    context: dict[str, Any] = {"limit": settings.MAX_IMPORT_BYTES}
    if request.method == "POST":
        try:
            report = _import_spaces(request)
            counts = [pair for pair in report.counts.items() if pair[0] not in ("space", "tenant")]
            labels = [(str(EXCHANGED_KIND_LABELS.get(kind, f"{kind}s")), n) for kind, n in counts]
            context |= {"report": report, "kinds": labels}
        except MemoryHubError as error:
            context["refused"] = error.message
    template = "exchange/_report.html" if request.htmx else "exchange/import.html"
    return render(request, template, context)


def _import_spaces(request: ConsoleRequest) -> SpaceImportReport:
    """Raises MemoryHubError that says why nothing came in."""
    sent = request.FILES.get("file")
    if not isinstance(sent, UploadedFile) or sent.file is None:
        raise InvalidInput(_("no file selected"), field="file")
    if (sent.size or 0) > settings.MAX_IMPORT_BYTES:
        raise TooLarge(
            _("a file has at most %(limit)s bytes") % {"limit": f"{settings.MAX_IMPORT_BYTES:,}"}
        )
    wanted = SpaceImportOptions(
        subject=request.POST.get("subject", "").strip(),
        dry_run="check" in request.POST,
        restore_erased=request.POST.get("restore_erased") == "yes",
    )
    return importer.import_file(request.tenant.id, sent.file, request.actor, timezone.now(), wanted)
