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
from memoryhub.inference.selection import get_configured_embedder, select_engine
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.episodes.windows import compose_window
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.log import reinforcement
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes import archive
from notes.models import EvolutionEvent, Fact, Note, Segment
from personas import blocks
from personas.blocks import BlockWriter
from personas.models import CoreBlock
from tests.support.hub import ScriptedHub

CHANGES = ("add", "same", "refine", "replace", "end", "wrong", "forget", "nonsense")
STATES = ("now", "now", "now", "past", "planned")
CLAIM_OPERATIONS = ("add", "same", "augment", "contradict", "deny", "forget", "nonsense")
PREDICATES, VALUES = ("lives_in", "likes", "works_at"), ("Porto", "Braga", "Faro")
MARK_PATTERN = re.compile(r"zq\d+[a-z]{6}")
Reply = dict[str, Any]
SWITCHES: dict[str, Any] = {
    "erase__on_request": "confirm",  # what is erased is told by the world
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


class RandomWorld:
    """One space of its own, beside another of the same tenant; what was said and is erased."""

    def __init__(self, hub: ScriptedHub, seed: int) -> None:
        self.hub = ScriptedHub(create_tenant("Any", uuid4().hex), hub.model, hub.embedder)
        self.dice, self.said, self.erased = random.Random(seed), 0, set[str]()
        self.texts: dict[UUID, str] = {}
        hub.model.allow(
            construct=self.reply_construct,
            resolve=self.reply_resolve,
            link_evolve=self.reply_link_evolve,
            merge_check=self.reply_merge_check,
            chain=self.reply_chain,
            themes=self.reply_themes,
            segment_refresh=lambda data: {"text": find_marks(data), "keywords": ["word"]},
            episode_gate=lambda _: {"open": self.dice.random() < 0.5, "cause": "topic"},
            episode_write=lambda data: {"title": "Talk", "text": find_marks(data)},
            fold_summary=lambda data: {"text": find_marks(data)},
            digest=lambda data: {"text": find_marks(data)},
            kb_extract=self.reply_kb_extract,
            trait_update=self.reply_trait_update,
        )
        self.hub.set_policy("balanced", **SWITCHES)
        other = ScriptedHub(self.hub.tenant, hub.model, hub.embedder, subject="Bea")
        other.say_exchange("lives_in Porto now is what zq0abcdef means", "I see.")
        other.run_due_jobs(hours=1)

    @property
    def space(self) -> Space:
        return self.hub.space

    # What happens

    def say_anything(self) -> None:
        choice = self.dice.choice
        self.say(choice(PREDICATES), choice(VALUES), choice(STATES), choice(("s1", "s2")))

    def say(self, predicate: str, value: str, polarity: str, session: str) -> None:
        self.said += 1
        word = f"zq{self.said}{''.join(self.dice.choices('bcdfgh', k=6))}"
        text = f"{predicate} {value} {polarity} is what {word} means to me"
        self.hub.say_exchange(text, "I see.", session=session)
        self.hub.run_due_jobs(hours=self.dice.choice((1, 3)))

    def promote_segments(self) -> None:
        with tenant_scope(self.hub.tenant.id):
            Segment.objects.filter(space=self.space).update(promo_visits=9)
            promotion.plan_promotion(self.space, f"any:{self.hub.now}", self.hub.now)
        self.hub.run_due_jobs(minutes=1)

    def flush_window(self) -> None:
        """What an agent is shown, in a window too small for it."""
        with tenant_scope(self.hub.tenant.id):
            effective = load_effective_policy(self.space)
            tenant = Tenant.objects.get(id=self.hub.tenant.id)
            session = Session.objects.filter(space=self.space).order_by("id").last()
            engine = select_engine(tenant, effective.policy)
        if session is None:
            return
        window = effective.policy.window.model_copy(update={"context_limit": 200})
        small = effective.policy.model_copy(update={"window": window})
        compose_window(session, type(effective)(small, effective.version), engine, self.hub.now)
        self.hub.run_due_jobs(minutes=5)

    def let_days_pass(self) -> None:
        """Digests of the day and of everything; fading; sweeps."""
        self.hub.run_due_jobs(days=self.dice.choice((1, 2)))

    def ask_anything(self) -> None:
        words = self.dice.choice((*VALUES, "What does Ana like?"))
        search_memories(self.space, words, now=self.hub.now, deep=self.dice.random() < 0.3)
        reinforcement.flush_recalls()

    def archive_passage(self) -> None:
        self.said += 1
        word = f"zq{self.said}{''.join(self.dice.choices('bcdfgh', k=6))}"
        text = f"Keep {word} in mind"
        archive.add_passage(
            self.space, text, get_configured_embedder(), author="agent", now=self.hub.now
        )

    def undo_any_event(self) -> None:
        """Any kind of event alike, though there are more of some."""
        rows = EvolutionEvent.objects.filter(space=self.space).exclude(kind="erase")
        with tenant_scope(self.hub.tenant.id):
            kinds = sorted(set(rows.values_list("kind", flat=True)))
        event = self.pick_row(rows.filter(kind=self.dice.choice(kinds))) if kinds else None
        if event:
            corrections.undo_event(
                event, "eva", self.advance_clock(), cascade=self.dice.random() < 0.6
            )

    def roll_back(self) -> None:
        to = self.hub.now - timedelta(hours=self.dice.randint(1, 6))
        corrections.roll_back_space(self.space, to, "eva", self.advance_clock())

    def correct_any_fact(self) -> None:
        what = self.dice.choice(("reword", "pin", "retract", "end", "restore"))
        fact = self.pick_row(Fact.objects.filter(space=self.space))
        if fact is None:
            return
        space, now = self.space, self.advance_clock()
        if what == "reword":
            corrections.correct_fact(space, fact.id, f"{fact.text} indeed", "eva", now)
        elif what == "pin":
            corrections.set_pinned(space, "fact", fact.id, not fact.pinned, "eva", now)
        else:
            act = {"retract": corrections.retract_fact, "end": corrections.end_fact}
            act.get(what, corrections.restore_fact)(space, fact.id, "eva", now)

    def describe_person(self) -> None:
        """What a person says of the profile, of a trait, of a note."""
        said, now = self.dice.choice(VALUES), self.advance_clock()
        corrections.correct_profile(self.space, "role", said, "eva", now)
        corrections.correct_trait(self.space, "openness", "high", "eva", self.advance_clock())
        note = self.pick_row(Note.objects.filter(space=self.space, retired_at=None))
        if note:
            corrections.forget_note(self.space, note.id, "eva", self.advance_clock())

    def edit_block(self) -> None:
        """An agent, after something was said, or a person: a block of the space or a shared one."""
        with tenant_scope(self.hub.tenant.id):
            turn = self.dice.choice([None, *Turn.objects.filter(space=self.space).exclude(text="")])
            by: Literal["agent", "person"] = "agent" if turn else "person"
            writer = BlockWriter(
                by, by, self.advance_clock(), self.space, turn.id if turn else None
            )
            block = self.dice.choice(self._ensure_blocks(writer))
            words = turn.text[:80] if turn else f"Note {self.said}"
            edits: list[Callable[[], object]] = [
                lambda: blocks.append_to_block(writer, block.id, words),
                lambda: blocks.append_to_block(writer, block.id, words),
                lambda: blocks.rethink_block(writer, block.id, words),
                lambda: blocks.delete_block(writer, block.id),
            ]
            self.dice.choice(edits)()

    def _ensure_blocks(self, writer: BlockWriter) -> list[CoreBlock]:
        """Those there are, made where they are missing."""
        tenant = self.hub.tenant.id
        for label, space in (("human", self.space), ("rules", None)):
            if not CoreBlock.objects.filter(label=label, retired_at=None).exists():
                made = blocks.create_block(writer, label, tenant_id=tenant, space=space)
                if space is None:
                    blocks.attach_block(made, self.space)
        return [b for b in blocks.load_visible_blocks(self.space) if not b.generated]

    def erase_any_turn(self) -> None:
        rows = Turn.objects.filter(space=self.space, role="user").exclude(text="")
        if turn := self.pick_row(rows):
            erase_targets.execute_erasure(
                self.space, ErasureTarget("turns", (turn.id,)), "eva", self.advance_clock()
            )
            self.erased.add(turn.text.split()[5])
            self.texts.pop(turn.id, None)
            self.hub.run_due_jobs(minutes=5)

    def pick_row(self, rows: Any) -> Any:
        with tenant_scope(self.hub.tenant.id):
            found = list(rows.order_by("id"))
        return self.dice.choice(found) if found else None

    def advance_clock(self) -> Any:
        self.hub.pass_time(minutes=1)
        return self.hub.now

    def run_due_jobs(self) -> None:
        """What was planned for at once by the last operation is done."""
        with tenant_scope(self.hub.tenant.id):
            due = Job.objects.filter(space=self.space, state__in=Job.UNFINISHED_STATES)
            waiting = due.filter(run_after__lte=self.hub.now).exists()
        if waiting:
            self.hub.run_due_jobs(seconds=1)

    # What the model says

    def reply_construct(self, data: Reply) -> Reply:
        messages = data.get("messages", [data])
        known = [claim["handle"] for claim in data["known"]]
        found = [
            self._make_change_reply(m, known)
            for m in messages
            if len(str(m.get("text", "")).split()) > 6
        ]
        found = [change for change in found if change["relation"] in PREDICATES]
        said = " ".join(str(m.get("text", "")) for m in messages)
        names = {f["value"]: {"name": f["value"], "type": "place"} for f in found}
        return {
            "changes": found,
            "entities": [*names.values(), {"name": "Ana", "type": "person"}],
            "relations": [
                {"source": "Ana", "label": f["relation"], "target": f["value"], "fact": n}
                for n, f in enumerate(found)
            ],
            "note": {"keywords": said.split()[:5], "tags": [], "context": said[:100]},
        }

    def _make_change_reply(self, message: Reply, known: list[str]) -> Reply:
        words = str(message["text"]).split()
        return {
            "do": self.dice.choice(CHANGES),
            "targets": self.dice.sample([*known, "1", "m99"], self.dice.randint(0, 2)),
            "text": f"Ana {words[2]} {words[0]} {words[1]} with {words[5]}",
            "source": message["handle"],
            "quote": words[1],
            "owner": "Ana",
            "relation": words[0],
            "value": words[1],
            "state": words[2],
        }

    def reply_resolve(self, data: Reply) -> Reply:
        decisions = [
            {
                "candidate": new["handle"],
                "op": self.dice.choice(CLAIM_OPERATIONS),
                "target": self.dice.choice([*new.get("compare", []), "m99"]),
                "text": new["text"],
            }
            for new in data["new"]
        ]
        return {"decisions": decisions}

    def reply_link_evolve(self, data: Reply) -> Reply:
        new = [note["handle"] for note in data["notes"]]
        known = [note["handle"] for note in data["known"]] or ["m99"]
        links = [{"from": handle, "to": self.dice.choice([*known, *new])} for handle in new]
        evolved = {
            "handle": self.dice.choice(known),
            "context": find_marks(data),
            "keywords": ["x"],
        }
        return {"links": links, "neighbours": [evolved]}

    def reply_merge_check(self, data: Reply) -> Reply:
        pairs = [pair.get("pair", pair.get("handle", "")) for pair in data["pairs"]]
        return {"decisions": [{"pair": p, "same": self.dice.random() < 0.5} for p in pairs]}

    def reply_chain(self, data: Reply) -> Reply:
        pages = [
            {
                "handle": page["handle"],
                "continues": self.dice.random() < 0.5,
                "summary": find_marks(page),
            }
            for page in data["pages"]
        ]
        return {"pages": pages}

    def reply_themes(self, data: Reply) -> Reply:
        return {
            "themes": [
                {
                    "name": find_marks(page),
                    "keywords": self.dice.sample(("sea", "work", "home", "food"), 2),
                    "text": find_marks(page),
                    "pages": [page["handle"]],
                }
                for page in data["pages"]
            ]
        }

    def reply_kb_extract(self, data: Reply) -> Reply:
        items = [
            {"text": f"Ana keeps {find_marks(page)}", "evidence": [page["handle"], "p99"]}
            for page in data["pages"]
        ]
        return {"user": items, "agent": []}

    def reply_trait_update(self, data: Reply) -> Reply:
        said = [
            {
                "key": self.dice.choice([*list(data["keys"])[:4], "nonsense"]),
                "level": self.dice.choice(("high", "low", "very high")),
                "why": f"said {find_marks(page)}",
                "evidence": [page["handle"]],
                "confidence": 0.8,
            }
            for page in data["pages"]
        ]
        return {"traits": said}


def find_marks(data: Any) -> str:
    """The marked words somewhere in what a model was shown: its words, as in a real summary."""
    found = MARK_PATTERN.findall(json.dumps(data))
    return " ".join(["said", *dict.fromkeys(found)])[:300]
