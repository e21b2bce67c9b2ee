"""What models are asked for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from memoryhub.policies.switches import PROXY_PURPOSE

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CHAT_PURPOSE = "chat"  # what calls of the chat are accounted for as
PURPOSE_TITLES: Mapping[str, StrOrPromise] = {
    "construct": gettext_lazy("Read dialogue"),
    "extract_facts": gettext_lazy("Read facts separately"),
    "graph_entities": gettext_lazy("Find entities"),
    "graph_relations": gettext_lazy("Find relations"),
    "note_build": gettext_lazy("Describe notes"),
    "resolve": gettext_lazy("Compare with existing memories"),
    "merge_check": gettext_lazy("Decide whether two are the same"),
    "link_evolve": gettext_lazy("Link and update notes"),
    "chain": gettext_lazy("Follow a conversation"),
    "themes": gettext_lazy("Sort exchanges by topic"),
    "segment_refresh": gettext_lazy("Summarise topics"),
    "episode_gate": gettext_lazy("Detect a change of subject"),
    "episode_write": gettext_lazy("Write episodes"),
    "kb_extract": gettext_lazy("Choose facts for the shelf"),
    "trait_update": gettext_lazy("Read traits"),
    "fold_summary": gettext_lazy("Maintain the running summary"),
    "digest": gettext_lazy("Summarise sessions and days"),
    "agent_step": gettext_lazy("Act as an agent"),
    "keep_memories": gettext_lazy("Keep memories by tools in the lab"),
    "answer": gettext_lazy("Answer questions"),
    "route": gettext_lazy("Understand a question"),
    "judge": gettext_lazy("Judge what was found"),
    "rerank": gettext_lazy("Order what was found"),
    "predict": gettext_lazy("Predict messages"),
    "calibrate": gettext_lazy("Note what a prediction missed"),
    "paginate": gettext_lazy("Detect the end of an episode"),
    "summarise": gettext_lazy("Summarise texts"),
    "query_entities": gettext_lazy("Find entities in a question"),
    "query_terms": gettext_lazy("Find keywords in a question"),
    "grade": gettext_lazy("Grade answers in the lab"),
    PROXY_PURPOSE: gettext_lazy("Clients using the hub as a proxy"),
    CHAT_PURPOSE: gettext_lazy("Chat"),
}


def format_purpose(name: str) -> StrOrPromise:
    """One that is new here by its own name."""
    return PURPOSE_TITLES.get(name, name)
