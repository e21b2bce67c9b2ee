"""What people start by hand, as a command of their host."""

from __future__ import annotations

import mcp_types as types
from mcp.shared.exceptions import MCPError

from api.core.permissions import has_scope
from api.mcp.caller import Caller
from api.mcp.render import format_problem, render_problem
from api.mcp.resources import recall_text
from memoryhub.errors import MemoryHubError

_SUBJECT = types.PromptArgument(
    name="subject",
    title="Subject",
    description="Whose memory; may be left out where the key or the address names one.",
    required=False,
)
_ASK = types.Prompt(
    name="with_memory",
    title="Ask with memory",
    description="A question, with what is remembered that bears on it.",
    arguments=[
        types.PromptArgument(
            name="question", title="Question", description="What to answer.", required=True
        ),
        _SUBJECT,
    ],
)
_REMEMBER = types.Prompt(
    name="remember",
    title="Remember this conversation",
    description="Has the conversation looked through for what is worth knowing later.",
    arguments=[_SUBJECT],
)
_REMEMBER_WORDS = (
    "Look through our conversation for what is worth knowing later about {subject}. First ask "
    "`search` what of it is remembered. Then `add` what is new, in whole sentences that say who, "
    "what and since when; `correct` what is remembered in wrong words, and `forget` what is over. "
    "Leave out what only mattered today. Tell me in a few lines what you stored."
)


def list_prompts(caller: Caller) -> list[types.Prompt]:
    """Those that the key's scopes are enough for."""
    return [_ASK, _REMEMBER] if has_scope(caller.key.scopes, "write") else [_ASK]


def build_prompt(caller: Caller, name: str, given: dict[str, str]) -> types.GetPromptResult:
    """Raises MCPError."""
    prompt = next((each for each in list_prompts(caller) if each.name == name), None)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:100]}.")
    question = given.get("question", "")
    if prompt is _ASK and not question.strip():
        raise MCPError(types.INVALID_PARAMS, "question: needed")
    try:
        subject = caller.resolve_subject(given.get("subject", ""))
    except MemoryHubError as error:
        raise MCPError(types.INVALID_PARAMS, format_problem(render_problem(error))) from error
    if prompt is _ASK:
        parts = [recall_text(caller, subject, question), question]
    else:
        parts = [_REMEMBER_WORDS.format(subject=subject)]
    said = [
        types.PromptMessage(role="user", content=types.TextContent(text=text)) for text in parts
    ]
    return types.GetPromptResult(description=prompt.description, messages=said)
