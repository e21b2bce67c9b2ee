"""Signing in and out, and choosing the tenant to work for."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from memoryhub.console.frame.access import action_at, page_at, tenant_view
from memoryhub.console.frame.requests import TENANT_SESSION_KEY, ConsoleRequest

sign_in = LoginView.as_view(template_name="account/sign_in.html", redirect_authenticated_user=True)
page_at("sign-in", "sign-in")(sign_in)
page_at("sign-out", "sign-out")(LogoutView.as_view())


@action_at("tenant", "choose-tenant")
@tenant_view()
def choose_tenant(request: ConsoleRequest) -> HttpResponse:
    """Back to the overview: what was open belongs to the tenant just left."""
    wanted = request.POST.get("tenant", "")
    if wanted not in {str(m.tenant_id) for m in (request.seat.membership, *request.seat.others)}:
        raise Http404
    request.session[TENANT_SESSION_KEY] = wanted
    return redirect("overview")
