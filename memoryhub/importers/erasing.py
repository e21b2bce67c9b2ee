"""What imports keep beside memories goes when something is erased (spec §11.9)."""

from __future__ import annotations

from datetime import datetime

from memoryhub.importers.models import ImportFile, ImportRun
from memoryhub.tenants.models import Space

State = ImportRun.State


def forget(space: Space, since: datetime) -> int:
    """Drop the tenant's kept files, which may hold what is erased, and the names in reports of
    the subject. Call inside the tenant's scope. Returns 0: no answer is among them."""
    active = ImportRun.objects.filter(state__in=(State.QUEUED, State.RUNNING))
    ImportFile.objects.exclude(id__in=active.exclude(file=None).values("file_id")).delete()
    for run in ImportRun.objects.filter(report__subjects__has_key=space.subject):
        run.report |= {"skipped": [], "subjects": {}, "unknown_fields": {}}
        run.save(update_fields=["report"])
    return 0
