"""Another embedder: filled, compared, cut over, rolled back, space by space (E17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import OuterRef, Q, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.lists import FilterChoice, Filters, ListPage, load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_plain_space_or_404
from memoryhub.console.pages.golden import queries as golden_queries
from memoryhub.console.pages.replays.views import start_replay as begin_replay
from memoryhub.console.pages.spaces.views import find_spaces
from memoryhub.errors import Conflict, EngineError, MemoryHubError, NotFound
from memoryhub.golden import embedder_comparison
from memoryhub.golden.candidates import CandidateSetting
from memoryhub.inference.models import HubModels
from memoryhub.inference.selection import get_current_embedder, list_known_embedders
from memoryhub.pipeline.embeddings import cutover, reembed
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

State = EmbeddingMigration.State
MIGRATION_STATE_CHOICE = FilterChoice(
    "state",
    _("State"),
    (
        ("all", _("Any")),
        ("open", _("In progress")),
        ("other", _("Not using the current embedder")),
        *((value, label) for value, label in State.choices if value not in ("filling", "done")),
    ),
)


@dataclass(frozen=True, slots=True)
class SpaceMigration:
    """A space with its last migration, if it had one."""

    space: Space
    migration: EmbeddingMigration | None


def find_embedder_in_use(chosen: HubModels | None = None) -> tuple[str, str]:
    """(the name of the embedder in use, what keeps it from being made). `chosen`: what the operator
    set, where it was read already."""
    try:
        return get_current_embedder(chosen).name, ""
    except EngineError as error:
        return "", error.message


def list_embedder_options(used: str) -> list[str]:
    try:
        return list_known_embedders(used)
    except EngineError:
        return []


def load_space_migrations(filters: Filters, used: str) -> ListPage[Any]:
    """Those under way first. Three statements."""
    last = EmbeddingMigration.objects.filter(space=OuterRef("pk")).values("state")[:1]
    rows: Any = find_spaces(filters.q).exclude(embedding_model="").annotate(way=Subquery(last))
    rows = rows.filter(_build_migration_condition(filters["state"], used))
    found = load_page(rows.order_by("subject", "id"), filters.page)
    newest_last = EmbeddingMigration.objects.filter(space__in=found.rows).reverse()
    latest = {each.space_id: each for each in newest_last}
    return found.map(lambda space: SpaceMigration(space, latest.get(space.id)))


def _build_migration_condition(state: str, used: str) -> Q:
    if state == "all":
        return Q()
    if state == "open":
        return Q(way__in=EmbeddingMigration.OPEN_STATES)
    return ~Q(embedding_model=used) if state == "other" else Q(way=state)


def count_embedded_spaces(used: str) -> tuple[int, int]:
    """(spaces with vectors, those of them that are searched by the embedder in use)."""
    rows = Space.objects.exclude(embedding_model="")
    return rows.count(), rows.filter(embedding_model=used).count()


def load_migrations(space: Space, most: int = 10) -> list[EmbeddingMigration]:
    """Newest first."""
    return list(EmbeddingMigration.objects.filter(space=space)[:most])


def is_comparing(migration: EmbeddingMigration) -> bool:
    """Whether a worker is to compare the two, or does so now."""
    rows = Job.objects.filter(space_id=migration.space_id, step=Job.Step.REPLAY)
    waits = rows.filter(payload__compare=str(migration.id), state__in=Job.UNFINISHED_STATES)
    return bool(waits.exists())


def compute_pace(migration: EmbeddingMigration) -> dict[str, float | None]:
    """`rate`: memories a second of work; `seconds_left`: of work to come. None before any."""
    done, total = migration.done, max(migration.total, migration.done)
    rate = done / migration.seconds if done and migration.seconds else None
    left = (total - done) / rate if rate else None
    return {"done": done, "total": total, "rate": rate, "seconds_left": left}


MAX_SPACES_AT_ONCE = 200  # begun at once
# What each decision does, and what is said when it was done.
MIGRATION_DECISIONS: Mapping[str, tuple[Callable[..., object], str]] = {
    "pause": (
        cutover.pause_migration,
        gettext_noop("Paused. Searches keep using the old vectors."),
    ),
    "resume": (cutover.resume_migration, gettext_noop("It continues where it stopped.")),
    "cancel": (cutover.cancel_migration, gettext_noop("Cancelled: the new vectors were deleted.")),
    "cut-over": (
        cutover.cut_over_migration,
        gettext_noop("Searches will use the new vectors once the last one is ready."),
    ),
    "force": (
        cutover.force_cut_over,
        gettext_noop(
            "Searches now use the new vectors; memories without one are found by their words."
        ),
    ),
    "roll-back": (cutover.roll_back_migration, gettext_noop("Searches use the old vectors again.")),
    "drop": (
        cutover.drop_unused_vectors,
        gettext_noop("The unused vectors were deleted."),
    ),
    "compare": (
        embedder_comparison.plan_comparison,
        gettext_noop("Comparison started: test questions first."),
    ),
}


@page_at("embeddings/", "embeddings")
@tenant_page()
def embedding_list_page(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    used, trouble = find_embedder_in_use()
    filters = read_filters(request.GET, (MIGRATION_STATE_CHOICE,))
    page = load_space_migrations(filters, used)
    every, there = count_embedded_spaces(used)
    context = {
        "filters": filters,
        "page": page,
        "used": used,
        "trouble": trouble,
        "every": every,
        "there": there,
        "known": list_embedder_options(used),
        "going": any(w.migration and w.migration.state == State.FILLING for w in page),
    }
    template = "embeddings/_list.html" if request.htmx else "embeddings/list.html"
    return render(request, template, context)


@page_at("embeddings/<uuid:space_id>/", "embedding")
@tenant_page()
def embedding_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    space = get_plain_space_or_404(space_id)
    every = load_migrations(space)
    last = every[0] if every else None
    used, trouble = find_embedder_in_use()
    comparing = last is not None and is_comparing(last)
    state = last.state if last else ""
    filled = state in (State.FILLING, State.FILLED, State.PAUSED)  # both have vectors
    context: dict[str, Any] = {
        "space": space,
        "last": last,
        "before": every[1:],
        "stored": cutover.list_vector_storage(space),
        "used": used,
        "trouble": trouble,
        "known": [name for name in list_embedder_options(used) if name != space.embedding_model],
        "pace": compute_pace(last) if last else None,
        "missing": reembed.count_missing(space, last.new) if last and filled else 0,
        "comparing": comparing,
        "polls": comparing or state == State.FILLING,
        "open": state in EmbeddingMigration.OPEN_STATES,
        "golden": len(golden_queries.list_question_ids(space)),
        "now": timezone.now(),
    }
    if not request.htmx:
        return render(request, "embeddings/space.html", context)
    answer = render(request, "embeddings/_progress.html", context)
    if not context["polls"]:
        answer["HX-Refresh"] = "true"  # what can be decided has changed
    return answer


@action_at("embeddings/begin", "embeddings-begin")
@tenant_view(role=ADMIN)
def start_migrations(request: ConsoleRequest) -> HttpResponse:
    """In the spaces that the filters leave, of which there may be many."""
    with tenant_scope(request.tenant.id):
        rows = find_spaces(read_filters(request.POST).q).exclude(embedding_model="")
        spaces = list(
            rows.exclude(embedding_model=_read_target_embedder(request))[: MAX_SPACES_AT_ONCE + 1]
        )
    begun = 0
    for space in spaces[:MAX_SPACES_AT_ONCE]:
        try:
            _start_space_migration(request, space)
        except Conflict:
            continue  # it is there already, or on its way
        except MemoryHubError as error:
            messages.error(request, gettext("Not started: %(why)s.") % {"why": error.message})
            return redirect("embeddings")
        begun += 1
    _report_started_count(request, begun, more=len(spaces) > MAX_SPACES_AT_ONCE)
    return redirect("embeddings")


def _report_started_count(request: ConsoleRequest, begun: int, *, more: bool) -> None:
    if not begun:
        messages.warning(request, gettext("Nothing to start: every space is done or in progress."))
        return
    said = ngettext("Started in %(n)s space.", "Started in %(n)s spaces.", begun) % {"n": begun}
    if more:
        rest = gettext("There are more spaces: start again once these %(n)s are done.") % {
            "n": MAX_SPACES_AT_ONCE
        }
        said = f"{said} {rest}"
    messages.success(request, said)


def _read_target_embedder(request: ConsoleRequest) -> str:
    return request.POST.get("to", "").replace("\0", "").strip()[:80]


def _start_space_migration(request: ConsoleRequest, space: Space) -> EmbeddingMigration:
    flips = request.POST.get("flips") == "yes"
    return cutover.begin_migration(
        space, _read_target_embedder(request), request.actor, timezone.now(), flips=flips
    )


@action_at("embeddings/<uuid:space_id>/begin", "embedding-begin")
@tenant_view(role=ADMIN)
def start_migration(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        space = get_plain_space_or_404(space_id)
    run_and_report(request, lambda: _start_space_migration(request, space), gettext("Started."))
    return redirect("embedding", space_id=space.id)


@action_at("embeddings/<uuid:space_id>/decide", "embedding-decide")
@tenant_view(role=ADMIN)
def decide_migration(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """`decision`: one of DECISIONS about the space's last migration, or to try it on golden
    questions."""
    with tenant_scope(request.tenant.id):
        space = get_plain_space_or_404(space_id)
        rows = load_migrations(space, 1)
    chosen = request.POST.get("decision", "")
    if chosen == "try" and rows:
        back = reverse("embedding", args=[space.id])
        return begin_replay(request, CandidateSetting(embedder=rows[0].new), space, back=back)
    if chosen not in MIGRATION_DECISIONS:
        raise Http404
    work, said = MIGRATION_DECISIONS[chosen]

    def decided() -> object:
        if not rows:
            raise NotFound(gettext("there is no migration of this space"))
        return work(rows[0], timezone.now())

    run_and_report(request, decided, gettext(said))
    return redirect("embedding", space_id=space.id)
