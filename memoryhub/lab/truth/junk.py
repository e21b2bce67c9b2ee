"""A sample of what the hub derives, to be read by a person: `manage.py lab junk`.

What is drawn is the same each time for the same texts, so that a reading can be kept beside it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryhub.dialogues.messages import hash_text
from memoryhub.lab.truth.dialogues import TruthDialogue
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Episode, Fact, Link, Revision
from personas.models import Trait

# How many of each kind are read.
SAMPLE_SIZES: Mapping[str, int] = {
    "fact": 200,
    "link": 80,
    "evolution": 80,
    "digest": 20,
    "trait": 40,
}
_COLUMNS = ("key", "kind", "verdict", "text", "source")
_DESCRIBING_COLUMNS = ("keywords", "tags", "context")


@dataclass(frozen=True, slots=True)
class DerivedSample:
    """Something derived, in words, and what it was derived from."""

    kind: str
    dialogue: str
    text: str
    source: str

    @property
    def key(self) -> str:
        return str(hash_text(f"{self.kind} {self.text} {self.source}"))


def collect_samples(space: Space, dialogue: TruthDialogue) -> list[DerivedSample]:
    """All that a space holds of the kinds that are read. Opens its own scope; six statements."""
    with tenant_scope(space.tenant_id):
        found = {
            "fact": _list_facts(space),
            "link": _list_links(space),
            "evolution": _list_evolutions(space),
            "digest": [(each.text, each.kind) for each in _list_digests(space)],
            "trait": [
                (f"{trait.owner}: {trait.key} {trait.level}", trait.rationale)
                for trait in Trait.objects.filter(space=space, retired_at=None, valid_to=None)
            ],
        }
    return [
        DerivedSample(kind, dialogue.id, text, source)
        for kind, rows in found.items()
        for text, source in rows
    ]


def draw_samples(found: Iterable[DerivedSample]) -> list[DerivedSample]:
    """Of each kind as many as are read, by the hash of their words."""
    rows = sorted(found, key=lambda sample: sample.key)
    return [
        sample
        for kind, size in SAMPLE_SIZES.items()
        for sample in [row for row in rows if row.kind == kind][:size]
    ]


def write_samples(path: Path, drawn: Sequence[DerivedSample]) -> Counter[str]:
    """Write them as lines of key, kind, verdict, text and source with tabs between, and keep the
    verdicts that a person has put beside those of the same key. Returns how many have which, as
    "fact useful"; what nobody has read is "fact unread"."""
    known = _read_verdicts(path) if path.exists() else {}
    rows = [(s.key, s.kind, known.get(s.key, ""), s.text, s.source) for s in drawn]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([_COLUMNS, *([" ".join(cell.split()) for cell in row] for row in rows)])
    return Counter(f"{kind} {verdict or 'unread'}" for _, kind, verdict, _, _ in rows)


def _read_verdicts(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["key"]: row["verdict"] for row in csv.DictReader(file, delimiter="\t")}


def _list_facts(space: Space) -> list[tuple[str, str]]:
    links = Derivation.objects.filter(space=space, child_type="fact", role="support")
    said = {link.child_id: link.turn.text for link in links.select_related("turn")}
    rows = Fact.objects.filter(space=space, retired_at=None)
    return [
        (f"{fact.owner}: {fact.text} [{fact.polarity}]", said.get(fact.id, "")) for fact in rows
    ]


def _list_links(space: Space) -> list[tuple[str, str]]:
    links = Link.objects.filter(space=space, retired_at=None, active=True)
    return [
        (f"{link.kind}: {link.reason}", f"{link.a.content} <> {link.b.content}")
        for link in links.select_related("a", "b")
    ]


def _list_evolutions(space: Space) -> list[tuple[str, str]]:
    rows = Revision.objects.filter(space=space, event__kind="evolve", row_type="note")
    told = []
    for row in rows.select_related("event"):
        changed = _find_changed(row.before or {}, row.after or {})
        if changed:
            told.append((changed, row.event.reason))
    return told


def _find_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    pairs = ((name, before.get(name), after.get(name)) for name in _DESCRIBING_COLUMNS)
    return "; ".join(f"{name}: {a} -> {b}" for name, a, b in pairs if a != b and before)


def _list_digests(space: Space) -> Sequence[Episode]:
    kinds = (Episode.Kind.DAY, Episode.Kind.TOPIC, Episode.Kind.GLOBAL)
    return list(Episode.objects.filter(space=space, retired_at=None, kind__in=kinds))
