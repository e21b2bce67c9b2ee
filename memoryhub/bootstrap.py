"""The first start: an operator, the demo tenant with a key, and its dialogues. Never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.utils import timezone

from memoryhub import env
from memoryhub.dialogues.formats import Conversation, read_dialogues
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs import runner
from memoryhub.tenants import services as tenants
from memoryhub.tenants.models import ApiKey, Membership, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space, find_tenant
from memoryhub.tenants.sign_in.accounts import ensure_account, find_first_operator, make_operator

DEMO_SLUG = "demo"
DEMO_DIALOGUES = Path(__file__).parent / "demo" / "dialogues"
# Nobody waits this long for one session; a job that takes longer goes on in the worker.
MAX_SESSION_SECONDS = 600.0


class Output(Protocol):
    """Where secrets are shown: a file, or a command's own output."""

    def write(self, text: str, /) -> object: ...


ReportProgress = Callable[[int, int], None]


def bootstrap_hub(stdout: Output) -> None:
    """Make what a hub needs to be used, if it is not there. Prints new secrets, once."""
    operator = find_first_operator()
    if operator is None:
        name = env.read_text("MEMORYHUB_OPERATOR", "operator")
        operator = ensure_operator_named(name, stdout)
    tenant = find_tenant(DEMO_SLUG) or tenants.create_tenant("Demo", DEMO_SLUG)
    tenants.add_member(tenant, operator, Membership.Role.ADMIN)
    _ensure_demo_key(tenant, stdout)


def ensure_operator_named(name: str, stdout: Output) -> User:
    """This account as an operator of the hub, made if there is none; prints its new password."""
    given = env.read_text("MEMORYHUB_OPERATOR_PASSWORD")
    operator = ensure_account_named(name, stdout, title="Operator", given=given)
    make_operator(operator)
    return operator


def ensure_account_named(
    name: str, stdout: Output, *, title: str = "Account", given: str = ""
) -> User:
    """The account of this name, made if there is none, with the password `given` or a new one,
    which is printed."""
    account, password = ensure_account(name, given)
    if password:
        shown = "(from MEMORYHUB_OPERATOR_PASSWORD)" if given else password
        stdout.write(f"{title:<10}{name}\nPassword  {shown}\n")
    return account


def _ensure_demo_key(tenant: Tenant, stdout: Output) -> None:
    with tenant_scope(tenant.id):
        if ApiKey.objects.exists():
            return
    given = env.read_text("MEMORYHUB_DEMO_KEY")
    _, key = tenants.create_key(tenant, "demo", ["read", "write"], secret=given or None)
    shown = "(from MEMORYHUB_DEMO_KEY)" if given else key
    stdout.write(f"API key   {shown}\nThese are shown only now: keep them.\n")


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What a load did. `failed` counts sessions whose job did not get done."""

    turns: int
    new: int
    failed: int


def seed_demo(progress: ReportProgress) -> IngestSummary | None:
    """Load the demo's dialogues through the pipeline, unless it was done. Goes on after a crash."""
    tenant = find_tenant(DEMO_SLUG)
    if tenant is None or tenant.seeded_at is not None:
        return None
    files = sorted(DEMO_DIALOGUES.glob("*.jsonl"))
    loaded = ingest_conversations(
        tenant, [c for file in files for c in read_dialogues(file, "jsonl")], progress
    )
    with tenant_scope(tenant.id):
        Tenant.objects.filter(id=tenant.id).update(seeded_at=timezone.now())
    return loaded


def ingest_conversations(
    tenant: Tenant, conversations: Iterable[Conversation], progress: ReportProgress
) -> IngestSummary:
    """Ingest and derive conversations session by session; what is there already is skipped."""
    work = list(_build_session_requests(conversations))
    total, turns, new, failed = sum(len(r.messages) for r, _ in work), 0, 0, 0
    for request, name in work:
        with tenant_scope(tenant.id):
            ensure_space(tenant.id, request.subject, name=name)
        done = ingest_messages(tenant.id, request)
        turns, new = turns + len(request.messages), new + len(done.new)
        if done.job is not None and any(t.state == Turn.State.PENDING for t in done.turns):
            job = runner.run_until_done(tenant.id, done.job, MAX_SESSION_SECONDS)
            failed += job.state != "done"
        progress(turns, total)
    return IngestSummary(turns, new, failed)


def _build_session_requests(
    conversations: Iterable[Conversation],
) -> Iterator[tuple[IngestRequest, str]]:
    for conversation in conversations:
        for session in conversation.sessions:
            for at in range(0, len(session.messages), settings.MAX_MESSAGES):
                said, name = session.messages[at : at + settings.MAX_MESSAGES], session.name
                request = IngestRequest(conversation.subject, said, name, channel="import")
                yield request, conversation.name
