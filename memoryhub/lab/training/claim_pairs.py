"""Pairs of claims from dialogues whose readings say what the newer one does to the older.

Both sides come as the reading has them, in sentences that stand alone, and as the engine reads them
of the turns, matched by the reading's words: what is learned has to hold for what is really read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Literal

import numpy as np

from memoryhub.engines.local.comparison.pairs import ClaimView
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import (
    Embedder,
    Engine,
    Exchange,
    ExtractionOptions,
    FactCandidate,
    Utterance,
)
from memoryhub.lab.datasets.types import Dialogue
from memoryhub.lab.truth.dialogues import TruthChange, TruthDialogue, TruthTurn, is_matching
from memoryhub.lab.truth.reading import build_exchanges
from notes.index.indexer import strip_names

_BATCH = 32  # exchanges a call

PairLabel = Literal["closes", "same", "adds", "apart"]
_LABELS: Mapping[str, PairLabel] = {
    "same": "same",
    "refine": "adds",
    "replace": "closes",
    "end": "closes",
    "wrong": "closes",
}


@dataclass(frozen=True, slots=True)
class PairGroup:
    """A new claim beside what was held when it was told. `source`: "told" for the reading's words
    on the older side, "read" for the engine's. `claims`: the reading's claims that each says."""

    dialogue: TruthDialogue
    source: Literal["told", "read"]
    new: ClaimView
    held: Sequence[ClaimView]
    labels: Sequence[PairLabel]
    claims: Sequence[frozenset[str]]
    is_message: bool = False  # the new side is a whole message, for want of a sentence
    is_quiet: bool = False  # of talk in which hardly anything is taken back
    is_assisted: bool = True  # an assistant is told, or nobody else

    @property
    def subject(self) -> str:
        return self.dialogue.name or self.dialogue.subject


@dataclass(slots=True)
class _Walk:
    """A dialogue on its way: the reading's claims that are open, and what was read so far."""

    told: dict[str, ClaimView] = field(default_factory=dict)
    read: list[tuple[ClaimView, frozenset[str]]] = field(default_factory=list)

    def list_held(self) -> Iterator[tuple[Literal["told", "read"], ClaimView, frozenset[str]]]:
        for at, view in self.told.items():
            yield "told", view, frozenset({at})
        for view, claims in self.read:
            if claims:
                yield "read", view, claims


def build_pair_groups(dialogues: Sequence[TruthDialogue], engine: Engine) -> list[PairGroup]:
    """All pairs of each dialogue, turn by turn. What a pair is, is left out where nobody said."""
    read = _read_turns(dialogues, engine)
    told = _read_claims(dialogues, engine)
    return [group for each in dialogues for group in _walk_dialogue(each, read, told)]


def add_unmet_endings(groups: Sequence[PairGroup]) -> list[PairGroup]:
    """With each new claim that ends something, the same beside the rest alone: in a hub what is
    over was often never told, and what comes nearest is not over for it."""
    unmet = []
    for group in groups:
        rest = [at for at, label in enumerate(group.labels) if label != "closes"]
        if 0 < len(rest) < len(group.held):
            unmet.append(
                replace(
                    group,
                    held=[group.held[at] for at in rest],
                    labels=[group.labels[at] for at in rest],
                    claims=[group.claims[at] for at in rest],
                )
            )
    return [*groups, *unmet]


_MOST_ALIKE = 60  # claims that stand beside a new one, the most alike first


def build_quiet_groups(
    dialogues: Sequence[Dialogue], engine: Engine, embedder: Embedder
) -> list[PairGroup]:
    """What is read of talk without readings, beside what it most resembles of the same owner. In
    talk of what people did and felt hardly anything is taken back: all of it stands apart."""
    told = [_wrap_dialogue(each) for each in dialogues]
    read = _read_turns(told, engine)
    return [
        replace(group, is_assisted=any(turn.role == "assistant" for turn in dialogue.turns))
        for dialogue in told
        for group in _pair_quiet(
            dialogue,
            [view for turn in dialogue.turns for view in read.get((dialogue.id, turn.ref), ())],
            embedder,
        )
    ]


def _pair_quiet(
    dialogue: TruthDialogue, views: Sequence[ClaimView], embedder: Embedder
) -> Iterator[PairGroup]:
    vectors = embedder.embed([strip_names(view.text, (view.owner,)) for view in views])
    for at, view in enumerate(views):
        alike = vectors[:at] @ vectors[at]
        near = [
            views[n]
            for n in np.argsort(-alike)
            if views[n].owner == view.owner
            and views[n].said_at < view.said_at
            and (views[n].kind != "event" or views[n].polarity == "planned")
        ][:_MOST_ALIKE]
        if near:
            apart: list[PairLabel] = ["apart"] * len(near)
            claims = [frozenset({old.text}) for old in near]
            yield PairGroup(dialogue, "read", view, near, apart, claims, is_quiet=True)


def _wrap_dialogue(dialogue: Dialogue) -> TruthDialogue:
    """Without a reading. By itself it is what an author is to the others."""
    sessions = []
    for number, session in enumerate(dialogue.conversation.sessions):
        turns = [
            TruthTurn(
                f"s{number}t{at}",
                message.speaker or dialogue.name,
                message.role,
                message.content,
                message.timestamp.replace(tzinfo=message.timestamp.tzinfo or UTC),
            )
            for at, message in enumerate(session.messages)
            if message.timestamp is not None
        ]
        if turns:
            sessions.append((f"s{number}", turns))
    words = " ".join(turn.text for _, turns in sessions[:1] for turn in turns)
    return TruthDialogue(
        id=dialogue.name,
        author=f"quiet {dialogue.name}",
        language=detect_language(words),
        subject=dialogue.name,
        name="",
        sessions=sessions,
        changes={},
        current=frozenset(),
        past=frozenset(),
        gone=frozenset(),
        not_asserted=(),
        as_of=(),
        questions=(),
    )


def _read_turns(
    dialogues: Sequence[TruthDialogue], engine: Engine
) -> Mapping[tuple[str, str], Sequence[ClaimView]]:
    """By dialogue and turn, what the engine reads of people's turns."""
    pairs = [(d, turns, e) for d in dialogues for turns, e in build_exchanges(d)]
    found: dict[tuple[str, str], list[ClaimView]] = defaultdict(list)
    for (dialogue, turns, _), facts in zip(
        pairs, _extract(engine, [e for _, _, e in pairs]), strict=True
    ):
        said = {turn.ref: turn for turn in turns if turn.role == "user"}
        for fact in facts:
            turn = said.get(fact.sources[0].handle)
            if turn is not None:
                found[dialogue.id, turn.ref].append(_view_fact(fact, turn))
    return found


def _extract(engine: Engine, asked: Sequence[Exchange]) -> Iterator[Sequence[FactCandidate]]:
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        for each in engine.extract_memories(batch, ExtractionOptions(facts=True)):
            yield [fact for fact in each.facts if fact.sources]


def _view_fact(fact: FactCandidate, turn: TruthTurn) -> ClaimView:
    return ClaimView(
        text=fact.text,
        owner=fact.owner,
        said_at=turn.at,
        predicate_key=fact.predicate_key,
        is_single=fact.cardinality == "single",
        verb=fact.verb,
        object=fact.object or fact.complement,
        kind=fact.kind,
        polarity=fact.polarity,
        correction=fact.correction,
        said=turn.text,
    )


_NARRATOR = "narrator"


def _read_claims(
    dialogues: Sequence[TruthDialogue], engine: Engine
) -> Mapping[tuple[str, str, int], ClaimView]:
    """By dialogue, turn and place, the reading's own sentences, with slots as the engine reads
    them of these."""
    asked = [
        (dialogue, turn, at, change)
        for dialogue in dialogues
        for turn in dialogue.turns
        for at, change in enumerate(dialogue.changes.get(turn.ref, ()))
        if change.text
    ]
    exchanges = [
        Exchange(
            [Utterance("t", _NARRATOR, "user", change.text, turn.at)],
            participants=[dialogue.name or dialogue.subject],
            subject=dialogue.name or dialogue.subject,
        )
        for dialogue, turn, _, change in asked
    ]
    return {
        (dialogue.id, turn.ref, at): _view_change(dialogue, turn, change, facts)
        for (dialogue, turn, at, change), facts in zip(
            asked, _extract(engine, exchanges), strict=True
        )
    }


def _view_change(
    dialogue: TruthDialogue, turn: TruthTurn, change: TruthChange, facts: Sequence[FactCandidate]
) -> ClaimView:
    fact = facts[0] if facts else None
    over = change.state == "past" or change.do == "end"
    read = fact.polarity if fact and fact.polarity != "planned" else "holds"
    owner = fact.owner if fact and fact.owner != _NARRATOR else dialogue.name or dialogue.subject
    return ClaimView(
        text=change.text,
        owner=owner,
        said_at=turn.at,
        predicate_key=fact.predicate_key if fact else "",
        is_single=fact is not None and fact.cardinality == "single",
        verb=fact.verb if fact else "",
        object=fact.object or fact.complement if fact else "",
        kind=fact.kind if fact else "state",
        polarity="planned" if change.state == "planned" else "ended" if over else read,
        correction=change.do == "wrong",
        said=turn.text,
    )


def _walk_dialogue(
    dialogue: TruthDialogue,
    read: Mapping[tuple[str, str], Sequence[ClaimView]],
    told: Mapping[tuple[str, str, int], ClaimView],
) -> Iterator[PairGroup]:
    walk = _Walk()
    for turn in dialogue.turns:
        changes = dialogue.changes.get(turn.ref, ())
        news = [
            (change, view)
            for at, change in enumerate(changes)
            if (
                view := told.get((dialogue.id, turn.ref, at))
                or _view_ending(dialogue, turn, change)
            )
        ]
        for change, view in news:
            yield from _pair_told(dialogue, walk, changes, change, view)
        facts = [
            (view, frozenset(c.id for c in changes if c.id and _says(c, view)))
            for view in read.get((dialogue.id, turn.ref), ())
        ]
        for view, claims in facts:
            yield from _pair_read(dialogue, walk, changes, view, claims)
        over = {
            target
            for change in changes
            if change.do in ("replace", "end", "wrong", "forget")
            for target in change.targets
        }
        walk.told = {at: view for at, view in walk.told.items() if at not in over}
        walk.told |= {change.id: view for change, view in news if change.id and change.text}
        walk.read = [(view, claims - over) for view, claims in walk.read] + facts


def _says(change: TruthChange, view: ClaimView) -> bool:
    return bool(change.match) and is_matching(change.match, view.text)


def _view_ending(dialogue: TruthDialogue, turn: TruthTurn, change: TruthChange) -> ClaimView | None:
    """What only ends something has no sentence in the reading: the message itself."""
    if change.do != "end":
        return None
    owner = dialogue.name or dialogue.subject
    return ClaimView(turn.text, owner, turn.at, polarity="ended", said=turn.text)


def _group(
    dialogue: TruthDialogue,
    new: ClaimView,
    found: Sequence[tuple[Literal["told", "read"], ClaimView, frozenset[str], PairLabel]],
) -> Iterator[PairGroup]:
    for source in ("told", "read"):
        own = [each for each in found if each[0] == source]
        if own:
            _, held, claims, labels = zip(*own, strict=True)
            whole = new.text == new.said
            yield PairGroup(dialogue, own[0][0], new, held, labels, claims, whole)


def _pair_told(
    dialogue: TruthDialogue,
    walk: _Walk,
    changes: Sequence[TruthChange],
    change: TruthChange,
    view: ClaimView,
) -> Iterator[PairGroup]:
    """What another change of the same message does something to is nobody's business here."""
    label = _LABELS.get(change.do, "apart")
    own = frozenset(change.targets)
    others = {target for each in changes for target in each.targets} - own
    yield from _group(
        dialogue,
        view,
        [
            (source, old, claims, label if claims & own else "apart")
            for source, old, claims in walk.list_held()
            if claims & own or not claims & others
        ],
    )


def _pair_read(
    dialogue: TruthDialogue,
    walk: _Walk,
    changes: Sequence[TruthChange],
    view: ClaimView,
    says: frozenset[str],
) -> Iterator[PairGroup]:
    """What was read, by the change that it says; what says none closes nothing, unless it says that
    something is over and its message ends one thing."""
    own = {t: _LABELS[c.do] for c in changes if c.id in says and c.do in _LABELS for t in c.targets}
    told = {t: _LABELS[c.do] for c in changes if c.do in _LABELS for t in c.targets}
    known, found = dialogue.claims, []
    for source, old, claims in walk.list_held():
        label = next((own[claim] for claim in sorted(claims) if claim in own), None)
        if label is None and (touched := {told[claim] for claim in claims if claim in told}):
            over = view.polarity in ("ended", "denied") and "closes" in touched
            again = "same" in touched and any(_says(known[claim], view) for claim in claims)
            label = "closes" if over else "same" if again else None
        elif label is None and not any(_says(known[claim], view) for claim in claims):
            label = "apart"
        if label is not None:
            found.append((source, old, claims, label))
    yield from _group(dialogue, view, found)
