"""What every purpose of the engine stands on: a model to ask, and a count of what it made up."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from memoryhub.engines.ledger import current_ledger
from memoryhub.engines.llm.chat import Model
from memoryhub.engines.llm.ladder import ask
from memoryhub.engines.llm.own_prompts import Prompts
from memoryhub.engines.llm.prompting import Purpose, messages
from memoryhub.errors import EngineError

logger = logging.getLogger(__name__)

Reply = TypeVar("Reply", bound=BaseModel)
Item = TypeVar("Item")
Result = TypeVar("Result")

# The question was too large for one reply, for the model's context, or for a slow model to answer
# in time: asked again as it is, that would end in the same way.
TOO_MUCH = ("reply_cut", "context_exceeded", "timeout")


def halved(ask: Callable[[Sequence[Item]], Result], items: Sequence[Item]) -> list[Result]:
    """What `ask` says of the items: at once, or of ever smaller halves where that was too much.

    The results are in the items' order. Raises EngineError when one item alone is too much.
    """
    try:
        return [ask(items)]
    except EngineError as error:
        if error.code not in TOO_MUCH or len(items) < 2:
            raise
    middle = len(items) // 2
    return [*halved(ask, items[:middle]), *halved(ask, items[middle:])]


def is_instruction(instructions: str, text: str) -> bool:
    """Whether the text is a piece of the prompt it was asked by (spec §5.4 M8)."""
    plain = _plain(text)
    return bool(plain) and plain in _instructions(instructions)


@lru_cache(maxsize=32)
def _instructions(text: str) -> str:
    return _plain(text)


def _plain(text: str) -> str:
    """Words only: markup, case and line breaks are no difference."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} " if words else ""


class Asking:
    """Asks the model of a purpose. `rejected` counts items of replies that were dropped."""

    def __init__(
        self,
        chat: Model,
        chats: dict[Purpose, Model] | None = None,
        prompts: Prompts | None = None,
    ) -> None:
        self._chat = chat
        self._chats = chats or {}
        self.prompts = prompts or Prompts()
        self.rejected = 0

    def ask(self, purpose: Purpose, data: dict[str, Any], shape: type[Reply]) -> Reply:
        """The purpose's instructions and `data` in, a checked reply out. Raises EngineError."""
        chat = self._chats.get(purpose, self._chat)
        sent = messages(self.prompts.text(purpose), data)
        return ask(chat, purpose, sent, shape, self.prompts.version(purpose))

    def reject(self, purpose: Purpose, count: int) -> None:
        """Items of the last reply that it may not claim: dropped, counted, never guessed (E13)."""
        if count:
            self.rejected += count
            current_ledger().reject(purpose, count)
            logger.warning("%s: dropped %d items of a reply", purpose, count)
