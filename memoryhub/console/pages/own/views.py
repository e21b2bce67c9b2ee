"""The pages behind a person's link. What they do is said on the page that follows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memoryhub.console.frame.forms import read_time
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.pages.own import access, corrections, queries
from memoryhub.console.pages.own.access import PageVisitor, person_page, person_view
from memoryhub.console.pages.persona.queries import load_persona
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.exchange import exporter
from memoryhub.exchange.downloads import build_download
from memoryhub.pipeline import sealed_erasures
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants import person_links
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import pause_space, resume_space

CONFIRM_WORDS = gettext_noop("erase everything")
_ERASE_REASON = "asked for on their page"
# What an address may say was done.
DONE_MESSAGES = {
    "corrected": gettext_lazy(
        "Corrected. Your version stands: nothing said later changes it automatically."
    ),
    "withdrawn": gettext_lazy("Marked as never true."),
    "ended": gettext_lazy("Marked as ended."),
    "forgotten": gettext_lazy("Forgotten: it is no longer used."),
    "restored": gettext_lazy("It is used again."),
    "unthought": gettext_lazy(
        "Removed: it is no longer assumed about you, and won't be added again automatically."
    ),
    "rethought": gettext_lazy("The earlier assessment applies again."),
    "told": gettext_lazy("Remembered, in your words."),
    "paused": gettext_lazy("Paused. Nothing you say is kept until you resume."),
    "going": gettext_lazy("Resumed: what you say from now on may be remembered."),
    "unsealed": gettext_lazy("Restored: it is remembered as before."),
    "erased": gettext_lazy("Permanently erased, with the words it came from."),
}


@require_http_methods(["GET", "HEAD", "POST"])
def open_link_page(request: HttpRequest) -> HttpResponse:
    """Take the token out of the form, and lead to the page."""
    if request.method != "POST":
        return access.add_privacy_headers(render(request, "own/visit/open.html"))
    token = request.POST.get("token", "").strip().rpartition("#")[2]
    name = person_links.read_token(token)
    visit = person_links.count_link_visit(name, timezone.now()) if name else None
    if visit is None:
        return access.render_closed_page(request)
    answer = redirect("me")
    access.set_visit_cookie(answer, visit)
    return access.add_privacy_headers(answer)


@require_POST
def end_visit(request: HttpRequest) -> HttpResponse:
    answer = redirect("me-open")
    access.delete_visit_cookie(answer)
    return access.add_privacy_headers(answer)


def render_own_page(
    request: HttpRequest, person: PageVisitor, name: str, *, status: int = 200, **context: Any
) -> HttpResponse:
    """The page of this template in its frame. Call inside the tenant's scope."""
    frame = {
        "person": person,
        "space": person.space,
        "tab": name.rpartition("/")[2],
        "now": timezone.now(),
        "themselves": corrections.ACTOR,
        "done": DONE_MESSAGES.get(request.GET.get("done", ""), ""),
    }
    return render(request, f"own/{name}.html", frame | context, status=status)


@require_safe
@person_page
def own_memory_list_page(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    return _render_own_memories(request, person)


def _render_own_memories(request: HttpRequest, person: PageVisitor, **context: Any) -> HttpResponse:
    filters = read_filters(request.GET, (queries.OWN_SHOW_CHOICE,))
    now = timezone.now()
    page, groups = queries.load_own_facts(person.space, filters, now)
    sealed = sealed_erasures.list_sealed(person.space, now)
    hold = sealed_erasures.is_kept_by_hold(person.space, [each.receipt for each in sealed])
    context |= {"sealed": sealed, "hold": hold}
    return render_own_page(
        request, person, "memories", filters=filters, page=page, groups=groups, **context
    )


@require_POST
@person_view
def undo_own_wish(request: HttpRequest, person: PageVisitor, receipt_id: UUID) -> HttpResponse:
    """Bring back what a wish of theirs has hidden."""
    try:
        corrections.undo_wish(person.space, receipt_id, timezone.now())
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            return _render_own_memories(
                request, person, problem=_format_refusal(error), status=error.status
            )
    return _redirect_with_notice("me", "unsealed")


@require_POST
@person_view
def add_own_memory(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    """Something the person wants remembered, word by word."""
    words = request.POST.get("words", "")
    try:
        made = corrections.add_fact(person.space, words, timezone.now())
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            return _render_own_memories(
                request, person, problem=_format_refusal(error), words=words, status=error.status
            )
    return _redirect_with_notice("me-memory", "told", made)


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def own_memory_page(request: HttpRequest, person: PageVisitor, fact_id: UUID) -> HttpResponse:
    """One memory, and what can be done about it. Sent, it is done."""
    with tenant_scope(person.visit.tenant_id):
        found = queries.get_own_memory_or_404(person.space, fact_id)
        if request.method != "POST":
            return render_own_page(request, person, "memory", memory=found)
    try:
        done, now_is = _correct_from_form(request, person, fact_id)
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            context = {"memory": found, "problem": _format_refusal(error), "given": request.POST}
            return render_own_page(request, person, "memory", status=error.status, **context)
    return _redirect_with_notice("me-memory", done, now_is)


def _correct_from_form(
    request: HttpRequest, person: PageVisitor, fact_id: UUID
) -> tuple[str, UUID]:
    """(what was done, the memory that stands for it now). Raises MemoryHubError."""
    space, now = person.space, timezone.now()
    words = request.POST.get("words", "")
    match request.POST.get("action"):
        case "wrong":
            made = corrections.correct_or_retract_fact(space, fact_id, words, now)
            return "corrected" if words.strip() else "withdrawn", made
        case "over":
            given = request.POST.get("at", "")
            at = read_time(given, space) if given else None
            if given and at is None:
                raise InvalidInput(_("this date is not valid"), field="at")
            return "ended", corrections.end_fact(space, fact_id, words, at, now)
        case "forget":
            corrections.forget_memory(space, "fact", fact_id, now)
            return "forgotten", fact_id
        case "restore":
            corrections.restore_fact(space, fact_id, now)
            return "restored", fact_id
    raise InvalidInput(_("there is no such action"), field="action")


@require_safe
@person_page
def about_page(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    return _render_about(request, person)


def _render_about(request: HttpRequest, person: PageVisitor, **context: Any) -> HttpResponse:
    policy = load_effective_policy(person.space).policy
    found = load_persona(person.space, policy, SpaceMoment(timezone.now()))
    return render_own_page(
        request, person, "about", persona=found, groups=queries.list_shown_traits(found), **context
    )


@require_POST
@person_view
def correct_own_trait(request: HttpRequest, person: PageVisitor, key: str) -> HttpResponse:
    """What they say themselves about how they come across."""
    with tenant_scope(person.visit.tenant_id):
        queries.check_trait_or_404(person.space, key)
    try:
        if request.POST.get("action") == "back":
            corrections.undo_trait_correction(person.space, key, timezone.now())
            done = "rethought"
        else:
            level = request.POST.get("level", "")
            corrections.correct_trait(person.space, key, level, timezone.now())
            done = "corrected" if level else "unthought"
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            return _render_about(
                request, person, problem=_format_refusal(error), status=error.status
            )
    return _redirect_with_notice("me-about", done)


@require_safe
@person_page
def own_note_list_page(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    filters = read_filters(request.GET)
    return render_own_page(
        request,
        person,
        "notes",
        filters=filters,
        page=queries.load_own_notes(person.space, filters),
    )


@require_POST
@person_view
def forget_own_note(request: HttpRequest, person: PageVisitor, note_id: UUID) -> HttpResponse:
    with tenant_scope(person.visit.tenant_id):
        queries.get_own_note_or_404(person.space, note_id)
    corrections.forget_memory(person.space, "note", note_id, timezone.now())
    return _redirect_with_notice("me-notes", "forgotten")


@require_safe
@person_page
def own_data_page(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    return render_own_page(request, person, "data")


@require_POST
@person_view
def set_own_pause(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    if request.POST.get("paused") == "yes":
        pause_space(person.space, corrections.ACTOR, timezone.now())
        return _redirect_with_notice("me-data", "paused")
    resume_space(person.space)
    return _redirect_with_notice("me-data", "going")


@require_POST
@person_view
def export_own_data(request: HttpRequest, person: PageVisitor) -> HttpResponseBase:
    """Everything there is, as a file."""
    space, now = person.space, timezone.now()
    return build_download(
        space.subject, lambda out: exporter.export_space(space.tenant_id, space.id, out, now)
    )


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def own_erasure_page(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    """What erasing everything would take. Sent with the words that confirm it, it is done."""
    plan = erase_targets.plan_erasure(person.space, ErasureTarget("subject"))
    problem = ""
    if request.method == "POST":
        if request.POST.get("confirm", "").strip().lower() == _(CONFIRM_WORDS):
            return _erase_subject(request, person)
        said = _("Nothing was erased: type “%(words)s” to confirm.")
        problem = said % {"words": _(CONFIRM_WORDS)}
    with tenant_scope(person.visit.tenant_id):
        status = 422 if problem else 200
        context = {"plan": plan, "counts": queries.format_erasure_counts(plan.counts)}
        context |= {"confirm": _(CONFIRM_WORDS), "problem": problem}
        return render_own_page(request, person, "erasure/erase", status=status, **context)


def _erase_subject(request: HttpRequest, person: PageVisitor) -> HttpResponse:
    """The link went with everything else, so the receipt is shown at once, and only here."""
    receipt = erase_targets.execute_erasure(
        person.space,
        ErasureTarget("subject"),
        corrections.ACTOR,
        timezone.now(),
        reason=_ERASE_REASON,
    )
    counts = queries.format_erasure_counts(receipt.counts)
    context = {"receipt": receipt, "counts": counts, "hub": person.hub}
    answer = render(request, "own/erasure/receipt.html", context)
    access.delete_visit_cookie(answer)
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def memory_erasure_page(request: HttpRequest, person: PageVisitor, fact_id: UUID) -> HttpResponse:
    """What erasing one memory would take with it. Sent, it is done."""
    with tenant_scope(person.visit.tenant_id):
        found = queries.get_own_memory_or_404(person.space, fact_id)
    target = ErasureTarget("facts", (fact_id,), sources=True)
    if request.method == "POST":
        erase_targets.execute_erasure(
            person.space, target, corrections.ACTOR, timezone.now(), reason=_ERASE_REASON
        )
        return _redirect_with_notice("me", "erased")
    plan = erase_targets.plan_erasure(person.space, target)
    overtaken = erase_targets.list_overtaken_erasures(person.space, target, timezone.now())
    with tenant_scope(person.visit.tenant_id):
        counts = queries.format_erasure_counts(plan.counts)
        return render_own_page(
            request,
            person,
            "erasure/erase_memory",
            memory=found,
            plan=plan,
            counts=counts,
            overtaken=overtaken,
        )


def _redirect_with_notice(name: str, what: str, *args: UUID) -> HttpResponse:
    return redirect(f"{reverse(name, args=args)}?done={what}")


def _format_refusal(error: MemoryHubError) -> str:
    """A refusal as a sentence of its own."""
    return _("Nothing was changed: %(why)s.") % {"why": error.message}


urlpatterns = [
    path("open", open_link_page, name="me-open"),
    path("close", end_visit, name="me-close"),
    path("", own_memory_list_page, name="me"),
    path("tell", add_own_memory, name="me-tell"),
    path("wishes/<uuid:receipt_id>/undo", undo_own_wish, name="me-wish-undo"),
    path("memories/<uuid:fact_id>/", own_memory_page, name="me-memory"),
    path("memories/<uuid:fact_id>/erase", memory_erasure_page, name="me-memory-erase"),
    path("about/", about_page, name="me-about"),
    path("about/<slug:key>", correct_own_trait, name="me-trait"),
    path("notes/", own_note_list_page, name="me-notes"),
    path("notes/<uuid:note_id>/forget", forget_own_note, name="me-note-forget"),
    path("data/", own_data_page, name="me-data"),
    path("data/pause", set_own_pause, name="me-pause"),
    path("data/export", export_own_data, name="me-export"),
    path("data/erase", own_erasure_page, name="me-erase"),
]
