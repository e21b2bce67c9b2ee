"""An agent's session: a window with the policy and the engine that serve it (MemGPT, spec §3).

The API, the proxy, hosts by MCP and the chat all come to the same window: what they say goes in
through `ingest_messages`, and what is in front of an agent is composed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.dialogues.services import open_session
from memoryhub.engines.types import Engine
from memoryhub.errors import Conflict, NotFound
from memoryhub.inference.ledger import open_ledger
from memoryhub.inference.selection import select_engine
from memoryhub.pipeline.ingest.services import IngestRequest, IngestResult, ingest_messages
from memoryhub.pipeline.steps.episodes.windows import compose_window, follow_append
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.archive import count_passages
from personas import blocks
from personas.models import Window
from personas.window import ComposedWindow, open_window

_WHO_TEXT = (
    "You talk with {name}. You are an assistant that remembers: your memory blocks are below, all"
    " that was ever said can be searched. The time is {now}."
)
_LIMITS_TEXT = (
    "What you see here is your window. It holds {limit} tokens. When {warn:.0%} of it are used you"
    " are told so once; at {flush:.0%} the oldest messages, {evict:.0%} of it, are summed up and"
    " leave, but never the last {keep_last}. {said} messages of this person's dialogue are in"
    " recall storage, {kept} passages in archival storage."
)


@dataclass(frozen=True)
class AgentSession:
    """A window as an agent sits at it."""

    tenant: Tenant
    space: Space
    window: Window
    effective: EffectivePolicy

    @property
    def agent(self) -> str:
        return self.window.agent_name

    @property
    def acts(self) -> bool:
        """Whether the hub itself has a model take the agent's turns."""
        return self.can_act(self.tenant, self.effective.policy)

    @property
    def is_named(self) -> bool:
        """Without a name nothing can be said into the session: the next would join another."""
        return bool(self.window.session.external_id)

    def check_acts(self) -> None:
        """Raise Conflict where nobody takes the agent's turns."""
        if not self.acts:
            message = gettext(
                "there is no agent here: it needs a model, and a policy that gives agents "
                "tools and a window"
            )
            raise Conflict(message, code="no_agent")

    def check_named(self) -> None:
        """Raise Conflict where nothing can be said."""
        if not self.is_named:
            message = gettext("this session has no name, so nothing can be added to it")
            raise Conflict(message, code="session_unnamed")

    @staticmethod
    def can_act(tenant: Tenant, policy: Policy) -> bool:
        """Whether agents of such a tenant have a model, tools and a window."""
        by_model = tenant.engine == Tenant.Engine.LLM
        return by_model and policy.core.tools and policy.window.mode != "off"

    @cached_property
    def engine(self) -> Engine:
        return select_engine(self.tenant, self.effective.policy)

    def build_head(self, now: datetime) -> list[str]:
        """Who the agent talks with, what it can hold, and how much lies in its storages."""
        limits = self.effective.policy.window
        with tenant_scope(self.space.tenant_id):
            said = Turn.objects.filter(space=self.space).exclude(IS_INNER)
            counts = {"said": said.count(), "kept": count_passages(self.space)}
        name = self.space.display_name
        return [
            _WHO_TEXT.format(name=name, now=f"{now:%Y-%m-%d %H:%M} UTC"),
            _LIMITS_TEXT.format(
                limit=limits.context_limit,
                warn=limits.warn,
                flush=limits.flush,
                evict=limits.evict,
                keep_last=limits.keep_last,
                **counts,
            ),
        ]

    def compose_window(self, now: datetime, head: Sequence[str]) -> ComposedWindow:
        """What is in front of the agent now, behind its `head`, warned of and flushed where that is
        due. May ask a model: call outside any transaction."""
        with open_ledger(self.tenant.id, space_id=self.space.id):
            return compose_window(
                self.window.session,
                self.effective,
                self.engine,
                now,
                head=head,
                agent=self.agent,
            )

    def append_messages(
        self,
        messages: Sequence[Message],
        now: datetime,
        *,
        agent: str = "",
        follows_window: bool = True,
    ) -> IngestResult:
        """Store what was said behind what is there; a worker reads it as any other message.
        `agent`: who talks with the person, if it is not who sits at the window. A turn that looks
        at the window by itself does not have it follow.

        Raises InvalidInput, TooLarge, and Conflict while the memory is paused.
        """
        self.check_named()
        request = IngestRequest(
            self.space.subject,
            messages,
            self.window.session.external_id,
            agent=agent or self.window.agent,
            follows_window=follows_window,
        )
        return ingest_messages(self.tenant.id, request, now)

    def follow_append(self, now: datetime) -> None:
        """Give the warning that is due, or plan the flush that is. Asks no model."""
        follow_append(self.window, self.effective.policy, now)


def open_agent_session(space: Space, name: str, agent: str, now: datetime) -> AgentSession:
    """The window of the session of this name, with an agent at it and the blocks it starts with:
    made where there is none. Another agent that opens it takes it over. Opens its own scope.

    Raises InvalidInput without a name, Conflict where the policy keeps no windows.
    """
    with tenant_scope(space.tenant_id):
        effective = load_effective_policy(space)
        if effective.policy.window.mode == "off":
            raise Conflict(
                gettext("the policy of this space has windows switched off"), code="windows_off"
            )
        session = open_session(space, name, now)
        window = open_window(session, effective.policy.window.context_limit, agent)
        if agent and window.agent != agent:
            window.agent = agent
            window.save(update_fields=["agent"])
        blocks.ensure_default_blocks(space, agent, effective.policy.core.char_limit, now)
    return load_agent_session(space, window.id)


def load_agent_session(space: Space, window_id: UUID) -> AgentSession:
    """Opens its own scope. Raises NotFound."""
    with tenant_scope(space.tenant_id):
        rows = Window.objects.select_related("session__space", "rolling")
        window = rows.filter(space=space, id=window_id).first()
        if window is None:
            raise NotFound(gettext("there is no such window"))
        tenant = Tenant.objects.get(id=space.tenant_id)
        return AgentSession(tenant, space, window, load_effective_policy(space))
