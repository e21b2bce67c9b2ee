"""Ask a space a question, see stage by stage why it answers as it does, what another setting
would make of it, and how a program asks the same."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import page_at, tenant_view
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.search import api_calls, ranked_lists, trial
from memoryhub.dialogues.models import Session
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import PolicyLayers, load_layers
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.services import ALL_KINDS
from memoryhub.tenants.scope import tenant_scope


@page_at("spaces/<uuid:space_id>/search", "space-search")
@tenant_view()
def space_search_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """`?q=` is asked as the other fields say; `policy`, `other_channels` and `other_select` ask
    it a second time, beside it; each `beside` is a preset whose results are ranked beside them."""
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, timezone.now())
        layers = load_layers(request.tenant.id, space)
    wish = trial.TrialRequest.read(request.GET)
    columns, trouble = _ask_columns(request, space, layers, wish)
    ranked = ranked_lists.rank_side_by_side(columns) if wish.beside and columns else []
    with tenant_scope(request.tenant.id):
        shown = render_tab(
            request,
            space,
            "search",
            "search/trial.html",
            wish=wish,
            columns=columns,
            ranked=ranked,
            ranked_height=ranked_lists.compute_height(ranked),
            difference=None if ranked else trial.compare_columns(columns),
            trouble=trouble,
            presets=PRESETS.values(),
            most_beside=trial.MOST_BESIDE,
            channels=trial.CHANNELS,
            kinds=ALL_KINDS,
            selects=trial.SELECTS,
        )
    shown.status_code = 422 if trouble else 200
    return shown


def _ask_columns(
    request: ConsoleRequest, space: Any, layers: PolicyLayers, wish: trial.TrialRequest
) -> tuple[list[trial.AnswerColumn], str]:
    """(the columns, what is wrong with the question)."""
    if not wish.q:
        return [], ""
    now, by = timezone.now(), SearchCaller("console", request.actor)
    base = request.build_absolute_uri("/").rstrip("/")
    columns = []
    try:
        session_id = _find_session_id(space, wish.session)
        for setting in _list_column_settings(layers, wish):
            made = trial.ask_under_setting(space, setting, session_id, by, now)
            if setting.policy is None:  # no call names a preset
                body = setting.wish.build_body(space.subject, space.timezone)
                made.calls = api_calls.build_code_examples(base, wish.form, body)
            columns.append(made)
    except MemoryHubError as error:
        field = getattr(error, "field", None)
        return [], f"{field}: {error.message}" if field else error.message
    return columns, ""


def _list_column_settings(
    layers: PolicyLayers, wish: trial.TrialRequest
) -> list[trial.ColumnSetting]:
    own = trial.ColumnSetting(_("Current settings"), wish.without_comparison)
    if wish.beside:
        presets = [PRESETS[name] for name in wish.beside]
        return [own] + [
            trial.ColumnSetting(
                _(preset.title),
                wish.without_comparison,
                switch_form.compose_candidate(layers, preset.name),
            )
            for preset in presets
        ]
    if wish.other is None:
        return [own]
    policy = switch_form.compose_candidate(layers, wish.policy) if wish.policy else None
    return [own, trial.ColumnSetting(wish.other_title, wish.other, policy)]


def _find_session_id(space: Any, name: str) -> UUID | None:
    """Raises InvalidInput."""
    if not name:
        return None
    with tenant_scope(space.tenant_id):
        found = Session.objects.filter(space=space, external_id=name[:200]).first()
    if found is None:
        raise InvalidInput(_("there is no such session here"), field="session")
    return found.id
