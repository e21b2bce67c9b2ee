"""Who may sign in for the tenant, and as what."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_view
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import people as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.wording import ROLES
from memoryhub.errors import Conflict
from memoryhub.tenants.models import Membership
from memoryhub.tenants.people import add_person, remove_person, set_role
from memoryhub.tenants.scope import tenant_scope

ADMIN = Membership.Role.ADMIN


class PersonForm(forms.Form):
    username = forms.CharField(
        max_length=150, label=gettext_lazy("User name"), validators=[ASCIIUsernameValidator()]
    )
    email = forms.EmailField(max_length=254, required=False, label=gettext_lazy("Email"))
    role = forms.ChoiceField(choices=Membership.Role.choices, label=gettext_lazy("Role"))


@never_cache
@tenant_view(role=ADMIN)
def people(request: ConsoleRequest) -> HttpResponse:
    """Sent, a new person is let in, whose password is in this answer and never again."""
    form = PersonForm(request.POST or None)
    password = _added(request, form) if form.is_valid() else ""
    name = form.cleaned_data["username"] if password else ""
    filters = read_filters(request.GET, (queries.ROLE,))
    with tenant_scope(request.tenant.id):
        page = page_of(queries.people(filters), filters.page)
        context = {"filters": filters, "page": page, "roles": ROLES}
        context |= {"form": PersonForm() if password else form, "password": password, "name": name}
        return render(request, "people.html", context)


def _added(request: ConsoleRequest, form: PersonForm) -> str:
    given = form.cleaned_data
    actor = request.user.get_username()
    try:
        _, password = add_person(
            request.tenant.id, given["username"], given["role"], email=given["email"], actor=actor
        )
    except Conflict as error:
        form.add_error("username", error.message)
        return ""
    return password


@require_POST
@tenant_view(role=ADMIN)
def change_role(request: ConsoleRequest, member_id: UUID) -> HttpResponse:
    member, role = _member(request, member_id), request.POST.get("role", "")
    if role in Membership.Role.values:
        actor = request.user.get_username()
        said = {"name": member.user.username, "role": ROLES[role]}
        tried(
            request,
            lambda: set_role(request.tenant.id, member_id, role, actor=actor),
            _("%(name)s is %(role)s from now on.") % said,
            refused=_("Not changed"),
        )
    return redirect("people")


@require_POST
@tenant_view(role=ADMIN)
def remove(request: ConsoleRequest, member_id: UUID) -> HttpResponse:
    member = _member(request, member_id)
    actor = request.user.get_username()
    tried(
        request,
        lambda: remove_person(request.tenant.id, member_id, actor=actor),
        _("%(name)s has no place here any more.") % {"name": member.user.username},
        refused=_("Not removed"),
    )
    return redirect("overview" if member.user_id == request.user.id else "people")


def _member(request: ConsoleRequest, member_id: UUID) -> Membership:
    with tenant_scope(request.tenant.id):
        return queries.member_or_404(member_id)
