"""Shorthands for tests of claims: replies of a scripted model, and the rows that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Proposal
from tests.support.hub import ScriptedHub


def make_fact_reply(text: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    """One of a construct reply's facts, about Ana unless said otherwise."""
    given = {"text": text, "source": source, "owner": "Ana", "kind": "state", "polarity": "holds"}
    return given | parts


def make_home_reply(city: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    owner = parts.get("owner", "Ana")
    given = {"predicate": "lives_in", "verb": "lives in", "object": city, "subject": owner}
    text = parts.pop("text", f"{owner} lives in {city}.")
    return make_fact_reply(text, source, **given | parts)


def make_construct_reply(*facts: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A construct reply."""
    return {"facts": list(facts)} | parts


def make_resolve_reply(*found: tuple[str, str, str], text: str = "") -> dict[str, Any]:
    """A resolve reply of (candidate, op, target)."""
    return {
        "decisions": [
            {"candidate": c, "op": op, "target": target, "text": text, "reason": "scripted"}
            for c, op, target in found
        ]
    }


def decide_on_claim(
    text: str, op: str, merged: str = ""
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A verdict on whichever kept claim has this text, for the first new one."""

    def decide(data: dict[str, Any]) -> dict[str, Any]:
        (target,) = [kept["handle"] for kept in data["kept"] if kept["text"] == text]
        return make_resolve_reply((data["new"][0]["handle"], op, target), text=merged)

    return decide


def say_and_derive(hub: ScriptedHub, text: str, *facts: dict[str, Any], **said: Any) -> None:
    """Say something of which these facts are read, and derive it."""
    parts = said.pop("parts", {})
    hub.model.script("construct", make_construct_reply(*facts, **parts))
    hub.say(text, **said)
    hub.run_due_jobs()


def list_facts(hub: ScriptedHub, **where: Any) -> list[Fact]:
    with tenant_scope(hub.tenant.id):
        return list(Fact.objects.filter(**where).order_by("valid_from", "recorded_at", "text"))


def list_current_texts(hub: ScriptedHub) -> list[str]:
    """Texts of the claims that are open."""
    found = list_facts(hub, retired_at=None, valid_to=None, status="active")
    return [fact.text for fact in found]


def list_proposals(hub: ScriptedHub, **where: Any) -> list[Proposal]:
    with tenant_scope(hub.tenant.id):
        return list(Proposal.objects.filter(**where).order_by("created_at"))
