"""A careful model, recorded: what it would reply, by purpose and message and not by prompt.

It knows the reading of the dialogues and nothing else. It names what it was offered only: what the
hub does not show it, it can not judge, as any model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from memoryhub.lab.truth.dialogues import TruthChange, TruthDialogue

_VERDICTS = {
    "same": "same",
    "refine": "augment",
    "replace": "contradict",
    "end": "deny",
    "wrong": "contradict",
}


class RecordedModel:
    """`reply`: the reply to a purpose's data; None for a purpose that it has nothing to say to."""

    def __init__(self, dialogues: Iterable[TruthDialogue]) -> None:
        self._said: dict[tuple[str, str], tuple[TruthDialogue, str]] = {}
        self._claims: dict[str, list[tuple[TruthDialogue, TruthChange]]] = {}
        for dialogue in dialogues:
            for turn in dialogue.turns:
                key = (turn.text, turn.at.isoformat(timespec="minutes"))
                self._said[key] = (dialogue, turn.ref)
            for claim in dialogue.claims.values():
                self._claims.setdefault(claim.text, []).append((dialogue, claim))
        self._purposes: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "construct": self._construct,
            "extract_facts": self._extract_facts,
            "resolve": self._resolve,
        }

    def reply(self, purpose: str, data: Mapping[str, Any]) -> dict[str, Any] | None:
        known = self._purposes.get(purpose)
        return known(data) if known else None

    def _find_changes(self, message: Mapping[str, Any]) -> tuple[TruthDialogue, list[TruthChange]]:
        """What the message says, as far as its words are there: a clause may have been erased."""
        text = message["text"]
        dialogue, ref = self._said.get((text, message["at"])) or next(
            where
            for (said, at), where in self._said.items()
            if at == message["at"] and _is_left_of(text, said)
        )
        told = dialogue.changes.get(ref, ())
        return dialogue, [change for change in told if change.quote in text]

    def _construct(self, data: Mapping[str, Any]) -> dict[str, Any]:
        changes: list[dict[str, Any]] = []
        told: dict[str, int] = {}  # by text, the number of the change of this reply that says it
        for message in data["messages"]:
            dialogue, found = self._find_changes(message)
            for change in found:
                texts = _list_target_texts(dialogue, change)
                shown = {text: str(told[text]) for text in texts if text in told}
                shown |= {c["text"]: c["handle"] for c in data["known"] if c["text"] in texts}
                changes.append(
                    {
                        "do": change.do,
                        "targets": list(shown.values()),
                        "source": message["handle"],
                        "quote": change.quote,
                        "owner": change.owner,
                        "text": change.text,
                        "relation": change.relation,
                        "value": change.value,
                        "state": change.state,
                        "from": change.first,
                        "to": change.last,
                        "one_at_a_time": change.one_at_a_time,
                    }
                )
                if change.text:
                    told[change.text] = len(changes)
        lists: dict[str, list[Any]] = {name: [] for name in data["wanted"]}
        return {"changes": changes} | lists

    def _extract_facts(self, data: Mapping[str, Any]) -> dict[str, Any]:
        facts: list[dict[str, Any]] = []
        acts: list[dict[str, Any]] = []
        for message in data["messages"]:
            dialogue, found = self._find_changes(message)
            facts += [
                fact
                for change in found
                if change.do != "forget"
                for fact in _render_facts(dialogue, change, message["handle"])
            ]
            wishes = any(change.do == "forget" for change in found)
            act = "forget" if wishes else "assertion" if found else "chitchat"
            acts.append({"handle": message["handle"], "act": act})
        return {"facts": facts, "speech_acts": acts}

    def _resolve(self, data: Mapping[str, Any]) -> dict[str, Any]:
        decisions: list[dict[str, str]] = []
        held = [*data["kept"], *data["new"]]
        for new in data["new"]:
            wished = bool(new.get("wish"))
            for dialogue, change in self._find_resolved(new, wished=wished):
                texts = _list_target_texts(dialogue, change)
                op = "forget" if wished else _VERDICTS.get(change.do, "add")
                op = "deny" if change.do == "wrong" and not change.value else op
                decisions += [
                    {"candidate": new["handle"], "op": op, "target": claim["handle"], "text": ""}
                    for claim in held
                    if claim["text"] in texts and claim["handle"] in new["compare"]
                ]
            if not wished and all(each["candidate"] != new["handle"] for each in decisions):
                nothing = {"candidate": new["handle"], "op": "add", "target": "", "text": ""}
                decisions.append(nothing)
        return {"decisions": decisions}

    def _find_resolved(
        self, new: Mapping[str, Any], *, wished: bool
    ) -> Sequence[tuple[TruthDialogue, TruthChange]]:
        if not wished:
            return self._claims.get(new["text"], [])[:1] or [
                (dialogue, change)
                for do, added in _ADDED_WORDS.items()
                for dialogue, target in self._claims.get(new["text"].removesuffix(added), [])[:1]
                for told in dialogue.changes.values()
                for change in told
                if change.do == do and target.id in change.targets and not change.text
            ]
        turns = {text: where for (text, _), where in self._said.items() if text == new["text"]}
        return [
            (dialogue, change)
            for dialogue, ref in turns.values()
            for change in dialogue.changes.get(ref, ())
            if change.do == "forget"
        ]


# What the claim of a change without words of its own says beside those of its target.
_ADDED_WORDS: Mapping[str, str] = {"end": " (no longer)", "wrong": " (never so)"}


def _is_left_of(text: str, said: str) -> bool:
    """Whether a text is another with some of its characters blanked out."""
    pairs = zip(text, said, strict=False)
    return len(text) == len(said) and all(a in (b, " ") for a, b in pairs)


def _list_target_texts(dialogue: TruthDialogue, change: TruthChange) -> list[str]:
    """The words of the claims that a change is about, and of what says the same by now."""
    claims = dialogue.claims
    wanted = set(change.targets)
    for each in claims.values():
        if each.do == "refine" and wanted & set(each.targets) and each.id != change.id:
            wanted.add(each.id)
    return [claims[target].text for target in sorted(wanted) if target in claims]


def _render_facts(
    dialogue: TruthDialogue, change: TruthChange, handle: str
) -> list[dict[str, Any]]:
    """As claims by themselves, where `extract_facts` is asked without what is known: its own, or
    that each of its targets is so, or is over, or never was so."""
    bases = [change] if change.text else [dialogue.claims[target] for target in change.targets]
    return [_render_fact(change, base, handle) for base in bases]


def _render_fact(change: TruthChange, base: TruthChange, handle: str) -> dict[str, Any]:
    ends = change.do == "end"
    planned = change.state == "planned"
    denied = "denied" if change.do == "wrong" and not change.text else ""
    return {
        "text": base.text if change.text else f"{base.text}{_ADDED_WORDS.get(change.do, '')}",
        "source": handle,
        "quote": change.quote,
        "owner": base.owner,
        "verb": base.relation,
        "object": base.value,
        "predicate": base.relation,
        "kind": "plan" if planned else "state",
        "polarity": denied or ("ended" if ends else "planned" if planned else "holds"),
        "correction": change.do == "wrong",
        "from": change.first or (change.last if ends else ""),
        "to": change.last,
        "confidence": 0.9,
    }
