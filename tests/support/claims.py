"""Shorthands for tests of claims: replies of a scripted model, and the rows that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Proposal
from tests.support.hub import ScriptedHub


def make_fact_reply(text: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    """One of an extract_facts reply's facts, about Ana unless said otherwise."""
    given = {"text": text, "source": source, "owner": "Ana", "kind": "state", "polarity": "holds"}
    return given | parts


def make_home_reply(city: str, source: str = "t1", **parts: Any) -> dict[str, Any]:
    owner = parts.get("owner", "Ana")
    given = {"predicate": "lives_in", "verb": "lives in", "object": city, "subject": owner}
    text = parts.pop("text", f"{owner} lives in {city}.")
    return make_fact_reply(text, source, **given | parts)


def make_facts_reply(*facts: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """An extract_facts reply: what a model says that is asked about facts alone."""
    return {"facts": list(facts)} | parts


def make_change_reply(
    do: str, text: str = "", *targets: str, source: str = "t1", **parts: Any
) -> dict[str, Any]:
    """One of a construct reply's changes, about Ana unless said otherwise."""
    given = {"do": do, "text": text, "targets": list(targets), "source": source, "owner": "Ana"}
    return given | parts


def make_changes_reply(*changes: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A construct reply: what a model says that reads beside what is known."""
    return {"changes": list(changes)} | parts


def change_known_claims(
    do: str, text: str, *known: str, **parts: Any
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A construct reply of one change to the claims with these texts among those shown."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        shown = {claim["text"]: claim["handle"] for claim in data["known"]}
        return make_changes_reply(
            make_change_reply(do, text, *(shown[each] for each in known), **parts)
        )

    return change


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
    """Say something of which these facts are read, and derive it. Each quotes all that is said,
    unless it quotes something else. `parts` are further lists: speech acts of the same reply,
    entities and relations of the calls that ask for them."""
    parts = said.pop("parts", {})
    for name in ("entities", "relations"):
        if name in parts:
            hub.model.script(f"graph_{name}", {name: parts.pop(name)})
    quoted = [{"quote": text} | fact for fact in facts]
    hub.model.script("extract_facts", make_facts_reply(*quoted, **parts))
    hub.say(text, **said)
    hub.run_due_jobs()


def say_and_change(
    hub: ScriptedHub,
    text: str,
    reply: dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]],
    **said: Any,
) -> None:
    """Say something that a model reads beside what is known, with this reply, and derive it."""
    hub.model.script("construct", reply)
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
