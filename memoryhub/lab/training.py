"""`lab train`: what each signal of a search is worth, learned from labelled questions.

The candidates are those the search service ranks. Within a kind the weights are learned
(learning.py). What a fact or a note has to give way to turns can't be: a note of two turns is
twice as likely to hold evidence, and longer. So a few such constants are tried, and the best for
recall at 10 and 30 results and within 250, 500 and 1,000 tokens is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from uuid import UUID

import numpy as np
from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets import Dataset, Dialogue, Question
from memoryhub.lab.learning import Group, Numbers, learn
from memoryhub.lab.metrics import Outcome, summary
from memoryhub.lab.throwaway import load_derived, throwaway_tenant
from memoryhub.models_in_use import embedder
from memoryhub.recall.arms import Visibility
from memoryhub.recall.asking import Clock, prepare
from memoryhub.recall.fusion import Candidate, fuse
from memoryhub.recall.hydration import Links, links_of
from memoryhub.recall.ranking import SPARE, WIDE, candidates_of
from memoryhub.recall.routing import Route
from memoryhub.recall.selection import distinct, relevant
from memoryhub.recall.services import KINDS
from memoryhub.recall.signals import signals
from memoryhub.recall.weights import Trained, Weights, WeightsFile
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

LIMIT = 30
# Where learning begins: everything counts alike in its direction, but a fact that states what is
# asked for counts double, and what an earlier question or the length tells is not known.
START: Mapping[str, float] = {
    "dense": 1.0,
    "lexical": 1.0,
    "rare": 1.0,
    "answers": 0.0,
    "speaker": 1.0,
    "date": 1.0,
    "when": 1.0,
    "predicate": 2.0,
    "asks": -1.0,
    "length": 0.0,
}
# How strongly weights are pulled back there, in questions; chosen by cross-validation.
PULL = 15.0
# For facts and for notes.
CONSTANTS = tuple(product((0.0, -0.3), (0.0, -0.3, -0.6)))
AIMS = ("recall@10", "recall@30", "recall<=250", "recall<=500", "recall<=1000")
OBJECTIVE = (
    "Within a kind: the log chance of evidence against all other candidates, pulled towards the "
    f"start. Between kinds: the mean of {', '.join(AIMS)}."
)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with everything that is ranked for it. `refs`: the turns each candidate stands
    for, by the data's own names."""

    question: Question
    way: Route
    found: Sequence[Candidate]
    links: Links
    refs: Sequence[frozenset[str]]
    tokens: Sequence[int]

    def groups(self) -> Iterator[Group]:
        """The candidates of each kind, by themselves."""
        columns = signals(self.way, self.found)
        values = np.stack([columns[name] for name in START], axis=1)
        right = np.array([bool(refs & self.question.evidence) for refs in self.refs])
        for kind in KINDS:
            own = np.array([candidate.kind == kind for candidate in self.found])
            yield Group(values[own], right[own])

    def outcome(self, weights: Weights) -> Outcome:
        """What a search by these weights would show."""
        at = {candidate.id: place for place, candidate in enumerate(self.found)}
        passed = relevant(fuse(self.way, self.found, weights))
        chosen = distinct(passed[: SPARE * LIMIT], self.links, LIMIT)
        places = [at[scored.candidate.id] for scored in chosen]
        return Outcome(
            category=self.question.category,
            evidence=self.question.evidence,
            ranked=[self.refs[place] for place in places],
            tokens=[self.tokens[place] for place in places],
        )


def train(
    dataset: Dataset, conversations: Sequence[str], *, on: str = "", progress: Progress
) -> WeightsFile:
    """Learn from these conversations. Raises InvalidInput for unknown ones, or none to learn of."""
    samples = [
        sample
        for dialogue in _named(dataset, conversations)
        for sample in _samples_of(dialogue, progress)
    ]
    if not any(group.teaches for sample in samples for group in sample.groups()):
        raise InvalidInput("no question there names a turn that is found", field="conversations")
    progress(f"learning from {len(samples)} questions")
    weights = fit(samples)
    means = summary([sample.outcome(weights) for sample in samples])
    trained = Trained(
        data_sha256=dataset.sha256,
        conversations=tuple(conversations),
        questions=len(samples),
        objective=OBJECTIVE,
        start=START,
        pull=PULL,
        recall={name: means[name] for name in AIMS},
        on=on,
    )
    return WeightsFile(weights=weights, trained=trained)


def _named(dataset: Dataset, names: Sequence[str]) -> list[Dialogue]:
    known = {dialogue.name: dialogue for dialogue in dataset.dialogues}
    if not names or set(names) - known.keys():
        raise InvalidInput(f"some of {', '.join(known)}", field="conversations")
    return [known[name] for name in dict.fromkeys(names)]


def fit(samples: Sequence[Sample]) -> Weights:
    """The same samples always give the same weights."""
    groups = [group for sample in samples for group in sample.groups()]
    learned = learn(groups, np.array(list(START.values())), PULL)
    tried = [_weights(learned, fact, note) for fact, note in CONSTANTS]
    return max(tried, key=lambda weights: _worth(samples, weights))


def _weights(learned: Numbers, fact: float, note: float) -> Weights:
    """As multiples of what meaning is worth."""
    unit = learned[list(START).index("dense")]
    named = dict(zip(START, (learned / unit).round(3).tolist(), strict=True))
    return Weights(**named, fact=fact, note=note)


def _worth(samples: Sequence[Sample], weights: Weights) -> float:
    means = summary([sample.outcome(weights) for sample in samples])
    return fmean(means[name] for name in AIMS)


def _samples_of(dialogue: Dialogue, progress: Progress) -> list[Sample]:
    judged = [q for q in dialogue.questions if q.evidence and not q.unanswerable]
    progress(f"{dialogue.name}: {dialogue.turn_count} turns, {len(judged)} questions with evidence")
    with throwaway_tenant() as tenant:
        space = load_derived(tenant, dialogue)
        with tenant_scope(tenant.id):
            said = Turn.objects.filter(space=space).values_list("id", "external_id")
            names = {at: frozenset({name}) for at, name in said}
        return [sample_of(space, question, names) for question in judged]


def sample_of(space: Space, question: Question, names: Mapping[UUID, frozenset[str]]) -> Sample:
    """Asked as the service would. `names`: what the data calls each turn."""
    ask, _ = prepare(space, question.text, Visibility(timezone.now()), Clock())
    with tenant_scope(space.tenant_id):
        found = candidates_of(ask, KINDS, WIDE * LIMIT).seen
        links = links_of(c.id for c in found if c.kind != "turn")
    refs = [
        frozenset().union(*(names[turn] for turn in _turns(candidate, links)))
        for candidate in found
    ]
    tokens = embedder().count_tokens([candidate.text for candidate in found])
    return Sample(question, ask.way, found, links, refs, tokens)


def _turns(candidate: Candidate, links: Links) -> Sequence[UUID]:
    return [candidate.id] if candidate.kind == "turn" else list(links.get(candidate.id, ()))
