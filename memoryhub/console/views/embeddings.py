"""Another embedder: filled, compared, cut over, rolled back, space by space (E17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import embeddings as queries
from memoryhub.console.queries import golden
from memoryhub.console.queries.spaces import matching
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.replays import begin as begin_replay
from memoryhub.errors import Conflict, MemoryHubError, NotFound
from memoryhub.golden import vectors
from memoryhub.golden.candidates import Candidate
from memoryhub.pipeline import migrating, reembedding
from memoryhub.pipeline.models import EmbeddingMigration
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope

ADMIN = Membership.Role.ADMIN
State = EmbeddingMigration.State
MOST_SPACES = 200  # begun at once
# What each decision does, and what is said when it was done.
DECISIONS: Mapping[str, tuple[Callable[..., object], str]] = {
    "pause": (migrating.pause, gettext_noop("Paused. Searches go on by the old vectors.")),
    "resume": (migrating.resume, gettext_noop("It goes on where it stopped.")),
    "cancel": (migrating.cancel, gettext_noop("Called off: the new vectors are gone.")),
    "cut-over": (
        migrating.cut_over,
        gettext_noop("The new vectors are searched from the last one on."),
    ),
    "force": (
        migrating.force,
        gettext_noop("Searched by the new vectors now; what has none, by its words."),
    ),
    "roll-back": (migrating.roll_back, gettext_noop("Searched by the old vectors again.")),
    "drop": (migrating.drop, gettext_noop("The vectors that are not searched are gone.")),
    "compare": (vectors.plan, gettext_noop("A worker compares them: golden questions first.")),
}


@tenant_page()
def embeddings(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    used, trouble = queries.in_use()
    filters = read_filters(request.GET, (queries.STATE,))
    page = queries.spaces(filters, used)
    every, there = queries.counts(used)
    context = {
        "filters": filters,
        "page": page,
        "used": used,
        "trouble": trouble,
        "every": every,
        "there": there,
        "known": queries.choices(),
        "going": any(w.migration and w.migration.state == State.FILLING for w in page),
    }
    template = "parts/embedding_list.html" if request.htmx else "embeddings.html"
    return render(request, template, context)


@tenant_page()
def of_space(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    space = queries.space_or_404(space_id)
    every = queries.migrations(space)
    last = every[0] if every else None
    used, trouble = queries.in_use()
    comparing = last is not None and queries.comparing(last)
    context: dict[str, Any] = {
        "space": space,
        "last": last,
        "before": every[1:],
        "stored": migrating.stored(space),
        "used": used,
        "trouble": trouble,
        "known": [name for name in queries.choices() if name != space.embedding_model],
        "pace": queries.pace(last) if last else None,
        "missing": reembedding.missing(space, last.new) if last and _both(last) else 0,
        "comparing": comparing,
        "polls": comparing or bool(last and last.state == State.FILLING),
        "open": bool(last and last.state in reembedding.OPEN),
        "golden": len(golden.standing_ids(space)),
        "now": timezone.now(),
    }
    if not request.htmx:
        return render(request, "embedding.html", context)
    answer = render(request, "parts/embedding_live.html", context)
    if not context["polls"]:
        answer["HX-Refresh"] = "true"  # what can be decided has changed
    return answer


def _both(row: EmbeddingMigration) -> bool:
    return row.state in (State.FILLING, State.FILLED, State.PAUSED)


@require_POST
@tenant_view(role=ADMIN)
def begin_all(request: ConsoleRequest) -> HttpResponse:
    """In the spaces that the filters leave, of which there may be many."""
    with tenant_scope(request.tenant.id):
        rows = matching(read_filters(request.POST).q).exclude(embedding_model="")
        spaces = list(rows.exclude(embedding_model=_to(request))[: MOST_SPACES + 1])
    begun = 0
    for space in spaces[:MOST_SPACES]:
        try:
            _begun(request, space)
        except Conflict:
            continue  # it is there already, or on its way
        except MemoryHubError as error:
            messages.error(request, _("Not begun: %(why)s.") % {"why": error.message})
            return redirect("embeddings")
        begun += 1
    _say_begun(request, begun, more=len(spaces) > MOST_SPACES)
    return redirect("embeddings")


def _say_begun(request: ConsoleRequest, begun: int, *, more: bool) -> None:
    if not begun:
        messages.warning(request, _("Nothing to begin: every space is there or on its way."))
        return
    said = ngettext("Begun in %(n)s space.", "Begun in %(n)s spaces.", begun) % {"n": begun}
    if more:
        rest = _("There are more: begin again once these %(n)s are done.") % {"n": MOST_SPACES}
        said = f"{said} {rest}"
    messages.success(request, said)


def _to(request: ConsoleRequest) -> str:
    return request.POST.get("to", "").replace("\0", "").strip()[:80]


def _begun(request: ConsoleRequest, space: Space) -> EmbeddingMigration:
    flips = request.POST.get("flips") == "yes"
    actor = request.user.get_username()
    return migrating.begin(space, _to(request), actor, timezone.now(), flips=flips)


@require_POST
@tenant_view(role=ADMIN)
def begin(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        space = queries.space_or_404(space_id)
    tried(request, lambda: _begun(request, space), _("Begun."))
    return redirect("embedding", space_id=space.id)


@require_POST
@tenant_view(role=ADMIN)
def decide(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """`decision`: one of DECISIONS about the space's last migration, or to try it on golden
    questions."""
    with tenant_scope(request.tenant.id):
        space = queries.space_or_404(space_id)
        rows = queries.migrations(space, 1)
    chosen = request.POST.get("decision", "")
    if chosen == "try" and rows:
        back = reverse("embedding", args=[space.id])
        return begin_replay(request, Candidate(embedder=rows[0].new), space, back=back)
    if chosen not in DECISIONS:
        raise Http404
    work, said = DECISIONS[chosen]

    def decided() -> object:
        if not rows:
            raise NotFound(_("there is no migration of this space"))
        return work(rows[0], timezone.now())

    tried(request, decided, _(said))
    return redirect("embedding", space_id=space.id)
