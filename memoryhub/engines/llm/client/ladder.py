"""The strict JSON ladder (spec §0.1): a reply is valid, is made valid once, or has failed.

Never an empty result for a failure, and never error text or an apology as content.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from memoryhub.engines.ledger import CallRecord, get_current_ledger
from memoryhub.engines.llm.client.chat import (
    ChatMessages,
    ChatModel,
    Completion,
    UnusableReplyError,
)
from memoryhub.engines.llm.packaged_prompts import PROMPT_VERSIONS, Purpose, read_template
from memoryhub.errors import EngineError

Reply = TypeVar("Reply", bound=BaseModel)

_THINKING_BLOCK = re.compile(
    r"<(think|thinking|reasoning)>.*?</\1>|^.*?</(?:think|thinking|reasoning)>", re.S
)
_MAX_REPAIR_CHARACTERS = 4000  # characters of a bad reply sent back for repair


class UnreadableReplyError(Exception):
    """Why a reply does not fit, in words a model can act on."""


def ask_model(
    chat: ChatModel,
    purpose: Purpose,
    messages: ChatMessages,
    shape: type[Reply],
    version: str = "",
    lengths: Mapping[str, int] | None = None,
) -> Reply:
    """The model's reply as `shape`, accounted for in the ledger.

    `lengths`: the most items of its lists and characters of its texts, by their names. `version`
    names the prompt where it is not the packaged one.
    Raises EngineError: `unreadable_reply` after one repair, or what the ledger refuses.
    """
    version = version or f"{purpose}.v{PROMPT_VERSIONS[purpose]}"
    with account_for_call(CallRecord(purpose, version, chat.model, messages)) as call:
        return _ask_with_repair(chat, call, build_strict_schema(shape, lengths), shape)


@contextmanager
def account_for_call(call: CallRecord) -> Iterator[CallRecord]:
    """What is asked inside goes into the ledger as this call, however it ends; a reply of no use
    has its tokens counted too. Raises what the ledger refuses."""
    ledger = get_current_ledger()
    ledger.check_allowed(call.purpose, call.model)
    started = time.perf_counter()
    try:
        yield call
    except BaseException as error:
        if isinstance(error, UnusableReplyError):
            record_usage(call, error.completion)
        code = error.code if isinstance(error, EngineError) else type(error).__name__
        call.status, call.error = "failed", f"{code}: {error}"
        raise
    finally:
        call.milliseconds = round((time.perf_counter() - started) * 1000, 1)
        ledger.record_call(call)


def _ask_with_repair(
    chat: ChatModel, call: CallRecord, schema: dict[str, Any], shape: type[Reply]
) -> Reply:
    text = _complete_call(chat, call, call.messages, schema)
    try:
        return parse_reply(text, shape)
    except UnreadableReplyError as problem:
        again = [*call.messages, *_build_repair_messages(text, str(problem))]
    try:
        reply = parse_reply(_complete_call(chat, call, again, schema), shape)
    except UnreadableReplyError as problem:
        raise EngineError(
            f"The model {chat.model} sent no usable reply: {problem}", code="unreadable_reply"
        ) from problem
    call.status = "repaired"
    return reply


def _complete_call(chat: ChatModel, call: CallRecord, messages: Any, schema: dict[str, Any]) -> str:
    call.attempts += 1
    return record_usage(call, chat.complete(messages, call.purpose, schema))


def record_usage(call: CallRecord, completion: Completion) -> str:
    call.prompt_tokens += completion.prompt_tokens
    call.completion_tokens += completion.completion_tokens
    call.output = completion.text
    return completion.text


def parse_reply(text: str, shape: type[Reply]) -> Reply:
    """A reply's text as `shape`, as it is or dug out of what surrounds it.

    An object with none of the fields asked for is no reply, however much of the shape could do
    without: `{}`, an error of the endpoint, the schema sent back.
    """
    fields = {field.alias or name for name, field in shape.model_fields.items()}
    found = _unwrap_object(_parse_object(text), fields)
    try:
        reply = shape.model_validate(found)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors()]
        raise UnreadableReplyError("; ".join(faults[:5])) from error
    if not fields & set(found):
        raise UnreadableReplyError(
            f"it has none of the fields asked for: {', '.join(sorted(fields))}"
        )
    return reply


def strip_thinking(text: str) -> str:
    """A reply without what the model thought aloud before it."""
    return _THINKING_BLOCK.sub("", text)


def _parse_object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        inner = strip_thinking(text)
    start = inner.find("{")
    if start < 0:
        raise UnreadableReplyError("it holds no JSON object")
    try:
        # Not strict: models put bare line breaks into strings.
        return json.JSONDecoder(strict=False).raw_decode(inner[start:])[0]
    except (ValueError, RecursionError) as error:
        raise UnreadableReplyError(f"it is not valid JSON ({error})") from error


def _unwrap_object(found: Any, fields: set[str]) -> Any:
    """The reply inside a single key of the model's own: {"result": {...}}."""
    if isinstance(found, dict) and len(found) == 1 and not fields & set(found):
        (inner,) = found.values()
        return inner if isinstance(inner, dict) else found
    return found


def _build_repair_messages(text: str, problem: str) -> list[dict[str, str]]:
    asked = read_template("repair").replace("{problem}", problem[:1000])
    return [
        {"role": "assistant", "content": text[:_MAX_REPAIR_CHARACTERS]},
        {"role": "user", "content": asked},
    ]


def build_strict_schema(
    shape: type[BaseModel], lengths: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The JSON schema as strict mode wants it: every property required, no others, no defaults.
    `lengths`: the most items of lists and characters of texts, as `limit_items` tells them."""
    schema = shape.model_json_schema(by_alias=True)
    for name, most in (lengths or {}).items():
        field = schema["properties"][name]
        field["maxItems" if field["type"] == "array" else "maxLength"] = most
    for part in (schema, *schema.get("$defs", {}).values()):
        tighten_schema(part)
    return schema


def tighten_schema(part: dict[str, Any]) -> None:
    if "properties" not in part:
        return
    part["required"] = list(part["properties"])
    part["additionalProperties"] = False
    for field in part["properties"].values():
        field.pop("default", None)
