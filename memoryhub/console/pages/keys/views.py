"""The secrets of agent backends."""

from __future__ import annotations

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
from memoryhub.console.frame.space.tabs import find_space_of_subject
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.services import create_key, revoke_key


class ApiKeyForm(forms.Form):
    name = forms.CharField(
        max_length=120,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Which backend will use it?"),
    )
    scopes = forms.MultipleChoiceField(
        choices=ApiKey.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[ApiKey.Scope.READ, ApiKey.Scope.WRITE],
        label=pgettext_lazy("what a key may do", "May"),
    )
    subject = forms.CharField(
        max_length=200,
        required=False,
        label=gettext_lazy("Only for the space"),
        help_text=gettext_lazy("A subject, such as ana. Empty: all spaces."),
    )

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"].strip()
        if subject and find_space_of_subject(subject) is None:
            raise forms.ValidationError(_("There is no space with this subject."))
        return subject


@page_at("keys/", "keys")
@never_cache
@tenant_page(role=ADMIN)
def key_list_page(request: ConsoleRequest) -> HttpResponse:
    """A new key is shown in the answer that made it, and never again."""
    form = ApiKeyForm(request.POST or None)
    secret = ""
    if form.is_valid():
        given = form.cleaned_data
        space = find_space_of_subject(given["subject"])
        _key, secret = create_key(
            request.tenant, given["name"], given["scopes"], space=space, actor=request.actor
        )
    context = {
        "form": ApiKeyForm() if secret else form,
        "keys": list(ApiKey.objects.select_related("space")),
        "secret": secret,
    }
    return render(request, "keys/list.html", context)


@action_at("keys/<uuid:key_id>/revoke", "key-revoke")
@tenant_page(role=ADMIN)
def revoke_api_key(request: ConsoleRequest, key_id: UUID) -> HttpResponse:
    key = get_object_or_404(ApiKey.objects.filter(id=key_id))
    revoke_key(key, timezone.now(), actor=request.actor)
    said = _("Revoked: %(name)s. Requests with it are refused from now on.")
    messages.success(request, said % {"name": key.name})
    return redirect("keys")
