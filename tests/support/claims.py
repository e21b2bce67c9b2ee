"""Shorthands for tests of claims: replies of a scripted model, and the rows that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Proposal
from tests.support.hub import Hub


def fact(text: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    """One of a construct reply's facts, about Ana unless said otherwise."""
    given = {"text": text, "source": source, "owner": "Ana", "kind": "state", "polarity": "holds"}
    return given | parts


def lives(city: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    owner = parts.get("owner", "Ana")
    given = {"predicate": "lives_in", "verb": "lives in", "object": city, "subject": owner}
    text = parts.pop("text", f"{owner} lives in {city}.")
    return fact(text, source, **given | parts)


def reading(*facts: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A construct reply."""
    return {"facts": list(facts)} | parts


def verdicts(*found: tuple[str, str, str], text: str = "") -> dict[str, Any]:
    """A resolve reply of (candidate, op, target)."""
    return {
        "decisions": [
            {"candidate": c, "op": op, "target": target, "text": text, "reason": "scripted"}
            for c, op, target in found
        ]
    }


def on(text: str, op: str, merged: str = "") -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A verdict on whichever kept claim has this text, for the first new one."""

    def decide(data: dict[str, Any]) -> dict[str, Any]:
        (target,) = [kept["handle"] for kept in data["kept"] if kept["text"] == text]
        return verdicts((data["new"][0]["handle"], op, target), text=merged)

    return decide


def told(hub: Hub, text: str, *facts: dict[str, Any], **said: Any) -> None:
    """Say something of which these facts are read, and derive it."""
    parts = said.pop("parts", {})
    hub.model.script("construct", reading(*facts, **parts))
    hub.say(text, **said)
    hub.drain()


def facts(hub: Hub, **where: Any) -> list[Fact]:
    with tenant_scope(hub.tenant.id):
        return list(Fact.objects.filter(**where).order_by("valid_from", "recorded_at", "text"))


def current(hub: Hub) -> list[str]:
    """Texts of the claims that are open."""
    found = facts(hub, retired_at=None, valid_to=None, status="active")
    return [fact.text for fact in found]


def proposals(hub: Hub, **where: Any) -> list[Proposal]:
    with tenant_scope(hub.tenant.id):
        return list(Proposal.objects.filter(**where).order_by("created_at"))
