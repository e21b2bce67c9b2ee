"""The engine that asks a language model, and trusts no reply further than it can check."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from memoryhub.engines.llm.abstraction import Abstracting
from memoryhub.engines.llm.associations import Associating
from memoryhub.engines.llm.attention import Attending
from memoryhub.engines.llm.chat import Model
from memoryhub.engines.llm.claims import Deciding
from memoryhub.engines.llm.construct import Constructing
from memoryhub.engines.llm.own_prompts import Prompts
from memoryhub.engines.llm.probing import informed
from memoryhub.engines.llm.prompting import Purpose
from memoryhub.engines.llm.recall import Recalling

# Characters of a model and its prompt: with "llm/" and a stroke they fill a row's stamp, 60.
_STAMP = 55


class LLMEngine(Constructing, Deciding, Associating, Abstracting, Attending, Recalling):
    """Implements `Engine` on an OpenAI-compatible chat endpoint: one module a group of purposes.

    `chats` name other models for some of the purposes, `prompts` other instructions.
    """

    name = "llm"

    def __init__(
        self,
        chat: Model,
        chats: dict[Purpose, Model] | None = None,
        prompts: Prompts | None = None,
    ) -> None:
        super().__init__(chat, chats, prompts)
        read_by = self.prompts.version("construct")
        self.version = f"{chat.model[: _STAMP - len(read_by)]}/{read_by}"

    @classmethod
    def connected(
        cls,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout: float = 120.0,
        models: Mapping[str, str] | None = None,
        probed: Path | None = None,
        prompts: Prompts | None = None,
    ) -> LLMEngine:
        """An engine on the endpoint's model, and on `models` by purpose; nothing is called yet.

        `probed` is the file of what a probe found out about models.
        """
        chats = {
            cast("Purpose", purpose): _chat(base_url, api_key, name, timeout, probed)
            for purpose, name in (models or {}).items()
        }
        return cls(_chat(base_url, api_key, model, timeout, probed), dict(chats), prompts)


# One a model: what an endpoint refuses of it is learnt once.
_chat = cache(informed)
