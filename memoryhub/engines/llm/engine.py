"""The engine that asks a language model, and trusts no reply further than it can check."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from memoryhub.engines.llm.client.chat import ChatModel
from memoryhub.engines.llm.client.probe import build_informed_chat
from memoryhub.engines.llm.own_prompts import PromptSet
from memoryhub.engines.llm.packaged_prompts import Purpose
from memoryhub.engines.llm.purposes.episodes import EpisodePurposes
from memoryhub.engines.llm.purposes.extract import ExtractionPurposes
from memoryhub.engines.llm.purposes.notes import NotePurposes
from memoryhub.engines.llm.purposes.personas import PersonaPurposes
from memoryhub.engines.llm.purposes.recall import RecallPurposes
from memoryhub.engines.llm.purposes.resolve import ClaimPurposes
from memoryhub.engines.llm.purposes.topics import TopicPurposes

# Characters of a model and its prompt: with "llm/" and a stroke they fill a row's stamp, 60.
_MAX_VERSION_LENGTH = 55


class LLMEngine(
    ExtractionPurposes,
    ClaimPurposes,
    NotePurposes,
    TopicPurposes,
    EpisodePurposes,
    PersonaPurposes,
    RecallPurposes,
):
    """Implements `Engine` on an OpenAI-compatible chat endpoint: one module a group of purposes.

    `chats` name other models for some of the purposes, `prompts` other instructions.
    """

    name = "llm"
    reads_by_rules = False

    def __init__(
        self,
        chat: ChatModel,
        chats: dict[Purpose, ChatModel] | None = None,
        prompts: PromptSet | None = None,
    ) -> None:
        super().__init__(chat, chats, prompts)
        read_by = self.prompts.get_version("construct")
        self.version = f"{chat.model[: _MAX_VERSION_LENGTH - len(read_by)]}/{read_by}"

    @classmethod
    def connect(
        cls,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout: float = 120.0,
        max_tokens: int = 4000,
        models: Mapping[str, str] | None = None,
        probed: Path | None = None,
        prompts: PromptSet | None = None,
    ) -> LLMEngine:
        """An engine on the endpoint's model, and on `models` by purpose; nothing is called yet.

        `probed` is the file of what a probe found out about models, `max_tokens` of a reply.
        """
        given = (timeout, max_tokens, probed)
        chats: dict[Purpose, ChatModel] = {
            cast("Purpose", purpose): _get_chat(base_url, api_key, name, *given)
            for purpose, name in (models or {}).items()
        }
        return cls(_get_chat(base_url, api_key, model, *given), chats, prompts)


# One a model: what an endpoint refuses of it is learnt once.
_get_chat = cache(build_informed_chat)
