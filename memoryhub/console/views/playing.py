"""Ask a space a question, see stage by stage why it answers as it does, what another setting
would make of it, and how a program asks the same."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console import copying, playing, policies
from memoryhub.console.access import tenant_view
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.dialogues.models import Session
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import Layers, layers_of
from memoryhub.recall.asking import Asker
from memoryhub.recall.services import ALL_KINDS
from memoryhub.tenants.scope import tenant_scope


@tenant_view()
def search(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """`?q=` is asked as the other fields say; `policy`, `other_channels` and `other_select` ask
    it a second time, beside it."""
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
            difference=playing.compare(columns),
            trouble=trouble,
            presets=PRESETS.values(),
            channels=playing.CHANNELS,
            kinds=ALL_KINDS,
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
    base = request.build_absolute_uri("/").rstrip("/")
    columns = []
    try:
        session_id = _session(space, wish.session)
        for setting in _settings(layers, wish):
            made = playing.column(space, setting, session_id, by, now)
            if setting.policy is None:  # no call names a preset
                body = setting.wish.body(space.subject, space.timezone)
                made.calls = copying.calls(base, wish.form, body)
            columns.append(made)
    except MemoryHubError as error:
        field = getattr(error, "field", None)
        return [], f"{field}: {error.message}" if field else error.message
    return columns, ""


def _settings(layers: Layers, wish: playing.Wish) -> list[playing.Setting]:
    own = playing.Setting(_("As it is set"), wish.own)
    if wish.other is None:
        return [own]
    policy = policies.candidate(layers, wish.policy) if wish.policy else None
    return [own, playing.Setting(wish.other_title, wish.other, policy)]


def _session(space: Any, name: str) -> UUID | None:
    """Raises InvalidInput."""
    if not name:
        return None
    with tenant_scope(space.tenant_id):
        found = Session.objects.filter(space=space, external_id=name[:200]).first()
    if found is None:
        raise InvalidInput(_("there is no such session here"), field="session")
    return found.id
