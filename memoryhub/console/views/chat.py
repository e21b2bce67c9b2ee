"""A person talks as a subject, and watches what is recalled and remembered."""

from __future__ import annotations

from collections import deque
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console import chat_samples, chat_stream, chatting
from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries import spaces, work
from memoryhub.console.replying import model_of
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Membership, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

EDITOR = Membership.Role.EDITOR
_STREAM = "text/event-stream"


@tenant_page()
def choose(request: ConsoleRequest) -> HttpResponseBase:
    """Whom to be. A new subject's space is made on the spot."""
    if request.method == "POST":
        return _enter(request)
    filters = read_filters(request.GET)
    page = page_of(spaces.matching(filters.q), filters.page)
    shown = {"filters": filters, "page": page, "samples": chat_samples.SAMPLES}
    return render(request, "chat_choose.html", shown)


@tenant_page(role=EDITOR)
def _enter(request: ConsoleRequest) -> HttpResponse:
    try:
        space = ensure_space(request.tenant.id, request.POST.get("subject", ""))
    except InvalidInput as error:
        messages.error(request, _("%(error)s.") % {"error": error.message.capitalize()})
        return redirect("chat")
    return redirect("chat-with", space_id=space.id)


@require_POST
@tenant_view(role=EDITOR)
def load(request: ConsoleRequest) -> HttpResponse:
    """Load a sample conversation. Loaded again, nothing is added."""
    sample = chat_samples.named(request.POST.get("sample", ""))
    if sample is None:
        messages.error(request, _("There is no such conversation."))
        return redirect("chat")
    try:
        space = chat_samples.load(request.tenant.id, sample, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not loaded: %(why)s.") % {"why": error.message})
        return redirect("chat")
    return redirect("chat-with", space_id=space.id)


@tenant_page()
def talk(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = spaces.space_or_404(space_id, timezone.now())
    return _page(request, space, chatting.beside_of(request.GET))


def _page(
    request: ConsoleRequest,
    space: Space,
    beside: str,
    exchange: chatting.Exchange | None = None,
) -> HttpResponse:
    """Call inside the tenant's scope. `exchange`: what was just said, for who has no script."""
    now = timezone.now()
    turns = work.conversation(space, chatting.session_name(request.user.id, now))
    policy = policy_of(space).policy
    is_llm = request.tenant.engine == Tenant.Engine.LLM
    fresh = exchange.turn.id if exchange else None
    shown: dict[str, Any] = {
        "space": space,
        "turns": turns,
        "exchange": exchange,
        "earlier": [each for each in work.read_of(space, turns) if each[0].id != fresh],
        "beside": beside,
        "without": chatting.WITHOUT,
        "presets": PRESETS.values(),
        "model": model_of(policy) if is_llm else "",
        "acts": is_llm and policy.core.tools,
        "sample": chat_samples.of_subject(space.subject),
        "pending": work.pending(space),
        "most": settings.MAX_TEXT_BYTES,
    }
    return render(request, "chat.html", shown)


@require_POST
@tenant_view(role=EDITOR)
def say(request: ConsoleRequest, space_id: UUID) -> HttpResponseBase:
    """Outside a scope: a model is asked. The answer comes as events to a script that accepts
    them; without one, the page is shown with what came of it."""
    space = _space(request, space_id)
    wish, streams = chatting.Wish.read(request.POST), _STREAM in request.headers.get("Accept", "")
    try:
        exchange = chatting.begin(request, space, wish, timezone.now())
    except MemoryHubError as error:
        if streams:
            return _streaming([chat_stream.refused(request, error)])
        messages.error(request, _("Not sent: %(why)s.") % {"why": error.message})
        return redirect("chat-with", space_id=space.id)
    if streams:
        return _streaming(chat_stream.told(request, exchange))
    deque(exchange.events(), maxlen=0)
    with tenant_scope(request.tenant.id):
        return _page(request, space, wish.beside, exchange)


def _streaming(events: Any) -> StreamingHttpResponse:
    response = StreamingHttpResponse(events, content_type=_STREAM)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _space(request: ConsoleRequest, space_id: UUID) -> Space:
    with tenant_scope(request.tenant.id):
        space: Space | None = Space.objects.filter(id=space_id).first()
    if space is None:
        raise Http404
    return space


@tenant_view(role=EDITOR)
def keep(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponseBase:
    """Remember a message word by word."""
    space = _space(request, space_id)
    with tenant_scope(request.tenant.id):
        turn = work.said_or_404(space, turn_id)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        facts = chatting.keep_turn(space, turn, request.user.get_username(), timezone.now())
    except MemoryHubError as error:
        return _done(request, space, {"error": error})
    return _done(request, space, {"fact": facts[0]})


@tenant_view(role=EDITOR)
def forget(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponseBase:
    """Hold a fact no longer. It can be undone; erasing takes more."""
    space = _space(request, space_id)
    with tenant_scope(request.tenant.id):
        work.fact_or_404(space, fact_id)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        event = chatting.forget(space, [fact_id], request.user.get_username(), timezone.now())
    except MemoryHubError as error:
        return _done(request, space, {"error": error})
    return _done(request, space, {"event": event})


def _done(request: ConsoleRequest, space: Space, told: dict[str, Any]) -> HttpResponse:
    if request.htmx:
        return render(request, "parts/chat_done.html", {"space": space} | told)
    if error := told.get("error"):
        messages.error(request, _("Nothing was changed: %(why)s.") % {"why": error.message})
    else:
        messages.success(request, _("Done. It can be undone in the history."))
    return redirect("chat-with", space_id=space.id)


@tenant_page()
def decisions(request: ConsoleRequest, space_id: UUID, job_id: UUID) -> HttpResponse:
    """What became of a message; asked again and again until its job has ended."""
    job = work.job_or_404(job_id)
    if job.space_id != space_id:
        raise Http404
    ended = job.state == job.State.DONE
    told = work.effects_of(job) if ended else {}
    return render(request, "parts/decisions.html", {"space": job.space, "job": job} | told)


@tenant_page()
def reading(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """How much of what was said is still to be read; asked until nothing is."""
    space = spaces.space_or_404(space_id, timezone.now())
    return render(
        request, "parts/chat_reading.html", {"space": space, "pending": work.pending(space)}
    )
