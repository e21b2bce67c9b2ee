"""What every table of the admin shares: who sees it, its list, its rows' pages, and their actions.

The middleware runs reading in the scope of the tenant in use, so row-level security decides what
an operator of the hub sees as well. What services write can be read here and not changed: a change
without its event would have no cause (invariant I6). Actions go through those services.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin import AdminSite
from django.contrib.admin.views.main import ChangeList
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memoryhub.console.admin.actions import answer_action, list_actions
from memoryhub.console.admin.columns import Column, ColumnOf, badge, plain, when, words
from memoryhub.console.admin.object_page import build_row_page
from memoryhub.console.admin.row_names import name_row
from memoryhub.console.admin.warmth import prepare_rows
from memoryhub.console.admin_site import administers
from memoryhub.console.frame.forms import read_id
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.tenants.models import Space

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
else:  # generic in the stubs only
    Admin = admin.ModelAdmin
_HIDDEN_COLUMNS = {"embedding", "words", "window_words", "digest", "body", "name_key", "device"}
_HIDDEN_COLUMNS |= {"sealed"}
_TEXT_COLUMNS = ("text", "content", "summary", "title", "name", "question", "query", "key", "label")
_STATE_COLUMNS = ("kind", "state", "status", "role", "tier")
_TIME_COLUMNS = ("created_at", "at", "asked_at", "updated_at", "occurred_at", "added_at")
MAX_SPACES = 50  # offered by the filter; the search finds all


class SpaceFilter(admin.SimpleListFilter):
    """The liveliest spaces, and the one that is chosen."""

    title = _("space")
    parameter_name = "space"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        rows = Space.objects.order_by("-last_activity_at", "subject")
        offered = list(rows[:MAX_SPACES])
        chosen = read_id(request.GET.get(self.parameter_name, ""))
        if chosen and chosen not in {space.id for space in offered}:
            offered += rows.filter(id=chosen)
        return [(str(space.id), str(space)) for space in offered]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = read_id(self.value() or "")
        return queryset.filter(space=chosen) if chosen else queryset


class HeldFilter(admin.SimpleListFilter):
    """What the hub holds, what it holds no more, or both."""

    title = _("current")
    parameter_name = "held"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("current")), ("no", _("removed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = {"yes": True, "no": False}.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(retired_at__isnull=wanted)


class RowList(ChangeList):
    """A page of rows with what its columns need, in as many statements whatever its length."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        prepare_rows(rows)
        self.result_list = rows
        self.row_actions = list_actions(self.model)


class HubAdmin(Admin):
    """Rows of the tenant in use, for its admins. Without a tenant there are none.

    `columns`: of the list, the first leads to the row. `related`: tables whose rows are shown on a
    row's page, with the columns there that name it.
    """

    columns: Sequence[ColumnOf] = ()
    related: Sequence[tuple[type[Model], *tuple[str, ...]]] = ()
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 0
    actions = None

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        chosen = self.columns or build_usual_columns(model)
        self.bound_columns: list[Column] = [bind(model) for bind in chosen]

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
        return list(self._list_hidden_columns())

    def _list_hidden_columns(self) -> set[str]:
        """Those of no use to a person, and those that are not theirs to see."""
        names = {field.name for field in self.model._meta.fields}
        shown = set(self.fields or names)
        return (names & _HIDDEN_COLUMNS) | (names - shown)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With what foreign keys name: each is shown by its words."""
        rows: QuerySet[Any] = super().get_queryset(request)
        keys = [f.name for f in self.model._meta.fields if isinstance(f, ForeignKey)]
        return rows.select_related(*(name for name in keys if name != "tenant"))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RowList

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return list(self.bound_columns)

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        names = {field.name for field in self.model._meta.fields}
        first: list[Any] = [SpaceFilter] if "space" in names else []
        held = [HeldFilter] if "retired_at" in names else []
        return [*first, *(self.list_filter or _list_usual_filters(self.model)), *held]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        names = {field.name: field for field in self.model._meta.fields}
        texts = [n for n in _TEXT_COLUMNS if n in names and not names[n].is_relation]
        own = self.search_fields or texts
        return [*own, *(["space__subject", "space__name"] if "space" in names else ())]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Sent, it is an action on the rows chosen."""
        address = self._get_list_address()
        if request.method == "POST":
            return answer_action(cast("ConsoleRequest", request), self.model, address)
        told = {"row_actions": list_actions(self.model), "list_address": address}
        return super().changelist_view(request, told | (extra_context or {}))

    def _get_list_address(self) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """What became of a row is on its page; Django's own log stays empty."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return redirect(f"{reverse(name, args=[object_id])}#history")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        if row is not None:
            prepare_rows([row])
            hidden = self._list_hidden_columns()
            page = build_row_page(request, row, self.bound_columns, self.list_related(), hidden)
            context.update(page, list_address=self._get_list_address())
        return super().render_change_form(request, context, *args, **kwargs)

    def list_related(self) -> list[tuple[HubAdmin, Sequence[str]]]:
        registry = self.admin_site._registry
        return [(cast("HubAdmin", registry[model]), columns) for model, *columns in self.related]


def build_usual_columns(model: type[Model]) -> list[ColumnOf]:
    """Of a table nobody chose columns for: what it says, its states, its space, its time."""
    names = {field.name: field for field in model._meta.fields}
    said = next((name for name in _TEXT_COLUMNS if name in names), "")
    states = [name for name in _STATE_COLUMNS if name in names]
    return [
        words(said) if said else lambda model: _show_name,
        *(badge(name) if names[name].choices else plain(name) for name in states),
        *([plain("space")] if "space" in names else ()),
        *[when(name) for name in _TIME_COLUMNS if name in names][:1],
    ]


def _list_usual_filters(model: type[Model]) -> list[str]:
    names = {field.name: field for field in model._meta.fields}
    told = [n for n in _STATE_COLUMNS if n in names and names[n].choices]
    return told + [name for name in _TIME_COLUMNS if name in names][:1]


@admin.display(description=_("row"))
def _show_name(row: Any) -> str:
    return name_row(row)
