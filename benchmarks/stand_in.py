"""A model's stand-in that answers every purpose of writing plausibly, from what it is shown.

Its words are poor and its decisions rules: it is made to be asked as often as a model would be,
so that calls and tokens can be counted without one. Facts, entities and keywords are those of the
local engine.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.llm.chat import Completion
from memoryhub.engines.local import LocalEngine
from memoryhub.engines.types import Construction, Exchange, Utterance

Data = dict[str, Any]
# Words of four letters and more that say nothing of what a text is about.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """about after also been before being could does doing from going have here just know like
        made make more much really said says some such than that their them then there they thing
        this those time very want well were what when where which will with would your""",
    )
)


@dataclass
class StandIn:
    """Implements `engines.llm.chat.Model`. `asked` counts requests by purpose."""

    model: str = "stand-in"
    asked: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def complete(
        self, messages: Sequence[Mapping[str, str]], name: str, schema: dict[str, Any]
    ) -> Completion:
        reply = json.dumps(_ANSWERS[name](json.loads(messages[1]["content"])), ensure_ascii=False)
        sent, got = sum(count_tokens([m["content"] for m in messages])), count_tokens([reply])[0]
        self.asked[name] += 1
        self.tokens[name] += sent + got
        return Completion(reply, sent, got)


def _construct(data: Data) -> Data:
    engine = LocalEngine()
    reply: Data = {"facts": [], "entities": [], "relations": [], "speech_acts": [], "exchanges": []}
    history = [_utterance(said) for said in data["history"]]
    for handle in dict.fromkeys(message["exchange"] for message in data["messages"]):
        said = [_utterance(m) for m in data["messages"] if m["exchange"] == handle]
        exchange = Exchange(said, history, data["participants"], data["subject"])
        (built,) = engine.construct([exchange])
        _add(reply, handle, built)
        history = [*history, *said]
    return reply


def _utterance(said: Data) -> Utterance:
    at = datetime.fromisoformat(said["at"])
    return Utterance(said["handle"], said["speaker"], said["role"], said["text"], at)


def _add(reply: Data, handle: str, built: Construction) -> None:
    first = len(reply["facts"])
    reply["facts"] += [
        {
            "text": fact.text,
            "source": fact.sources[0].handle,
            "owner": fact.owner,
            "subject": fact.s,
            "verb": fact.v,
            "object": fact.o,
            "predicate": fact.predicate_key,
            "kind": fact.kind,
            "polarity": fact.polarity,
        }
        for fact in built.facts
    ]
    reply["entities"] += [{"name": e.name, "type": e.type} for e in built.entities]
    reply["relations"] += [
        {"source": r.src, "label": r.label, "target": r.dst, "fact": first + r.fact}
        for r in built.relations
    ]
    reply["speech_acts"] += [{"handle": h, "act": act} for h, act in built.speech_acts.items()]
    note = built.note
    reply["exchanges"].append(
        {
            "exchange": handle,
            "keywords": list(note.keywords) if note else [],
            "tags": list(note.tags) if note else [],
            "context": note.context if note else "",
            "continues": not built.topic_cue,
            "new_topic": built.topic_cue,
        }
    )


def _resolve(data: Data) -> Data:
    """What shares most of its words is the same, the rest is new."""
    kept = {each["handle"]: _words(each["text"]) for each in [*data["kept"], *data["new"]]}
    decisions = []
    for new in data["new"]:
        words = _words(new["text"])
        near = max(new["compare"], key=lambda h: _alike(words, kept[h]), default="")
        same = bool(near) and _alike(words, kept[near]) > 0.7
        told = {"op": "same", "target": near} if same else {"op": "add"}
        decisions.append({"candidate": new["handle"], "reason": "by its words"} | told)
    return {"decisions": decisions}


def _merge_check(data: Data) -> Data:
    return {"decisions": [{"pair": pair["handle"], "same": False} for pair in data["pairs"]]}


def _note_build(data: Data) -> Data:
    return {"notes": [{"handle": n["handle"]} | _described(n["text"]) for n in data["notes"]]}


def _described(text: str) -> Data:
    words = _salient([text])
    return {"keywords": words, "tags": words[:3], "context": _first(text)}


def _link_evolve(data: Data) -> Data:
    """Each note is linked to its nearest, which learns a keyword."""
    linked = [note for note in data["notes"] if note["near"]]
    known = {note["handle"]: note for note in [*data["known"], *data["notes"]]}
    return {
        "links": [
            {"from": n["handle"], "to": n["near"][0], "kind": "related", "reason": "alike"}
            for n in linked
        ],
        "neighbours": [
            {"handle": n["near"][0], "keywords": [*known[n["near"][0]]["keywords"][:8], word]}
            for n in linked[:2]
            for word in n["keywords"][:1]
        ],
    }


def _chain(data: Data) -> Data:
    before = (data["previous"] or {}).get("text", "")
    told = []
    for page in data["pages"]:
        continues = bool(before) and _alike(_words(before), _words(page["text"])) > 0.04
        told.append(
            {"handle": page["handle"], "continues": continues, "summary": _first(page["text"])}
        )
        before = page["text"]
    return {"pages": told}


def _themes(data: Data) -> Data:
    pages = data["pages"]
    words = _salient([page["text"] for page in pages])
    handles = [page["handle"] for page in pages]
    text = " ".join(_first(page["text"]) for page in pages[:3])
    return {"themes": [{"name": words[0], "keywords": words, "text": text, "pages": handles}]}


def _segment_refresh(data: Data) -> Data:
    texts = [page["text"] for page in data["pages"]]
    return {"text": " ".join([data["summary"], *map(_first, texts)]), "keywords": _salient(texts)}


def _episode_gate(data: Data) -> Data:
    said = _words(" ".join(page["text"] for page in data["window"]))
    shift = _alike(said, _words(data["newest"]["text"])) < 0.02
    return {"open": shift, "cause": "shift" if shift else "none"}


def _episode_write(data: Data) -> Data:
    texts = [page["text"] for page in data["exchanges"]]
    return {"title": _salient(texts)[0], "text": " ".join(map(_first, texts[:6]))}


def _fold_summary(data: Data) -> Data:
    said = " ".join([data["summary"], *(_first(m["text"]) for m in data["messages"])])
    return {"text": " ".join(said.split()[-data["max_words"] :])}


def _digest(data: Data) -> Data:
    texts = [part["text"] for part in data["parts"]]
    return {"title": _salient(texts)[0], "text": " ".join(map(_first, texts[:8]))}


def _kb_extract(data: Data) -> Data:
    said = [{"text": _first(p["text"]), "evidence": [p["handle"]]} for p in data["pages"][:5]]
    return {"user": said, "agent": []}


def _trait_update(data: Data) -> Data:
    page = data["pages"][0]["handle"]
    told = [
        {"key": key, "level": "medium", "why": "by the way of talking", "evidence": [page]}
        for key in data["keys"][:2]
    ]
    return {"traits": told}


_ANSWERS: Mapping[str, Callable[[Data], Data]] = {
    "construct": _construct,
    "resolve": _resolve,
    "merge_check": _merge_check,
    "note_build": _note_build,
    "link_evolve": _link_evolve,
    "chain": _chain,
    "themes": _themes,
    "segment_refresh": _segment_refresh,
    "episode_gate": _episode_gate,
    "episode_write": _episode_write,
    "fold_summary": _fold_summary,
    "digest": _digest,
    "kb_extract": _kb_extract,
    "trait_update": _trait_update,
}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]{4,}", text.lower())) - _COMMON


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _salient(texts: Sequence[str]) -> list[str]:
    counted = Counter(word for text in texts for word in sorted(_words(text)))
    return [word for word, _ in counted.most_common(6)] or ["talk"]


def _first(text: str) -> str:
    """The first sentence, of 200 characters at most."""
    return re.split(r"(?<=[.!?。])\s", text.strip())[0][:200] or "Something was said."
