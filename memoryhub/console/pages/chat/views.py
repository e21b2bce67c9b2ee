"""A person talks as a subject, and watches what is recalled and remembered."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt, read_ids
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_plain_space_or_404, get_space_or_404
from memoryhub.console.pages.chat import exchanges, samples, stream
from memoryhub.console.pages.chat.plain_replies import cite_fact, cite_note, cite_turn
from memoryhub.console.pages.chat.reply import select_chat_model
from memoryhub.console.pages.facts.views import get_fact_or_404
from memoryhub.console.pages.jobs.views import get_job_or_404
from memoryhub.console.pages.spaces.views import find_spaces
from memoryhub.dialogues.models import IS_INNER, Session, Turn
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.inference import usage
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.sealed_erasures import is_kept_by_hold
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.render.citations import Citation
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Fact, Note, Proposal, Receipt
from personas.models import BlockVersion

MAX_CONVERSATION_TURNS = 100
# Of a conversation, those whose reading is shown.
MAX_EXCHANGES = 5
_ERASED_WITHIN = timedelta(minutes=1)


def load_conversation(space: Space, name: str) -> list[Turn]:
    """The last turns of the named session, oldest first."""
    session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        return []
    said = Turn.objects.filter(session=session).exclude(IS_INNER).order_by("-seq")
    return list(reversed(said[:MAX_CONVERSATION_TURNS]))


def load_cited_memories(space: Space, turns: Sequence[Turn]) -> list[tuple[Turn, list[Citation]]]:
    """The turns, each with the facts, notes and messages that it named as what it rests on. At most
    three statements."""
    named = {turn.id: _read_cited_ids(turn) for turn in turns}
    wanted = {each for ids in named.values() for each in ids}
    known: dict[UUID, Citation] = {}
    if wanted:
        of_these = {"space": space, "id__in": wanted}
        known |= {each.id: cite_fact(each) for each in Fact.objects.filter(**of_these)}
        notes = Note.objects.filter(**of_these, retired_at=None)
        known |= {each.id: cite_note(each) for each in notes}
        said = Turn.objects.filter(**of_these).exclude(state=Turn.State.REDACTED)
        known |= {each.id: cite_turn(each) for each in said}
    return [(turn, [known[at] for at in named[turn.id] if at in known]) for turn in turns]


def _read_cited_ids(turn: Turn) -> list[UUID]:
    """Clients write metadata as they like, into a session of the chat too."""
    cited = turn.metadata.get("cites")
    return read_ids(map(str, cited)) if isinstance(cited, list) else []


def get_said_turn_or_404(space: Space, turn_id: UUID) -> Turn:
    """A turn that a person said in a chat, with its session."""
    return get_object_or_404(
        Turn.objects.filter(space=space, id=turn_id, role=Turn.Role.USER)
        .exclude(state=Turn.State.REDACTED)
        .select_related("session")
    )


def count_pending_turns(space: Space) -> int:
    """How many turns wait to be read."""
    count: int = Turn.objects.filter(space=space, state=Turn.State.PENDING).count()
    return count


def load_reading_jobs(
    space: Space, turns: Sequence[Turn]
) -> list[tuple[Turn, Job | None, list[Receipt]]]:
    """The latest of these turns that a person said, newest first, each with the job that reads
    it, and the receipts of what that erased. At most two statements."""
    said = [turn for turn in reversed(turns) if turn.role == Turn.Role.USER][:MAX_EXCHANGES]
    if not said:
        return []
    jobs = list(Job.objects.filter(space=space, step=Job.Step.DERIVE, last_seq__gte=said[-1].seq))
    found = [
        (turn, next((job for job in jobs if job.first_seq <= turn.seq <= job.last_seq), None))
        for turn in said
    ]
    receipts = load_receipts(job for _, job in found if job)
    return [(turn, job, receipts.get(job.id, []) if job else []) for turn, job in found]


def load_receipts(jobs: Iterable[Job]) -> dict[UUID, list[Receipt]]:
    """By job, of what it erased at once, as it was asked to. One statement, where there is any."""
    named = {job.id: (job.result or {}).get("receipts", []) for job in jobs}
    wanted = [receipt for ids in named.values() for receipt in ids]
    rows = {str(row.id): row for row in Receipt.objects.filter(id__in=wanted)} if wanted else {}
    return {job: [rows[name] for name in ids if name in rows] for job, ids in named.items()}


def is_erasing(job: Job, now: datetime) -> bool:
    """Whether a wish to forget that it read is carried out at this moment: what is clear is
    erased right after the job, whose decisions then say so. Three statements at most."""
    if job.finished_at is None or job.finished_at < now - _ERASED_WITHIN:
        return False
    if not job.result:
        # What an erasure has just cleared: where it took a message along, its receipt is named next
        said = Turn.objects.filter(space=job.space_id, seq__range=(job.first_seq, job.last_seq))
        return said.filter(state=Turn.State.REDACTED).exists()
    if not any(each["op"] == "forget" for each in job.result.get("decisions", [])):
        return False
    clear = Proposal.objects.filter(space=job.space_id, kind="erase", payload__auto=True)
    # A wish is closed before what it means is erased.
    under_way = Q(state=Proposal.State.ACCEPTED, decided_at__gte=now - _ERASED_WITHIN)
    return clear.filter(Q(state=Proposal.State.OPEN) | under_way).exists()


def load_job_effects(job: Job) -> dict[str, Any]:
    """What reading took, the blocks written while it was done, and the receipts of what it erased
    at once. At most three statements."""
    if job.started_at is None or job.finished_at is None:
        return {}
    written = BlockVersion.objects.filter(
        space=job.space, created_at__gte=job.started_at, created_at__lte=job.finished_at
    )
    took = job.finished_at - job.started_at
    receipts = load_receipts([job])[job.id]
    return {
        "receipts": receipts,
        "hold": is_kept_by_hold(job.space, receipts),
        "blocks": list(written.select_related("block")[:MAX_EXCHANGES]),
        "took": took.total_seconds() * 1000,
        "asked": usage.sum_usage(ModelCall.objects.filter(job_id=job.id)),
    }


_EVENT_STREAM = "text/event-stream"


@page_at("chat/", "chat")
@tenant_page()
def chat_start_page(request: ConsoleRequest) -> HttpResponseBase:
    """Whom to be. A new subject's space is made on the spot."""
    if request.method == "POST":
        return _open_chat_space(request)
    filters = read_filters(request.GET)
    page = load_page(find_spaces(filters.q), filters.page)
    shown = {"filters": filters, "page": page, "samples": samples.SAMPLES}
    return render(request, "chat/choose.html", shown)


@tenant_page(role=EDITOR)
def _open_chat_space(request: ConsoleRequest) -> HttpResponse:
    try:
        space = ensure_space(request.tenant.id, request.POST.get("subject", ""))
    except InvalidInput as error:
        messages.error(request, _("%(error)s.") % {"error": error.message.capitalize()})
        return redirect("chat")
    return redirect("chat-with", space_id=space.id)


@action_at("chat/load", "chat-load")
@tenant_view(role=EDITOR)
def load_sample_conversation(request: ConsoleRequest) -> HttpResponse:
    """Load a sample conversation. Loaded again, nothing is added."""
    sample = samples.find_sample(request.POST.get("sample", ""))
    if sample is None:
        messages.error(request, _("There is no such conversation."))
        return redirect("chat")
    now = timezone.now()
    space = attempt(
        request,
        lambda: samples.ingest_sample(request.tenant.id, sample, now),
        _("Not loaded: %(why)s."),
    )
    return redirect("chat-with", space_id=space.id) if space else redirect("chat")


@page_at("chat/<uuid:space_id>/", "chat-with")
@tenant_page()
def chat_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    return _render_chat(request, space, exchanges.read_beside(request.GET))


def _render_chat(
    request: ConsoleRequest,
    space: Space,
    beside: str,
    exchange: exchanges.MessageExchange | None = None,
) -> HttpResponse:
    """Call inside the tenant's scope. `exchange`: what was just said, for who has no script."""
    now = timezone.now()
    turns = load_conversation(space, exchanges.build_session_name(request.user.id, now))
    policy = load_effective_policy(space).policy
    is_llm = request.tenant.engine == Tenant.Engine.LLM
    fresh = exchange.turn.id if exchange else None
    shown: dict[str, Any] = {
        "space": space,
        "turns": load_cited_memories(space, turns),
        "exchange": exchange,
        "earlier": [each for each in load_reading_jobs(space, turns) if each[0].id != fresh],
        "beside": beside,
        "without": exchanges.WITHOUT_MEMORY,
        "presets": PRESETS.values(),
        "model": select_chat_model(request.tenant, policy) if is_llm else "",
        "acts": is_llm and policy.core.tools,
        "hold": policy.erase.hold,
        "sample": samples.find_sample_of_subject(space.subject),
        "pending": count_pending_turns(space),
        "most": settings.MAX_TEXT_BYTES,
    }
    return render(request, "chat/conversation.html", shown)


@action_at("chat/<uuid:space_id>/say", "chat-say")
@tenant_view(role=EDITOR)
def send_message(request: ConsoleRequest, space_id: UUID) -> HttpResponseBase:
    """Outside a scope: a model is asked. The answer comes as events to a script that accepts
    them; without one, the page is shown with what came of it."""
    space = _get_chat_space(request, space_id)
    wish = exchanges.ChatInput.read(request.POST)
    streams = _EVENT_STREAM in request.headers.get("Accept", "")
    try:
        exchange = exchanges.start_exchange(request, space, wish, timezone.now())
    except MemoryHubError as error:
        if streams:
            return _build_event_response([stream.render_refusal(request, error)])
        messages.error(request, _("Not sent: %(why)s.") % {"why": error.message})
        return redirect("chat-with", space_id=space.id)
    if streams:
        return _build_event_response(stream.stream_exchange(request, exchange))
    deque(exchange.stream_events(), maxlen=0)
    with tenant_scope(request.tenant.id):
        return _render_chat(request, space, wish.beside, exchange)


def _build_event_response(events: Any) -> StreamingHttpResponse:
    response = StreamingHttpResponse(events, content_type=_EVENT_STREAM)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _get_chat_space(request: ConsoleRequest, space_id: UUID) -> Space:
    with tenant_scope(request.tenant.id):
        return get_plain_space_or_404(space_id)


@page_at("chat/<uuid:space_id>/turns/<uuid:turn_id>/keep", "chat-keep")
@tenant_view(role=EDITOR)
def keep_message(request: ConsoleRequest, space_id: UUID, turn_id: UUID) -> HttpResponseBase:
    """Remember a message word by word."""
    space = _get_chat_space(request, space_id)
    with tenant_scope(request.tenant.id):
        turn = get_said_turn_or_404(space, turn_id)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        facts = exchanges.keep_turn(space, turn, request.actor, timezone.now())
    except MemoryHubError as error:
        return _render_chat_result(request, space, {"error": error})
    return _render_chat_result(request, space, {"fact": facts[0]})


@page_at("chat/<uuid:space_id>/facts/<uuid:fact_id>/forget", "chat-forget")
@tenant_view(role=EDITOR)
def forget_fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponseBase:
    """Hold a fact no longer. It can be undone; erasing takes more."""
    space = _get_chat_space(request, space_id)
    with tenant_scope(request.tenant.id):
        get_fact_or_404(space, fact_id)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        event = exchanges.forget_facts(space, [fact_id], request.actor, timezone.now())
    except MemoryHubError as error:
        return _render_chat_result(request, space, {"error": error})
    return _render_chat_result(request, space, {"event": event})


def _render_chat_result(
    request: ConsoleRequest, space: Space, told: dict[str, Any]
) -> HttpResponse:
    if request.htmx:
        return render(request, "chat/parts/done.html", {"space": space} | told)
    if error := told.get("error"):
        messages.error(request, _("Nothing was changed: %(why)s.") % {"why": error.message})
    else:
        messages.success(request, _("Done. It can be undone in the history."))
    return redirect("chat-with", space_id=space.id)


@page_at("chat/<uuid:space_id>/jobs/<uuid:job_id>/", "chat-decisions")
@tenant_page()
def chat_decisions_part(request: ConsoleRequest, space_id: UUID, job_id: UUID) -> HttpResponse:
    """What became of a message; asked again and again until its job has ended."""
    job = get_job_or_404(job_id)
    if job.space_id != space_id:
        raise Http404
    ended = job.state == job.State.DONE
    erasing = ended and is_erasing(job, timezone.now())
    told = load_job_effects(job) if ended else {}
    shown = {"space": job.space, "job": job, "erasing": erasing} | told
    return render(request, "chat/parts/decisions.html", shown)


@page_at("chat/<uuid:space_id>/reading", "chat-reading")
@tenant_page()
def chat_reading_part(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """How much of what was said is still to be read; asked until nothing is."""
    space = get_space_or_404(space_id, timezone.now())
    return render(
        request, "chat/parts/reading.html", {"space": space, "pending": count_pending_turns(space)}
    )
