"""The pages behind a person's link. What they do is said on the page that follows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memoryhub.console.listing import read_filters
from memoryhub.console.moments import Moment
from memoryhub.console.own import access, deeds, queries
from memoryhub.console.own.access import Person, person_page, person_view
from memoryhub.console.queries.personas import persona
from memoryhub.console.reading import read_time
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.exchange import exporting
from memoryhub.exchange.downloads import as_download
from memoryhub.pipeline import erasing
from memoryhub.pipeline.erasing import Target
from memoryhub.policies.services import policy_of
from memoryhub.tenants import person_links
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import go_on, pause

CONFIRM = gettext_noop("erase everything")
_WHY = "asked for on their page"
# What an address may say was done.
DONE = {
    "corrected": gettext_lazy(
        "Put right. Your word stands: nothing that is read later changes it by itself."
    ),
    "withdrawn": gettext_lazy("Taken back: it counts as never having been so."),
    "ended": gettext_lazy("It counts as over."),
    "forgotten": gettext_lazy("Forgotten: it is used no longer."),
    "restored": gettext_lazy("It counts again."),
    "unthought": gettext_lazy(
        "Taken back: it is not thought of you, and not written again by itself."
    ),
    "rethought": gettext_lazy("What was thought before counts again."),
    "told": gettext_lazy("Remembered, in your words."),
    "paused": gettext_lazy("Paused. Nothing you say is kept until you go on."),
    "going": gettext_lazy("Going on: what you say from now on may be remembered."),
    "erased": gettext_lazy("Erased for good, with the words it was read from."),
}


@require_http_methods(["GET", "HEAD", "POST"])
def open_page(request: HttpRequest) -> HttpResponse:
    """Take the token out of the form, and lead to the page."""
    if request.method != "POST":
        return access.private(render(request, "me/open.html"))
    token = request.POST.get("token", "").strip().rpartition("#")[2]
    name = person_links.read(token)
    visit = person_links.visit(name, timezone.now()) if name else None
    if visit is None:
        return access.closed(request)
    answer = redirect("me")
    access.remember(answer, visit)
    return access.private(answer)


@require_POST
def close(request: HttpRequest) -> HttpResponse:
    answer = redirect("me-open")
    access.leave(answer)
    return access.private(answer)


def shown(
    request: HttpRequest, person: Person, name: str, *, status: int = 200, **context: Any
) -> HttpResponse:
    """A page in its frame. Call inside the tenant's scope."""
    frame = {"person": person, "space": person.space, "tab": name, "now": timezone.now()}
    frame["themselves"] = deeds.ACTOR
    frame["done"] = DONE.get(request.GET.get("done", ""), "")
    return render(request, f"me/{name}.html", frame | context, status=status)


@require_safe
@person_page
def memories(request: HttpRequest, person: Person) -> HttpResponse:
    return _memories(request, person)


def _memories(request: HttpRequest, person: Person, **context: Any) -> HttpResponse:
    filters = read_filters(request.GET, (queries.SHOW,))
    page, groups = queries.facts(person.space, filters, timezone.now())
    return shown(request, person, "memories", filters=filters, page=page, groups=groups, **context)


@require_POST
@person_view
def tell(request: HttpRequest, person: Person) -> HttpResponse:
    """Something the person wants remembered, word by word."""
    words = request.POST.get("words", "")
    try:
        made = deeds.tell(person.space, words, timezone.now())
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            return _memories(
                request, person, problem=_said(error), words=words, status=error.status
            )
    return _done("me-memory", "told", made)


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def memory(request: HttpRequest, person: Person, fact_id: UUID) -> HttpResponse:
    """One memory, and what can be done about it. Sent, it is done."""
    with tenant_scope(person.visit.tenant_id):
        found = queries.memory_or_404(person.space, fact_id)
        if request.method != "POST":
            return shown(request, person, "memory", memory=found)
    try:
        done, now_is = _corrected(request, person, fact_id)
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            context = {"memory": found, "problem": _said(error), "given": request.POST}
            return shown(request, person, "memory", status=error.status, **context)
    return _done("me-memory", done, now_is)


def _corrected(request: HttpRequest, person: Person, fact_id: UUID) -> tuple[str, UUID]:
    """(what was done, the memory that stands for it now). Raises MemoryHubError."""
    space, now = person.space, timezone.now()
    words = request.POST.get("words", "")
    match request.POST.get("action"):
        case "wrong":
            made = deeds.not_right(space, fact_id, words, now)
            return "corrected" if words.strip() else "withdrawn", made
        case "over":
            given = request.POST.get("at", "")
            at = read_time(given, space) if given else None
            if given and at is None:
                raise InvalidInput(_("not a day that can be read"), field="at")
            return "ended", deeds.no_longer(space, fact_id, words, at, now)
        case "forget":
            deeds.forget(space, "fact", fact_id, now)
            return "forgotten", fact_id
        case "restore":
            deeds.bring_back(space, fact_id, now)
            return "restored", fact_id
    raise InvalidInput(_("there is no such action"), field="action")


@require_safe
@person_page
def about(request: HttpRequest, person: Person) -> HttpResponse:
    return _about(request, person)


def _about(request: HttpRequest, person: Person, **context: Any) -> HttpResponse:
    policy = policy_of(person.space).policy
    found = persona(person.space, policy, Moment(timezone.now()))
    return shown(request, person, "about", persona=found, groups=queries.traits(found), **context)


@require_POST
@person_view
def trait(request: HttpRequest, person: Person, key: str) -> HttpResponse:
    """What they say themselves about how they come across."""
    with tenant_scope(person.visit.tenant_id):
        queries.trait_or_404(person.space, key)
    try:
        done = _judged(request, person, key)
    except MemoryHubError as error:
        with tenant_scope(person.visit.tenant_id):
            return _about(request, person, problem=_said(error), status=error.status)
    return _done("me-about", done)


def _judged(request: HttpRequest, person: Person, key: str) -> str:
    """What was done. Raises MemoryHubError."""
    if request.POST.get("action") == "back":
        deeds.think_again(person.space, key, timezone.now())
        return "rethought"
    level = request.POST.get("level", "")
    deeds.judge_oneself(person.space, key, level, timezone.now())
    return "corrected" if level else "unthought"


@require_safe
@person_page
def notes(request: HttpRequest, person: Person) -> HttpResponse:
    filters = read_filters(request.GET)
    return shown(
        request, person, "notes", filters=filters, page=queries.notes(person.space, filters)
    )


@require_POST
@person_view
def forget_note(request: HttpRequest, person: Person, note_id: UUID) -> HttpResponse:
    with tenant_scope(person.visit.tenant_id):
        queries.note_or_404(person.space, note_id)
    deeds.forget(person.space, "note", note_id, timezone.now())
    return _done("me-notes", "forgotten")


@require_safe
@person_page
def data(request: HttpRequest, person: Person) -> HttpResponse:
    return shown(request, person, "data")


@require_POST
@person_view
def pausing(request: HttpRequest, person: Person) -> HttpResponse:
    if request.POST.get("paused") == "yes":
        pause(person.space, deeds.ACTOR, timezone.now())
        return _done("me-data", "paused")
    go_on(person.space)
    return _done("me-data", "going")


@require_POST
@person_view
def export(request: HttpRequest, person: Person) -> HttpResponseBase:
    """Everything there is, as a file."""
    space, now = person.space, timezone.now()
    return as_download(
        space.subject,
        lambda out: exporting.write_space(space.tenant_id, space.id, out, now),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def erase(request: HttpRequest, person: Person) -> HttpResponse:
    """What erasing everything would take. Sent with the words that confirm it, it is done."""
    plan = erasing.plan(person.space, Target("subject"))
    problem = ""
    if request.method == "POST":
        if request.POST.get("confirm", "").strip().lower() == _(CONFIRM):
            return _erased(request, person)
        problem = _("Nothing was erased: type “%(words)s” to confirm.") % {"words": _(CONFIRM)}
    with tenant_scope(person.visit.tenant_id):
        status = 422 if problem else 200
        context = {"plan": plan, "counts": queries.counted(plan.counts)}
        context |= {"confirm": _(CONFIRM), "problem": problem}
        return shown(request, person, "erase", status=status, **context)


def _erased(request: HttpRequest, person: Person) -> HttpResponse:
    """The link went with everything else, so the receipt is shown at once, and only here."""
    receipt = erasing.execute(
        person.space,
        Target("subject"),
        deeds.ACTOR,
        timezone.now(),
        reason="asked for on their page",
    )
    counts = queries.counted(receipt.counts)
    context = {"receipt": receipt, "counts": counts, "hub": person.hub}
    answer = render(request, "me/receipt.html", context)
    access.leave(answer)
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@person_view
def erase_memory(request: HttpRequest, person: Person, fact_id: UUID) -> HttpResponse:
    """What erasing one memory would take with it. Sent, it is done."""
    with tenant_scope(person.visit.tenant_id):
        found = queries.memory_or_404(person.space, fact_id)
    target = Target("facts", (fact_id,), sources=True)
    if request.method == "POST":
        erasing.execute(person.space, target, deeds.ACTOR, timezone.now(), reason=_WHY)
        return _done("me", "erased")
    plan = erasing.plan(person.space, target)
    with tenant_scope(person.visit.tenant_id):
        counts = queries.counted(plan.counts)
        return shown(request, person, "erase_memory", memory=found, plan=plan, counts=counts)


def _done(name: str, what: str, *args: UUID) -> HttpResponse:
    return redirect(f"{reverse(name, args=args)}?done={what}")


def _said(error: MemoryHubError) -> str:
    """A refusal as a sentence of its own."""
    return _("Nothing was changed: %(why)s.") % {"why": error.message}
