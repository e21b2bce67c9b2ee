"""A space in which anything may happen, for X13: what is said is made of marked words, and a
scripted model answers every purpose with the marks it was shown, also against the rules.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

from memoryhub.dialogues.models import Session, Turn
from memoryhub.models_in_use import embedder, engine_for
from memoryhub.pipeline import erasing, promoting, queue, restoring
from memoryhub.pipeline.erasing import Target
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.windows import composed
from memoryhub.policies.services import policy_of
from memoryhub.recall import reinforcing
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes import archive, correcting
from notes.models import EvolutionEvent, Fact, Note, Segment
from personas import blocks, profiles, traits
from personas.blocks import Writer
from personas.models import CoreBlock
from tests.support.hub import Hub

OPS = ("add", "same", "augment", "contradict", "deny", "forget", "nonsense")
PREDICATES, VALUES = ("lives_in", "likes", "works_at"), ("Porto", "Braga", "Faro")
POLARITIES = ("holds", "holds", "holds", "denied", "ended")
MARK = re.compile(r"zq\d+[a-z]{6}")
Reply = dict[str, Any]
SWITCHES: dict[str, Any] = {
    "stm__pages": 1,
    "heat__tau": 2,
    "window__mode": "on",
    "portrait__enabled": True,
    "forget__mode": "sample",
    "episodes__session": True,
    "episodes__global": True,
    "episodes__rolling_exchanges": 3,
    "episodes__window_turns": 4,
}


class World:
    """One space of its own, beside another of the same tenant; what was said and is erased."""

    def __init__(self, hub: Hub, seed: int) -> None:
        self.hub = Hub(create_tenant("Any", uuid4().hex), hub.model, hub.embedder)
        self.dice, self.said, self.erased = random.Random(seed), 0, set[str]()
        self.texts: dict[UUID, str] = {}
        hub.model.allow(
            construct=self.construct,
            resolve=self.resolve,
            link_evolve=self.link_evolve,
            merge_check=self.merge_check,
            chain=self.chain,
            themes=self.themes,
            segment_refresh=lambda data: {"text": marks(data), "keywords": ["word"]},
            episode_gate=lambda _: {"open": self.dice.random() < 0.5, "cause": "topic"},
            episode_write=lambda data: {"title": "Talk", "text": marks(data)},
            fold_summary=lambda data: {"text": marks(data)},
            digest=lambda data: {"text": marks(data)},
            kb_extract=self.kb_extract,
            trait_update=self.trait_update,
        )
        self.hub.policy("balanced", **SWITCHES)
        other = Hub(self.hub.tenant, hub.model, hub.embedder, subject="Bea")
        other.exchange("lives_in Porto holds is what zq0abcdef means", "I see.")
        other.drain(hours=1)

    @property
    def space(self) -> Space:
        return self.hub.space

    # What happens

    def say_anything(self) -> None:
        choice = self.dice.choice
        self.say(choice(PREDICATES), choice(VALUES), choice(POLARITIES), choice(("s1", "s2")))

    def say(self, predicate: str, value: str, polarity: str, session: str) -> None:
        self.said += 1
        word = f"zq{self.said}{''.join(self.dice.choices('bcdfgh', k=6))}"
        text = f"{predicate} {value} {polarity} is what {word} means to me"
        self.hub.exchange(text, "I see.", session=session)
        self.hub.drain(hours=self.dice.choice((1, 3)))

    def promote(self) -> None:
        with tenant_scope(self.hub.tenant.id):
            Segment.objects.filter(space=self.space).update(promo_visits=9)
            promoting.plan(self.space, f"any:{self.hub.now}", self.hub.now)
        self.hub.drain(minutes=1)

    def flush(self) -> None:
        """What an agent is shown, in a window too small for it."""
        with tenant_scope(self.hub.tenant.id):
            effective = policy_of(self.space)
            tenant = Tenant.objects.get(id=self.hub.tenant.id)
            session = Session.objects.filter(space=self.space).order_by("id").last()
            engine = engine_for(tenant, effective.policy)
        if session is None:
            return
        window = effective.policy.window.model_copy(update={"context_limit": 200})
        small = effective.policy.model_copy(update={"window": window})
        composed(session, type(effective)(small, effective.version), engine, self.hub.now)
        self.hub.drain(minutes=5)

    def a_day_passes(self) -> None:
        """Digests of the day and of everything; fading; sweeps."""
        self.hub.drain(days=self.dice.choice((1, 2)))

    def ask(self) -> None:
        words = self.dice.choice((*VALUES, "What does Ana like?"))
        search(self.space, words, now=self.hub.now, deep=self.dice.random() < 0.3)
        reinforcing.flush()

    def archive(self) -> None:
        self.said += 1
        word = f"zq{self.said}{''.join(self.dice.choices('bcdfgh', k=6))}"
        text = f"Keep {word} in mind"
        archive.insert(self.space, text, embedder(), author="agent", now=self.hub.now)

    def undo(self) -> None:
        """Any kind of event alike, though there are more of some."""
        rows = EvolutionEvent.objects.filter(space=self.space).exclude(kind="erase")
        with tenant_scope(self.hub.tenant.id):
            kinds = sorted(set(rows.values_list("kind", flat=True)))
        event = self.pick(rows.filter(kind=self.dice.choice(kinds))) if kinds else None
        if event:
            restoring.undo(event, "eva", self.tick(), cascade=self.dice.random() < 0.6)

    def roll_back(self) -> None:
        to = self.hub.now - timedelta(hours=self.dice.randint(1, 6))
        restoring.roll_back(self.space, to, "eva", self.tick())

    def correct(self) -> None:
        what = self.dice.choice(("reword", "pin", "never", "ended", "restore"))
        fact = self.pick(Fact.objects.filter(space=self.space))
        if fact is None:
            return
        space, now = self.space, self.tick()
        if what == "reword":
            correcting.edit_text(space, fact.id, f"{fact.text} indeed", "eva", now)
        elif what == "pin":
            correcting.pin(space, "fact", fact.id, not fact.pinned, "eva", now)
        else:
            act = {"never": correcting.never_true, "ended": correcting.ended}
            act.get(what, correcting.restore)(space, fact.id, "eva", now)
        restoring.settle(space.id, space.tenant_id, uuid4().hex, now)

    def describe(self) -> None:
        """What a person says of the profile, of a trait, of a note."""
        with tenant_scope(self.hub.tenant.id):
            profiles.write(self.space, "role", self.dice.choice(VALUES), "eva", self.tick())
            traits.correct(self.space, "openness", "high", "eva", self.tick())
        note = self.pick(Note.objects.filter(space=self.space, retired_at=None))
        if note:
            correcting.delete_note(self.space, note.id, "eva", self.tick())

    def edit_block(self) -> None:
        """An agent, after something was said, or a person: a block of the space or a shared one."""
        with tenant_scope(self.hub.tenant.id):
            turn = self.dice.choice([None, *Turn.objects.filter(space=self.space).exclude(text="")])
            by: Literal["agent", "person"] = "agent" if turn else "person"
            writer = Writer(by, by, self.tick(), self.space, turn.id if turn else None)
            block = self.dice.choice(self._blocks(writer))
            words = turn.text[:80] if turn else f"Note {self.said}"
            edits: list[Callable[[], object]] = [
                lambda: blocks.append(writer, block.id, words),
                lambda: blocks.append(writer, block.id, words),
                lambda: blocks.rethink(writer, block.id, words),
                lambda: blocks.delete(writer, block.id),
            ]
            self.dice.choice(edits)()

    def _blocks(self, writer: Writer) -> list[CoreBlock]:
        """Those there are, made where they are missing."""
        tenant = self.hub.tenant.id
        for label, space in (("human", self.space), ("rules", None)):
            if not CoreBlock.objects.filter(label=label, retired_at=None).exists():
                made = blocks.create(writer, label, tenant_id=tenant, space=space)
                if space is None:
                    blocks.attach(made, self.space)
        return [b for b in blocks.in_front_of(self.space) if not b.generated]

    def erase(self) -> None:
        rows = Turn.objects.filter(space=self.space, role="user").exclude(text="")
        if turn := self.pick(rows):
            erasing.execute(self.space, Target("turns", (turn.id,)), "eva", self.tick())
            self.erased.add(turn.text.split()[5])
            self.texts.pop(turn.id, None)
            self.hub.drain(minutes=5)

    def pick(self, rows: Any) -> Any:
        with tenant_scope(self.hub.tenant.id):
            found = list(rows.order_by("id"))
        return self.dice.choice(found) if found else None

    def tick(self) -> Any:
        self.hub.pass_time(minutes=1)
        return self.hub.now

    def settle(self) -> None:
        """What was planned for at once by the last operation is done."""
        with tenant_scope(self.hub.tenant.id):
            due = Job.objects.filter(space=self.space, state__in=queue.UNFINISHED)
            waiting = due.filter(run_after__lte=self.hub.now).exists()
        if waiting:
            self.hub.drain(seconds=1)

    # What the model says

    def construct(self, data: Reply) -> Reply:
        messages = data.get("messages", [data])
        found = [self._fact(m) for m in messages if len(str(m.get("text", "")).split()) > 6]
        found = [fact for fact in found if fact["predicate"] in PREDICATES]
        said = " ".join(str(m.get("text", "")) for m in messages)
        names = {f["object"]: {"name": f["object"], "type": "place"} for f in found}
        return {
            "facts": found,
            "entities": [*names.values(), {"name": "Ana", "type": "person"}],
            "relations": [
                {"source": "Ana", "label": f["predicate"], "target": f["object"], "fact": n}
                for n, f in enumerate(found)
            ],
            "note": {"keywords": said.split()[:5], "tags": [], "context": said[:100]},
            "speech_acts": [],
        }

    def _fact(self, message: Reply) -> Reply:
        words = str(message["text"]).split()
        return {
            "text": f"Ana {words[2]} {words[0]} {words[1]} with {words[5]}",
            "source": message["handle"],
            "quote": words[1],
            "owner": "Ana",
            "subject": "Ana",
            "verb": words[0],
            "object": words[1],
            "predicate": words[0],
            "kind": "state",
            "polarity": words[2],
            "correction": self.dice.random() < 0.2,
        }

    def resolve(self, data: Reply) -> Reply:
        decisions = [
            {
                "candidate": new["handle"],
                "op": self.dice.choice(OPS),
                "target": self.dice.choice([*new.get("compare", []), "m99"]),
                "text": new["text"],
            }
            for new in data["new"]
        ]
        return {"decisions": decisions}

    def link_evolve(self, data: Reply) -> Reply:
        new = [note["handle"] for note in data["notes"]]
        known = [note["handle"] for note in data["known"]] or ["m99"]
        links = [{"from": handle, "to": self.dice.choice([*known, *new])} for handle in new]
        evolved = {"handle": self.dice.choice(known), "context": marks(data), "keywords": ["x"]}
        return {"links": links, "neighbours": [evolved]}

    def merge_check(self, data: Reply) -> Reply:
        pairs = [pair.get("pair", pair.get("handle", "")) for pair in data["pairs"]]
        return {"decisions": [{"pair": p, "same": self.dice.random() < 0.5} for p in pairs]}

    def chain(self, data: Reply) -> Reply:
        pages = [
            {
                "handle": page["handle"],
                "continues": self.dice.random() < 0.5,
                "summary": marks(page),
            }
            for page in data["pages"]
        ]
        return {"pages": pages}

    def themes(self, data: Reply) -> Reply:
        return {
            "themes": [
                {
                    "name": marks(page),
                    "keywords": self.dice.sample(("sea", "work", "home", "food"), 2),
                    "text": marks(page),
                    "pages": [page["handle"]],
                }
                for page in data["pages"]
            ]
        }

    def kb_extract(self, data: Reply) -> Reply:
        items = [
            {"text": f"Ana keeps {marks(page)}", "evidence": [page["handle"], "p99"]}
            for page in data["pages"]
        ]
        return {"user": items, "agent": []}

    def trait_update(self, data: Reply) -> Reply:
        said = [
            {
                "key": self.dice.choice([*data["keys"][:4], "nonsense"]),
                "level": self.dice.choice(("high", "low", "very high")),
                "why": f"said {marks(page)}",
                "evidence": [page["handle"]],
                "confidence": 0.8,
            }
            for page in data["pages"]
        ]
        return {"traits": said}


def marks(data: Any) -> str:
    """The marked words somewhere in what a model was shown: its words, as in a real summary."""
    found = MARK.findall(json.dumps(data))
    return " ".join(["said", *dict.fromkeys(found)])[:300]
