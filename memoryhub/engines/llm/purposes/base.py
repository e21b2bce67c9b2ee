"""What every purpose of the engine stands on: a model to ask, and a count of what it made up."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from memoryhub.engines.ledger import get_current_ledger
from memoryhub.engines.llm.client.chat import ChatModel
from memoryhub.engines.llm.client.ladder import ask_model
from memoryhub.engines.llm.own_prompts import PromptSet
from memoryhub.engines.llm.packaged_prompts import Purpose, build_messages
from memoryhub.engines.types import HeldClaim, Passage, Utterance
from memoryhub.errors import EngineError

logger = logging.getLogger(__name__)

Reply = TypeVar("Reply", bound=BaseModel)
Item = TypeVar("Item")
Result = TypeVar("Result")

# The question was too large for one reply, for the model's context, or for a slow model to answer
# in time: asked again as it is, that would end in the same way.
TOO_LARGE_CODES = ("reply_cut", "context_exceeded", "timeout")
MAX_CALL_TOKENS = 6000  # tokens read in one call (spec E4)
MOST_WORDS, MOST_CHARACTERS = 12, 500  # keywords or tags; a text (spec §16)


def ask_in_halves(ask: Callable[[Sequence[Item]], Result], items: Sequence[Item]) -> list[Result]:
    """What `ask` says of the items: at once, or of ever smaller halves where that was too much.

    The results are in the items' order. Raises EngineError when one item alone is too much.
    """
    try:
        return [ask(items)]
    except EngineError as error:
        if error.code not in TOO_LARGE_CODES or len(items) < 2:
            raise
    middle = len(items) // 2
    return [*ask_in_halves(ask, items[:middle]), *ask_in_halves(ask, items[middle:])]


def is_part_of_prompt(instructions: str, text: str) -> bool:
    """Whether the text is a piece of the prompt it was asked by (spec §5.4 M8)."""
    plain = _normalise_words(text)
    return bool(plain) and plain in _normalise_prompt(instructions)


@lru_cache(maxsize=32)
def _normalise_prompt(text: str) -> str:
    return _normalise_words(text)


def _normalise_words(text: str) -> str:
    """Words only: markup, case and line breaks are no difference."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} " if words else ""


def clean_words(found: Iterable[str], longest: int = 64) -> tuple[str, ...]:
    trimmed = (word.strip()[:longest] for word in found)
    return tuple(dict.fromkeys(word for word in trimmed if word))[:MOST_WORDS]


def select_offered(handles: Iterable[str], offered: Container[str]) -> tuple[str, ...]:
    """Those that were offered, once each (E13)."""
    return tuple(dict.fromkeys(handle for handle in handles if handle in offered))


def render_minute(at: datetime) -> str:
    return at.isoformat(timespec="minutes")


def render_pages(pages: Iterable[Passage], most: int | None = None) -> list[dict[str, str]]:
    """Under their handles, with the first `most` characters of each."""
    return [{"handle": p.handle, "at": render_minute(p.at), "text": p.text[:most]} for p in pages]


def render_utterances(said: Iterable[Utterance], most: int | None = None) -> list[dict[str, str]]:
    return [{"speaker": u.speaker, "at": render_minute(u.at), "text": u.text[:most]} for u in said]


def render_held_claim(held: HeldClaim) -> dict[str, Any]:
    shown = {
        "handle": held.handle,
        "owner": held.owner,
        "text": held.text,
        "since": held.valid_from.date().isoformat(),
    }
    shown |= {"relation": held.predicate_key} if held.predicate_key else {}
    shown |= {"state": held.polarity} if held.polarity != "holds" else {}
    return shown | ({"until": held.valid_to.date().isoformat()} if held.valid_to else {})


class ModelPurposes:
    """Asks the model of a purpose. `rejected` counts items of replies that were dropped."""

    def __init__(
        self,
        chat: ChatModel,
        chats: dict[Purpose, ChatModel] | None = None,
        prompts: PromptSet | None = None,
    ) -> None:
        self._chat = chat
        self._chats = chats or {}
        self.prompts = prompts or PromptSet()
        self.rejected = 0

    def ask_purpose(
        self,
        purpose: Purpose,
        data: dict[str, Any],
        shape: type[Reply],
        lengths: Mapping[str, int] | None = None,
    ) -> Reply:
        """The purpose's instructions and `data` in, a checked reply out, whose lists have at most
        the `lengths`. Raises EngineError.

        `data` has first what is the same in the space's next call of this purpose, for endpoints
        keep what they have read of a prompt up to the first difference.
        """
        chat = self._chats.get(purpose, self._chat)
        sent = build_messages(self.prompts.get_text(purpose), data)
        return ask_model(chat, purpose, sent, shape, self.prompts.get_version(purpose), lengths)

    def count_rejected_items(self, purpose: Purpose, count: int) -> None:
        """Items of the last reply that it may not claim: dropped, counted, never guessed (E13)."""
        if count:
            self.rejected += count
            get_current_ledger().count_rejected_items(purpose, count)
            logger.warning("%s: dropped %d items of a reply", purpose, count)
