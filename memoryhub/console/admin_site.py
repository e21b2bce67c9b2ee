"""Who may look behind the pages: admins of the tenant in use, at what is the tenant's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.apps import apps
from django.contrib.admin import AdminSite, site
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

if TYPE_CHECKING:  # at run time models are not there yet
    from memoryhub.console.frame.requests import Seat


class HubAdminConfig(AdminConfig):
    default_site = "memoryhub.console.admin_site.HubAdminSite"

    def ready(self) -> None:
        """Without groups: what somebody may do is told by their membership."""
        super().ready()
        site.unregister(apps.get_model("auth.Group"))


class HubAdminSite(AdminSite):
    site_header = site_title = "MemoryHub"

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and administers(request)

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one way to sign in, which the console has."""
        if request.user.is_authenticated:
            raise PermissionDenied("This takes an admin of the tenant.")
        wanted = request.GET.get("next") or reverse("admin:index")
        return redirect(f"{reverse('sign-in')}?{urlencode({'next': wanted})}")

    def index(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        """How the tenant's memory stands, and the way to every table."""
        from memoryhub.console.admin.dashboard import build_dashboard

        seat: Seat = request.seat  # type: ignore[attr-defined]  # has_permission has asked for it
        told = build_dashboard(self, seat.tenant.id, timezone.now())
        return super().index(request, told | (extra_context or {}))

    def app_index(  # type: ignore[override]  # another page does it
        self, request: HttpRequest, app_label: str, extra_context: Any = None
    ) -> HttpResponse:
        """Tables stand by what they are about, not by the program's packages."""
        return redirect("admin:index")

    def password_change(  # type: ignore[override]  # another page does it
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        return redirect("account")

    def password_change_done(  # type: ignore[override]  # another page does it
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        return redirect("account")


def administers(request: HttpRequest) -> bool:
    """Whether they are an admin of the tenant that they work for."""
    seat = cast("Seat | None", getattr(request, "seat", None))
    return seat is not None and seat.can_administer
