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

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.llm.client.chat import Completion
from memoryhub.engines.local import LocalEngine
from memoryhub.engines.types import Exchange, Extraction, Utterance

Data = dict[str, Any]
# Words of four letters and more that say nothing of what a text is about.
_COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        """about after also been before being could does doing from going have here just know like
        made make more much really said says some such than that their them then there they thing
        this those time very want well were what when where which will with would your""",
    )
)


@dataclass
class StandInModel:
    """Implements `engines.llm.client.chat.ChatModel`. `asked` counts requests by purpose."""

    model: str = "stand-in"
    requests: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def complete(
        self, messages: Sequence[Mapping[str, str]], name: str, schema: dict[str, Any]
    ) -> Completion:
        reply = json.dumps(
            _ANSWER_BY_PURPOSE[name](json.loads(messages[1]["content"])), ensure_ascii=False
        )
        sent, got = sum(count_tokens([m["content"] for m in messages])), count_tokens([reply])[0]
        self.requests[name] += 1
        self.tokens[name] += sent + got
        return Completion(reply, sent, got)


def _answer_construct(data: Data) -> Data:
    """What shares most of its words with something known says it again; the rest is new."""
    read = _read_messages(data)
    kept = {claim["handle"]: _extract_words(claim["text"]) for claim in data["known"]}
    texts = {message["handle"]: message["text"] for message in data["messages"]}
    changes = []
    for fact in read["facts"]:
        near = _find_near_texts(fact["text"], kept)
        changes.append(
            {
                "do": "same" if near else "add",
                "targets": near[:1],
                "source": fact["source"],
                "quote": texts[fact["source"]][fact["start"] : fact["end"]],
                "owner": fact["owner"],
                "text": fact["text"],
                "relation": fact["predicate"] or fact["verb"],
                "value": fact["object"],
                "state": "planned" if fact["polarity"] == "planned" else "now",
            }
        )
    return {name: read[name] for name in data["wanted"]} | {"changes": changes}


def _read_messages(data: Data) -> Data:
    engine = LocalEngine()
    reply: Data = {"facts": [], "entities": [], "relations": [], "speech_acts": [], "exchanges": []}
    history = [_build_utterance(said) for said in data["history"]]
    for handle in dict.fromkeys(message["exchange"] for message in data["messages"]):
        said = [_build_utterance(m) for m in data["messages"] if m["exchange"] == handle]
        exchange = Exchange(said, history, data["participants"], data["subject"])
        (built,) = engine.extract_memories([exchange])
        _add_construction(reply, handle, built)
        history = [*history, *said]
    return reply


def _build_utterance(said: Data) -> Utterance:
    at = datetime.fromisoformat(said["at"])
    return Utterance(said["handle"], said["speaker"], said["role"], said["text"], at)


def _add_construction(reply: Data, handle: str, built: Extraction) -> None:
    first = len(reply["facts"])
    reply["facts"] += [
        {
            "text": fact.text,
            "source": fact.sources[0].handle,
            "start": fact.sources[0].start,
            "end": fact.sources[0].end,
            "owner": fact.owner,
            "subject": fact.subject,
            "verb": fact.verb,
            "object": fact.object,
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


def _answer_graph_entities(data: Data) -> Data:
    return {"entities": _read_messages(data | {"history": []})["entities"]}


def _find_near_texts(text: str, kept: Mapping[str, frozenset[str]]) -> list[str]:
    """Handles of texts that share most of their words with this one, the nearest first."""
    words = _extract_words(text)
    shared = {handle: _compute_word_overlap(words, other) for handle, other in kept.items()}
    return sorted((h for h, share in shared.items() if share > 0.7), key=lambda h: -shared[h])


def _answer_resolve(data: Data) -> Data:
    """What shares most of its words is the same, the rest is new."""
    kept = {each["handle"]: _extract_words(each["text"]) for each in [*data["kept"], *data["new"]]}
    decisions = []
    for new in data["new"]:
        near = _find_near_texts(new["text"], {handle: kept[handle] for handle in new["compare"]})
        told = {"op": "same", "target": near[0]} if near else {"op": "add"}
        decisions.append({"candidate": new["handle"], "reason": "by its words"} | told)
    return {"decisions": decisions}


def _describe_note(text: str) -> Data:
    words = _pick_keywords([text])
    return {"keywords": words, "tags": words[:3], "context": _get_first_sentence(text)}


def _answer_link_evolve(data: Data) -> Data:
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


def _answer_chain(data: Data) -> Data:
    before = (data["previous"] or {}).get("text", "")
    told = []
    for page in data["pages"]:
        text = page["text"]
        overlap = _compute_word_overlap(_extract_words(before), _extract_words(text))
        answer = {"handle": page["handle"], "continues": bool(before) and overlap > 0.04}
        told.append(answer | {"summary": _get_first_sentence(text)})
        before = text
    return {"pages": told}


def _answer_themes(data: Data) -> Data:
    pages = data["pages"]
    words = _pick_keywords([page["text"] for page in pages])
    handles = [page["handle"] for page in pages]
    text = " ".join(_get_first_sentence(page["text"]) for page in pages[:3])
    return {"themes": [{"name": words[0], "keywords": words, "text": text, "pages": handles}]}


def _answer_segment_refresh(data: Data) -> Data:
    texts = [page["text"] for page in data["pages"]]
    return {
        "text": " ".join([data["summary"], *map(_get_first_sentence, texts)]),
        "keywords": _pick_keywords(texts),
    }


def _answer_episode_gate(data: Data) -> Data:
    said = _extract_words(" ".join(page["text"] for page in data["window"]))
    shift = _compute_word_overlap(said, _extract_words(data["newest"]["text"])) < 0.02
    return {"open": shift, "cause": "shift" if shift else "none"}


def _summarise(parts: Sequence[Data], most: int) -> Data:
    """A title, and the first sentences of the first parts."""
    texts = [part["text"] for part in parts]
    sentences = map(_get_first_sentence, texts[:most])
    return {"title": _pick_keywords(texts)[0], "text": " ".join(sentences)}


def _answer_fold_summary(data: Data) -> Data:
    said = " ".join([data["summary"], *(_get_first_sentence(m["text"]) for m in data["messages"])])
    return {"text": " ".join(said.split()[-data["max_words"] :])}


def _answer_kb_extract(data: Data) -> Data:
    said = [
        {"text": _get_first_sentence(p["text"]), "evidence": [p["handle"]]}
        for p in data["pages"][:5]
    ]
    return {"user": said, "agent": []}


def _answer_trait_update(data: Data) -> Data:
    page = data["pages"][0]["handle"]
    told = [
        {"key": key, "level": "medium", "why": "by the way of talking", "evidence": [page]}
        for key in list(data["keys"])[:2]
    ]
    return {"traits": told}


_ANSWER_BY_PURPOSE: Mapping[str, Callable[[Data], Data]] = {
    "construct": _answer_construct,
    "extract_facts": _read_messages,
    "graph_entities": _answer_graph_entities,
    "graph_relations": lambda data: {"relations": []},
    "resolve": _answer_resolve,
    "merge_check": lambda data: {
        "decisions": [{"pair": pair["handle"], "same": False} for pair in data["pairs"]]
    },
    "note_build": lambda data: {
        "notes": [{"handle": n["handle"]} | _describe_note(n["text"]) for n in data["notes"]]
    },
    "link_evolve": _answer_link_evolve,
    "chain": _answer_chain,
    "themes": _answer_themes,
    "segment_refresh": _answer_segment_refresh,
    "episode_gate": _answer_episode_gate,
    "episode_write": lambda data: _summarise(data["exchanges"], 6),
    "fold_summary": _answer_fold_summary,
    "digest": lambda data: _summarise(data["parts"], 8),
    "kb_extract": _answer_kb_extract,
    "trait_update": _answer_trait_update,
}


def _extract_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]{4,}", text.lower())) - _COMMON_WORDS


def _compute_word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _pick_keywords(texts: Sequence[str]) -> list[str]:
    counted = Counter(word for text in texts for word in sorted(_extract_words(text)))
    return [word for word, _ in counted.most_common(6)] or ["talk"]


def _get_first_sentence(text: str) -> str:
    """The first sentence, of 200 characters at most."""
    return re.split(r"(?<=[.!?。])\s", text.strip())[0][:200] or "Something was said."
