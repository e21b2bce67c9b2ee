"""Likes, habits and interests that repeat; and an agent that follows fixed rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from memoryhub.engines.local.personas.interests import group_by_interest
from memoryhub.engines.types import (
    AgentContext,
    AgentMessage,
    AgentStep,
    Exchange,
    Extraction,
    Knowledge,
    KnowledgeItem,
    Passage,
    TraitAssessment,
    TraitState,
    Utterance,
)

_KEPT_KINDS = frozenset({"state", "preference", "attribute"})
_SPEAKER_LINE = re.compile(r"^([^:：\n]{1,60})[:：] ?", re.M)
OFTEN, VERY_OFTEN = 2, 4  # pages that touch an interest
_MAX_ITEMS = 20


class PersonaRules:
    def extract_memories(self, exchanges: Sequence[Exchange]) -> list[Extraction]:
        raise NotImplementedError

    def extract_knowledge(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """What the subject states of themselves, word by word as a derivation reads it, so that
        it is found to be held already; and what the assistant recommended. Pages whose claims
        are known are not read again."""
        unread = [page for page in pages if not page.claims]
        built = (
            self.extract_memories([_exchange_from_page(page, subject) for page in unread])
            if unread
            else []
        )
        user: dict[str, list[str]] = {}
        agent: dict[str, list[str]] = {}
        for page in pages:
            for text in (claim for claim in page.claims if claim.startswith(subject)):
                user.setdefault(text, []).append(page.handle)
        for page, construction in zip(unread, built, strict=True):
            for fact in construction.facts:
                if fact.kind == "recommendation":
                    agent.setdefault(fact.text, []).append(page.handle)
                elif (
                    fact.owner == subject and fact.kind in _KEPT_KINDS and fact.polarity == "holds"
                ):
                    user.setdefault(fact.text, []).append(page.handle)
        return Knowledge(_rank_items(user), _rank_items(agent))

    def assess_traits(
        self, pages: Sequence[Passage], current: Sequence[TraitState], keys: Sequence[str]
    ) -> list[TraitAssessment]:
        """Interests that several pages touch. Character is not judged: words do not show it."""
        liked, disliked = group_by_interest(
            {page.handle: _select_first_speaker(page.text) for page in pages}
        )
        found = []
        for key in keys:
            likes, dislikes = liked.get(key, []), disliked.get(key, [])
            if len(dislikes) > len(likes):
                found.append(_build_assessment(key, "low", dislikes))
            elif len(likes) >= OFTEN:
                found.append(
                    _build_assessment(key, "high" if len(likes) >= VERY_OFTEN else "medium", likes)
                )
        return found

    def choose_agent_step(self, context: AgentContext) -> AgentStep:
        """Searches what was said last, then says what was found. No model decides anything."""
        last = context.messages[-1] if context.messages else AgentMessage("user", "")
        offered = {tool.name for tool in context.tools}
        if last.role == "user" and "recall_search" in offered:
            asked = {"query": last.content[:500], "heartbeat": True}
            return AgentStep("recall_search", json.dumps(asked, ensure_ascii=False))
        if "send_message" in offered:
            said = {"text": last.content[:2000] or "…"}
            return AgentStep("send_message", json.dumps(said, ensure_ascii=False))
        return AgentStep(text=last.content)


def _build_assessment(key: str, level: str, evidence: Sequence[str]) -> TraitAssessment:
    share = min(0.9, 0.4 + 0.1 * len(evidence))
    return TraitAssessment(key, level, "", tuple(evidence), share)  # type: ignore[arg-type]  # one of the levels


def _rank_items(found: dict[str, list[str]]) -> tuple[KnowledgeItem, ...]:
    ranked = sorted(found, key=lambda text: -len(found[text]))[:_MAX_ITEMS]
    return tuple(KnowledgeItem(text, tuple(dict.fromkeys(found[text]))) for text in ranked)


def _exchange_from_page(page: Passage, subject: str) -> Exchange:
    said = [
        Utterance(
            f"{page.handle}.{at}", name, "user" if name == subject else "assistant", text, page.at
        )
        for at, (name, text) in enumerate(_split_by_speaker(page.text))
    ]
    names = tuple(dict.fromkeys(each.speaker for each in said))
    return Exchange(utterances=said, participants=names, subject=subject)


def _split_by_speaker(text: str) -> Iterator[tuple[str, str]]:
    """(speaker, words) of "Speaker: words" lines; a line without a speaker goes on."""
    parts = _SPEAKER_LINE.split(text)
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        if said.strip():
            yield name.strip(), said.strip()


def _select_first_speaker(text: str) -> str:
    """What the one who speaks first says: of an exchange, the person."""
    voices = list(_split_by_speaker(text))
    return "\n".join(said for name, said in voices if name == voices[0][0]) if voices else text
