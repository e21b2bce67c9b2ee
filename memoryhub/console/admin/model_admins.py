"""Django's admin: a look behind the pages, within the tenant in use.

The middleware runs its requests in that tenant's scope, so row-level security decides what a
superuser sees as well. What services write can be read here and not changed: a change without
its event would have no cause (invariant I6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from memoryhub.console.frame.requests import Seat
from memoryhub.tenants import audit
from memoryhub.tenants.models import ApiKey, Membership, Tenant, TenantModel, User
from memoryhub.tenants.scope import get_current_tenant

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
else:  # generic in the stubs only
    Admin = admin.ModelAdmin
_LISTED_COLUMNS = ("space", "kind", "state", "status", "text", "content", "name", "created_at")
_HIDDEN_COLUMNS = {"embedding", "words", "window_words", "digest", "body"}


class ReadOnlyAdmin(Admin):
    """Rows as they are. Without a tenant there are none."""

    show_full_result_count = False
    list_per_page = 50

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
    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return get_current_tenant() is not None and _can_administer(request)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Roles are the tenant's to change; only a superuser may look for people to add."""

    fields = ("user", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["user"] if obj else []

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        obj.tenant_id = cast("Any", get_current_tenant())
        super().save_model(request, obj, form, change)
        action = audit.Action.PERSON_CHANGED if change else audit.Action.PERSON_ADDED
        _record_membership_change(request, obj, action, f"as {obj.role}")

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        _record_membership_change(request, obj, audit.Action.PERSON_REMOVED, f"was {obj.role}")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for each in queryset:
            self.delete_model(request, each)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return get_current_tenant() is not None and cast("User", request.user).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _can_administer(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _can_administer(request)


def _record_membership_change(
    request: HttpRequest, obj: Membership, action: audit.Action, detail: str
) -> None:
    actor = request.user.get_username()
    audit.record_audit_entry(obj.tenant_id, action, actor, obj.user.get_username(), detail)


def _can_administer(request: HttpRequest) -> bool:
    seat = cast("Seat | None", getattr(request, "seat", None))
    return seat is not None and seat.can_administer and request.user.is_staff


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # not generic at run time
    """People are the hub's, not a tenant's: others than superusers see those of their tenant."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        if cast("User", request.user).is_superuser:
            return rows
        return rows.filter(pk__in=Membership.objects.values("user"))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return cast("User", request.user).is_superuser

    has_add_permission = has_delete_permission = has_change_permission


@admin.register(ApiKey)
class KeyAdmin(ReadOnlyAdmin):
    list_filter = ("revoked_at",)


def _register_remaining_models() -> None:
    ours = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    for model in ours:
        if not admin.site.is_registered(model):
            admin.site.register(model, ReadOnlyAdmin)


_register_remaining_models()
admin.site.site_header = admin.site.site_title = "MemoryHub"
