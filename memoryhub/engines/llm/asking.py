"""What every purpose of the engine stands on: a model to ask, and a count of what it made up."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from pydantic import BaseModel

from memoryhub.engines.ledger import current_ledger
from memoryhub.engines.llm.chat import Model
from memoryhub.engines.llm.ladder import ask
from memoryhub.engines.llm.prompting import Purpose, messages

logger = logging.getLogger(__name__)

Reply = TypeVar("Reply", bound=BaseModel)


class Asking:
    """Asks the model of a purpose. `rejected` counts items of replies that were dropped."""

    def __init__(self, chat: Model, chats: dict[Purpose, Model] | None = None) -> None:
        self._chat = chat
        self._chats = chats or {}
        self.rejected = 0

    def ask(self, purpose: Purpose, data: dict[str, Any], shape: type[Reply]) -> Reply:
        """The purpose's instructions and `data` in, a checked reply out. Raises EngineError."""
        chat = self._chats.get(purpose, self._chat)
        return ask(chat, purpose, messages(purpose, data), shape)

    def reject(self, purpose: Purpose, count: int) -> None:
        """Items of the last reply that it may not claim: dropped, counted, never guessed (E13)."""
        if count:
            self.rejected += count
            current_ledger().reject(purpose, count)
            logger.warning("%s: dropped %d items of a reply", purpose, count)
