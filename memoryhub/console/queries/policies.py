"""Versions of a policy."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404

from memoryhub.console.listing import Page, page_of
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.models import Space

VERSIONS = 10


def versions(space: Space | None, number: int) -> Page[PolicyVersion]:
    """The tenant's versions, or the space's, newest first."""
    return page_of(PolicyVersion.objects.filter(space=space), number, VERSIONS)


def version_or_404(version_id: UUID) -> PolicyVersion:
    rows = PolicyVersion.objects.select_related("space")
    found: PolicyVersion | None = rows.filter(id=version_id).first()
    if found is None:
        raise Http404
    return found
