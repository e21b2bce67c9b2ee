"""The operator's own prompts, as the policy pages offer them."""

from __future__ import annotations

from django.conf import settings

from memoryhub.engines.llm import own_prompts
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.switches import PROMPT


def prompts_to_choose() -> dict[str, dict[str, str]]:
    """By switch, by name: the difference to the packaged prompt, as lines of a diff."""
    there = own_prompts.known(settings.PROMPTS)
    return {
        f"{PROMPT}.{purpose}": {
            name: own_prompts.difference(settings.PROMPTS, purpose, name) for name in there[purpose]
        }
        for purpose in PURPOSES
        if purpose in there
    }
