"""Ask a space a question, see why it answers as it does, and what another preset would make of
it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone

from memoryhub.console import playing, policies
from memoryhub.console.access import tenant_view
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.errors import MemoryHubError
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Layers, layers_of
from memoryhub.recall.asking import Asker
from memoryhub.tenants.scope import tenant_scope


@tenant_view()
def search(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """`?q=` is asked as the other fields say; `?policy=` asks a preset beside it."""
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, timezone.now())
        layers = layers_of(request.tenant.id, space)
    wish = playing.Wish.read(request.GET)
    columns, trouble = _asked(request, space, layers, wish)
    with tenant_scope(request.tenant.id):
        shown = tab(
            request,
            space,
            "search",
            wish=wish,
            columns=columns,
            trouble=trouble,
            in_force=layers.policy,
            presets=PRESETS.values(),
            channels=playing.CHANNELS,
            selects=playing.SELECTS,
        )
    shown.status_code = 422 if trouble else 200
    return shown


def _asked(
    request: ConsoleRequest, space: Any, layers: Layers, wish: playing.Wish
) -> tuple[list[playing.Column], str]:
    """(the columns, what is wrong with the question)."""
    if not wish.q:
        return [], ""
    now, by = timezone.now(), Asker("console", request.user.get_username())
    settings: list[tuple[str, Policy | None]] = [("As it is set", None)]
    if wish.policy:
        settings.append((f"Preset {wish.policy}", policies.candidate(layers, wish.policy)))
    try:
        columns = [
            playing.column(space, wish, title, policy, by, now) for title, policy in settings
        ]
    except MemoryHubError as error:
        field = getattr(error, "field", None)
        return [], f"{field}: {error.message}" if field else error.message
    playing.compare(columns)
    return columns, ""
