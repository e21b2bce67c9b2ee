"""Django's admin: a look behind the pages, within the tenant in use.

The middleware runs its requests in that tenant's scope, so row-level security decides what a
an operator of the hub sees as well. What services write can be read here and not changed: a change
without its event would have no cause (invariant I6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from memoryhub.console.admin_site import administers
from memoryhub.tenants.models import AccountEvent, ApiKey, Membership, Tenant, TenantModel, User

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
else:  # generic in the stubs only
    Admin = admin.ModelAdmin
_LISTED_COLUMNS = ("space", "kind", "state", "status", "text", "content", "name", "created_at")
_HIDDEN_COLUMNS = {"embedding", "words", "window_words", "digest", "body"}


class ReadOnlyAdmin(Admin):
    """Rows of the tenant in use, for its admins. Without a tenant there are none."""

    show_full_result_count = False
    list_per_page = 50

    def has_module_permission(self, request: HttpRequest) -> bool:
        return administers(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return administers(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [f.name for f in self.model._meta.fields if f.name in _HIDDEN_COLUMNS]

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        names = {field.name for field in self.model._meta.fields}
        return ["__str__", *(name for name in _LISTED_COLUMNS if name in names)]

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        return [f.name for f in self.model._meta.fields if f.name == "space"]


@admin.register(Tenant)
class TenantAdmin(ReadOnlyAdmin):
    """What a tenant costs the hub is its operators' to decide: others change its name elsewhere."""

    fields = readonly_fields = ("name", "slug", "engine", "created_at")


@admin.register(User)
class PersonAdmin(ReadOnlyAdmin):
    """The tenant's people. Accounts are the hub's: `manage.py account` changes them."""

    fields = ("username", "email", "last_login", "date_joined")
    list_display = ("username", "email", "last_login")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.filter(pk__in=Membership.objects.values("user"))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return list(self.list_display)


@admin.register(AccountEvent)
class AccountEventAdmin(ReadOnlyAdmin):
    """Sign-ins and the like of the tenant's people."""

    list_filter = ("kind",)
    search_fields = ("name", "address")
    exclude = ("name_key", "device")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccountEvent]:
        rows: QuerySet[AccountEvent] = super().get_queryset(request)
        return rows.filter(account_id__in=Membership.objects.values("user"))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return ["kind", "name", "actor", "address", "at"]

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return list(self.exclude)


@admin.register(ApiKey)
class KeyAdmin(ReadOnlyAdmin):
    list_filter = ("revoked_at",)


def _register_remaining_models() -> None:
    ours = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    for model in ours:
        if not admin.site.is_registered(model):
            admin.site.register(model, ReadOnlyAdmin)


_register_remaining_models()
