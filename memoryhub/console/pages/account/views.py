"""Signing in and out, and choosing the tenant to work for."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_POST

from memoryhub.console.frame.access import tenant_view
from memoryhub.console.frame.requests import TENANT_SESSION_KEY, ConsoleRequest

sign_in = LoginView.as_view(template_name="account/sign_in.html", redirect_authenticated_user=True)
sign_out = LogoutView.as_view()


@require_POST
@tenant_view()
def choose_tenant(request: ConsoleRequest) -> HttpResponse:
    """Back to the overview: what was open belongs to the tenant just left."""
    wanted = request.POST.get("tenant", "")
    if wanted not in {str(m.tenant_id) for m in (request.seat.membership, *request.seat.others)}:
        raise Http404
    request.session[TENANT_SESSION_KEY] = wanted
    return redirect("overview")


urlpatterns = [
    path("sign-in", sign_in, name="sign-in"),
    path("sign-out", sign_out, name="sign-out"),
    path("tenant", choose_tenant, name="choose-tenant"),
]
