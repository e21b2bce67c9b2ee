"""The secrets of agent backends."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.shown_once import keep_until_shown, take_shown_once
from memoryhub.errors import InvalidInput
from memoryhub.tenants.key_expiry import check_to_come, compute_day_end
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.services import create_key, find_space, revoke_key

_NEW_KEY = "new_api_key"


class ApiKeyForm(forms.Form):
    name = forms.CharField(
        max_length=120,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Which application will use it?"),
    )
    scopes = forms.MultipleChoiceField(
        choices=ApiKey.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[ApiKey.Scope.READ, ApiKey.Scope.WRITE],
        label=pgettext_lazy("what a key may do", "Permissions"),
    )
    subject = forms.CharField(
        max_length=200,
        required=False,
        label=gettext_lazy("Limit to space"),
        help_text=gettext_lazy("A subject, such as ana. Leave empty for all spaces."),
    )
    last_day = forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        label=gettext_lazy("Until"),
        help_text=gettext_lazy("The last day it works. Leave empty for no expiry."),
    )

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"].strip()
        if subject and find_space(subject) is None:
            raise forms.ValidationError(_("There is no space with this subject."))
        return subject

    def clean(self) -> dict[str, Any]:
        """With `space`, None for all, and `expires_at`, None for never."""
        found: dict[str, Any] = super().clean() or {}
        subject, day = found.get("subject", ""), found.get("last_day")
        found["space"] = find_space(subject) if subject else None
        found["expires_at"] = None
        if day is not None:
            try:
                found["expires_at"] = compute_day_end(day, found["space"])
                check_to_come(found["expires_at"], timezone.now())
            except InvalidInput as error:
                self.add_error("last_day", error.message)
        return found


@page_at("keys/", "keys")
@never_cache
@tenant_page(role=ADMIN)
def key_list_page(request: ConsoleRequest) -> HttpResponse:
    """A new key is shown on the page that follows, and never again: loaded anew, the page makes no
    other one."""
    form = ApiKeyForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        _key, made = create_key(
            request.tenant,
            given["name"],
            given["scopes"],
            space=given["space"],
            expires_at=given["expires_at"],
            actor=request.actor,
        )
        keep_until_shown(request, _NEW_KEY, made)
        return redirect("keys")
    context = {
        "form": form,
        "keys": list(ApiKey.objects.select_related("space")),
        "secret": take_shown_once(request, _NEW_KEY),
    }
    return render(request, "keys/list.html", context)


@action_at("keys/<uuid:key_id>/revoke", "key-revoke")
@tenant_page(role=ADMIN)
def revoke_api_key(request: ConsoleRequest, key_id: UUID) -> HttpResponse:
    key = get_object_or_404(ApiKey.objects.filter(id=key_id))
    revoke_key(key, timezone.now(), actor=request.actor)
    said = _("Revoked: %(name)s. Requests with it are now refused.")
    messages.success(request, said % {"name": key.name})
    return redirect("keys")
