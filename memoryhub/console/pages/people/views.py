"""Who may sign in for the tenant, and as what."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_view
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.shown_once import keep_until_shown, take_shown_once
from memoryhub.console.frame.text.wording import ROLE_WORDS
from memoryhub.errors import Conflict
from memoryhub.tenants import services
from memoryhub.tenants.models import Membership
from memoryhub.tenants.people import add_person, remove_person, set_member_role
from memoryhub.tenants.scope import hub_scope, tenant_scope
from memoryhub.tenants.sign_in.accounts import sign_member_out
from memoryhub.tenants.sign_in.second_factor import list_holders
from memoryhub.tenants.sign_in.sessions import SECOND_FACTOR_KEY

_NEW_PERSON = "new_person"
MEMBER_ROLE_CHOICE = FilterChoice(
    "role", gettext_lazy("Role"), (("all", gettext_lazy("any")), *Membership.Role.choices)
)


def list_members(filters: Filters) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.select_related("user").filter(
        build_text_condition(filters.q, "user__username", "user__email"),
        **filters.chosen_values("role"),
    )
    return rows.order_by("user__username", "id")


class PersonForm(forms.Form):
    username = forms.CharField(
        max_length=150, label=gettext_lazy("Username"), validators=[ASCIIUsernameValidator()]
    )
    email = forms.EmailField(max_length=254, required=False, label=gettext_lazy("Email"))
    role = forms.ChoiceField(choices=Membership.Role.choices, label=gettext_lazy("Role"))


@page_at("people/", "people")
@never_cache
@tenant_view(role=ADMIN)
def person_list_page(request: ConsoleRequest) -> HttpResponse:
    """Sent, a new person is let in, whose password is on the page that follows and never again."""
    form = PersonForm(request.POST or None)
    if form.is_valid() and _add_person_from_form(request, form):
        return redirect("people")
    name, _end, password = take_shown_once(request, _NEW_PERSON).partition("\0")
    filters = read_filters(request.GET, (MEMBER_ROLE_CHOICE,))
    with tenant_scope(request.tenant.id):
        page = load_page(list_members(filters), filters.page)
        with hub_scope():
            holders = list_holders([member.user_id for member in page or ()])
        context = {"filters": filters, "page": page, "roles": ROLE_WORDS, "holders": holders}
        context |= {"form": form, "password": password, "name": name}
        return render(request, "people/list.html", context)


def _add_person_from_form(request: ConsoleRequest, form: PersonForm) -> bool:
    given = form.cleaned_data
    try:
        _, password = add_person(
            request.tenant.id,
            given["username"],
            given["role"],
            email=given["email"],
            actor=request.actor,
        )
    except Conflict as error:
        form.add_error("username", error.message)
        return False
    keep_until_shown(request, _NEW_PERSON, f"{given['username']}\0{password}")
    return True


@action_at("people/<uuid:member_id>/role", "person-role")
@tenant_view(role=ADMIN)
def change_member_role(request: ConsoleRequest, member_id: UUID) -> HttpResponse:
    member, role = _get_member(request, member_id), request.POST.get("role", "")
    if role in Membership.Role.values:
        said = {"name": member.user.username, "role": ROLE_WORDS[role]}
        run_and_report(
            request,
            lambda: set_member_role(request.tenant.id, member_id, role, actor=request.actor),
            _("%(name)s is now %(role)s.") % said,
            refused=_("Not changed"),
        )
    return redirect("people")


@action_at("people/second-factor", "people-second-factor")
@tenant_view(role=ADMIN)
def require_second_factor(request: ConsoleRequest) -> HttpResponse:
    """Of everybody, by an admin who has signed in with one: nobody shuts themselves out."""
    required = request.POST.get("required") == "on"
    if required and not request.session.get(SECOND_FACTOR_KEY):
        messages.error(request, _("First sign in with a second factor yourself."))
        return redirect("people")
    services.require_second_factor(request.tenant.id, required, actor=request.actor)
    messages.success(request, _("Changed."))
    return redirect("people")


@action_at("people/<uuid:member_id>/sign-out", "person-sign-out")
@tenant_view(role=ADMIN)
def sign_out_member(request: ConsoleRequest, member_id: UUID) -> HttpResponse:
    member = _get_member(request, member_id)
    run_and_report(
        request,
        lambda: sign_member_out(request.tenant.id, member_id, actor=request.actor),
        _("%(name)s has been signed out everywhere.") % {"name": member.user.username},
    )
    return redirect("people")


@action_at("people/<uuid:member_id>/remove", "person-remove")
@tenant_view(role=ADMIN)
def remove_member(request: ConsoleRequest, member_id: UUID) -> HttpResponse:
    member = _get_member(request, member_id)
    run_and_report(
        request,
        lambda: remove_person(request.tenant.id, member_id, actor=request.actor),
        _("%(name)s is no longer a member.") % {"name": member.user.username},
        refused=_("Not removed"),
    )
    return redirect("overview" if member.user_id == request.user.id else "people")


def _get_member(request: ConsoleRequest, member_id: UUID) -> Membership:
    with tenant_scope(request.tenant.id):
        rows = Membership.objects.filter(id=member_id)
        return get_object_or_404(rows.select_related("user"))
