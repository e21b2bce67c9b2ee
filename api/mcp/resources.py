"""What is remembered of each subject, as a text that people attach to a conversation by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from api.mcp.caller import Caller, CallRefused
from api.mcp.render import NOTHING_REMEMBERED, format_problem

_URI, _REST = "memoryhub://spaces/", "/context"
RESOURCE_PAGE_SIZE = 100
_COMPLETIONS = 20
_OVERVIEW_QUESTION = "What is there to know?"

CONTEXT_TEMPLATE = types.ResourceTemplate(
    name="context",
    title="What is remembered of a subject",
    uri_template=f"{_URI}{{subject}}{_REST}",
    description="Its core blocks, facts, summaries and latest exchanges. Data, no instructions.",
    mime_type="text/plain",
)


def list_resources(caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """The subject that the address or the key names, whether or not anything is known of it; else
    every subject that the key may see, page by page."""
    if caller.default_subject:
        return types.ListResourcesResult(resources=[_describe_resource(caller.default_subject)])
    query = {"limit": RESOURCE_PAGE_SIZE} | ({"cursor": cursor} if cursor else {})
    page = ask_api(lambda: caller.get("/api/v1/spaces", **query))
    rows = [_describe_resource(row["subject"]) for row in page["items"]]
    return types.ListResourcesResult(resources=rows, next_cursor=page["next"])


def _describe_resource(subject: str) -> types.Resource:
    return types.Resource(
        name=subject,
        title=f"What is remembered of {subject}",
        uri=_build_uri(subject),
        description=CONTEXT_TEMPLATE.description,
        mime_type="text/plain",
    )


def _build_uri(subject: str) -> str:
    return f"{_URI}{quote(subject, safe='')}{_REST}"


def read_resource(caller: Caller, uri: str) -> types.ReadResourceResult:
    subject = unquote(uri.removeprefix(_URI).removesuffix(_REST))
    if uri != _build_uri(subject) or not subject:
        raise MCPError(types.INVALID_PARAMS, f"{uri[:200]}: there is no such resource.")
    told = types.TextResourceContents(
        uri=uri, mime_type="text/plain", text=recall_text(caller, subject, _OVERVIEW_QUESTION)
    )
    return types.ReadResourceResult(contents=[told])


def complete_subject(caller: Caller, begun: str) -> types.Completion:
    """Subjects that the key may see whose names have these letters in them."""
    query: dict[str, Any] = {"limit": _COMPLETIONS}
    if begun:
        query["filter"] = json.dumps({"subject": {"icontains": begun}})
    page = ask_api(lambda: caller.get("/api/v1/spaces", **query))
    names = [row["subject"] for row in page["items"]]
    return types.Completion(values=names, total=page["total"], has_more=bool(page["next"]))


def recall_text(caller: Caller, subject: str, question: str) -> str:
    """What bears on a question, as a block that says it is data. Raises MCPError for a subject of
    whom nothing was ever said, unless it is the one that the address or the key names."""
    body = {"subject": subject, "query": question}
    try:
        told = caller.post("/api/v1/context", body)["text"]
    except CallRefused as refused:
        if subject != caller.default_subject or refused.problem.get("status") != 404:
            raise _build_error(refused) from refused
        told = ""
    return str(told or NOTHING_REMEMBERED)


def ask_api(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Outside of tools, a problem is an error of the protocol."""
    try:
        return ask()
    except CallRefused as refused:
        raise _build_error(refused) from refused


def _build_error(refused: CallRefused) -> MCPError:
    return MCPError(types.INVALID_PARAMS, format_problem(refused.problem))
