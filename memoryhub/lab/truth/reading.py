"""What an engine reads of dialogues, before anything is decided: no database, seconds a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memoryhub.engines.types import Engine, Exchange, ExtractionOptions, FactCandidate, Utterance
from memoryhub.lab.truth.dialogues import TruthDialogue, TruthTurn, is_matching
from memoryhub.lab.truth.measure import TruthScore

_MAX_HISTORY = 10  # turns of the session that an exchange is read after
_BATCH = 32  # exchanges a call


def measure_reading(engine: Engine, dialogues: Sequence[TruthDialogue]) -> TruthScore:
    """`read`: claims that were told, and one was read of that turn that says it; `ended`: endings
    of which one was read; `unasserted`: what was said and not claimed, and not read as holding;
    `wanted`: what was read of people's turns and is a claim of the reading (the others need not be
    wrong: readings hold only what matters)."""
    score = TruthScore()
    asked = [(d, turns, e) for d in dialogues for turns, e in build_exchanges(d)]
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        built = engine.extract_memories([e for _, _, e in batch], ExtractionOptions(facts=True))
        for (dialogue, turns, _), extraction in zip(batch, built, strict=True):
            for turn in turns:
                told = [
                    fact
                    for fact in extraction.facts
                    if any(source.handle == turn.ref for source in fact.sources)
                ]
                _check_turn(score, dialogue, turn, told)
    return score


def build_exchanges(dialogue: TruthDialogue) -> Iterator[tuple[list[TruthTurn], Exchange]]:
    """A person's turns with the assistant's that follow, as pages are formed."""
    people = {turn.speaker for turn in dialogue.turns if turn.role == "user"}
    for _, turns in dialogue.sessions:
        starts = [
            at
            for at, turn in enumerate(turns)
            if at == 0 or (turn.role == "user" and turns[at - 1].role != "user")
        ]
        for start, end in zip(starts, [*starts[1:], len(turns)], strict=True):
            own = list(turns[start:end])
            before = turns[max(0, start - _MAX_HISTORY) : start]
            yield (
                own,
                Exchange(
                    utterances=[_build_utterance(turn) for turn in own],
                    history=[_build_utterance(turn) for turn in before],
                    participants=sorted(people),
                    subject=dialogue.name or dialogue.subject,
                ),
            )


def _build_utterance(turn: TruthTurn) -> Utterance:
    return Utterance(turn.ref, turn.speaker, turn.role, turn.text, turn.at)  # type: ignore[arg-type]  # checked roles


def _check_turn(
    score: TruthScore, dialogue: TruthDialogue, turn: TruthTurn, told: Sequence[FactCandidate]
) -> None:
    claims = dialogue.claims
    texts = [fact.text for fact in told]
    wanted = set[str]()
    for change in dialogue.changes.get(turn.ref, ()):
        where = f"{dialogue.id}/{turn.ref} {change.do}"
        if change.id and change.match:
            found = [text for text in texts if is_matching(change.match, text)]
            wanted.update(found)
            where += f" {change.text!r} of {turn.text!r} read: {texts}"
            score.count("read", bool(found), where)
        if change.do == "end":
            over = [fact.text for fact in told if fact.polarity in ("ended", "denied")]
            wanted.update(over)
            old = [claims[target].text for target in change.targets]
            score.count("ended", bool(over), f"{where} {old} by {turn.text!r} read: {texts}")
        for target in change.targets:
            match = claims[target].match
            wanted.update(text for text in texts if is_matching(match, text))
    for said in dialogue.not_asserted:
        if said.ref == turn.ref:
            wrong = [
                fact.text
                for fact in told
                if fact.polarity == "holds"
                and fact.kind != "plan"
                and is_matching(said.match, fact.text)
            ]
            where = f"{dialogue.id}/{turn.ref} {said.kind} {turn.text!r} read: {wrong}"
            score.count("unasserted", not wrong, where)
    if turn.role == "user":
        for text in texts:
            score.count("wanted", text in wanted, f"{dialogue.id}/{turn.ref} {text!r}")
