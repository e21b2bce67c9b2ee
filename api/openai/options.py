"""What a client asks of the hub itself: whose memory, how much of it, whether to learn. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from memoryhub.dialogues.messages import clean_text, encode_text
from memoryhub.errors import InvalidInput
from memoryhub.recall.render.pack import LEAST_TOKENS, MOST_TOKENS
from memoryhub.tenants.services import refuse_hidden_characters

SPACE, SESSION, AGENT = "X-MemoryHub-Space", "X-MemoryHub-Session", "X-MemoryHub-Agent"
BUDGET, RECALL, LEARN = "X-MemoryHub-Budget", "X-MemoryHub-Recall", "X-MemoryHub-Learn"
OPTION_HEADERS = (SPACE, SESSION, AGENT, BUDGET, RECALL, LEARN)
DEFAULT_BUDGET = 2000
# What stands in a request's `metadata` in place of a header, and goes no further.
METADATA_OPTIONS = ("session", "agent")
_SWITCH_VALUES = {"on": True, "off": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """`subject` "": that of the key. `budget` is in tokens. `learns` None: if the key may write."""

    subject: str = ""
    session: str = ""
    agent: str = ""
    budget: int = DEFAULT_BUDGET
    recalls: bool = True
    learns: bool | None = None


def read_options(headers: Mapping[str, str], body: Mapping[str, Any]) -> MemoryOptions:
    """Headers first, then the body's own fields. Raises InvalidInput naming the one at fault."""
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    recalls = _read_switch(headers, RECALL)
    return MemoryOptions(
        subject=_read_name(headers, SPACE, body.get("user"), "user", 200),
        session=_read_name(headers, SESSION, metadata.get("session"), "metadata.session", 200),
        agent=_read_name(headers, AGENT, metadata.get("agent"), "metadata.agent", 120),
        budget=_read_budget(headers.get(BUDGET, "")),
        recalls=recalls is not False,
        learns=_read_switch(headers, LEARN),
    )


def remove_options(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as the endpoint is to see it: most take `metadata` only from those who store."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return dict(body)
    left = {name: value for name, value in metadata.items() if name not in METADATA_OPTIONS}
    kept = {name: value for name, value in body.items() if name != "metadata"}
    return kept | ({"metadata": left} if left else {})


def _read_name(headers: Mapping[str, str], header: str, given: Any, field: str, limit: int) -> str:
    if headers.get(header):
        field, given = header, _decode_header(headers[header])
    if given in (None, ""):
        return ""
    if not isinstance(given, str):
        raise InvalidInput("must be text", field=field)
    if header == SPACE:
        refuse_hidden_characters(given, field)
    name = clean_text(given).strip()
    encode_text(name, field)
    if len(name) > limit:
        raise InvalidInput(f"at most {limit} characters", field=field)
    return name


def _decode_header(header: str) -> str:
    """Headers carry ASCII: other characters come percent-encoded, or as bare UTF-8."""
    try:
        return unquote_to_bytes(header.encode("latin-1")).decode()
    except UnicodeError:
        return header


def _read_budget(given: str) -> int:
    if not given:
        return DEFAULT_BUDGET
    plain = given.isascii() and given.isdecimal() and len(given) < 10
    if not (plain and LEAST_TOKENS <= int(given) <= MOST_TOKENS):
        raise InvalidInput(f"a number of tokens from {LEAST_TOKENS} to {MOST_TOKENS}", field=BUDGET)
    return int(given)


def _read_switch(headers: Mapping[str, str], header: str) -> bool | None:
    given = headers.get(header, "").strip().lower()
    if given and given not in _SWITCH_VALUES:
        raise InvalidInput("on or off", field=header)
    return _SWITCH_VALUES.get(given)
