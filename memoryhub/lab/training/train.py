"""`lab train`: what each signal of a search is worth, learned from labelled questions: such as
name the turns that are their evidence, and everyday ones, whose right value should come first.

The candidates are those the search service ranks. Within a kind the weights are learned
(learning.py). What a fact or a note has to give way to turns can't be: a note of two turns is
twice as likely to hold evidence, and longer. So a few such constants are tried, and the best for
recall at 10 and 30 results and within 250, 500 and 1,000 tokens is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from statistics import fmean
from uuid import UUID

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.lab.datasets.types import Dataset, DatasetQuestion, Dialogue
from memoryhub.lab.metrics.rankings import RankingOutcome, compute_means
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant, write_derived_dialogue
from memoryhub.lab.training.learn import CandidateGroup, learn_weights
from memoryhub.lab.truth.dialogues import EverydayQuestion, TruthDialogue
from memoryhub.lab.truth.everyday import is_right
from memoryhub.lab.truth.run import tell_dialogue
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.recall.question.parse import ParsedQuestion
from memoryhub.recall.question.prepare import StageTimer, prepare_question
from memoryhub.recall.ranking.rank import SPARE_FACTOR, WIDE, retrieve_ranking_pool
from memoryhub.recall.ranking.score import MemoryCandidate, score_candidates
from memoryhub.recall.ranking.select import filter_relevant, select_distinct
from memoryhub.recall.ranking.signals import compute_signals
from memoryhub.recall.ranking.weights import (
    TrainingRecord,
    Weights,
    WeightsFile,
    get_shipped_weights,
)
from memoryhub.recall.render.hydrate import SourceLinks, load_source_links
from memoryhub.recall.services import DEFAULT_KINDS
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

RESULT_LIMIT = 30
# Where learning begins: everything counts alike in its direction, but a fact that states what is
# asked for counts double, and what an earlier question or the length tells is not known.
START_WEIGHTS: Mapping[str, float] = {
    **dict.fromkeys(("dense", "lexical", "rare"), 1.0),
    "answers": 0.0,
    **dict.fromkeys(("speaker", "date", "when"), 1.0),
    "predicate": 2.0,
    "asks": -1.0,
    "length": 0.0,
}
# Everyday questions begin with those weights, and with what speaks for what holds now, told by the
# person themselves.
EVERYDAY_START: Mapping[str, float] = {
    "alone": 1.0,
    "assistant": -1.0,
    **dict.fromkeys(("recent", "early", "value"), 1.0),
}
# Not learned: dialogues of a dozen turns tell of one person, who has one job, and the last word is
# what holds. In a year of talk others' facts bear on a question as well as the asked one's, and the
# last word is mostly about something else.
EVERYDAY_FIXED: Mapping[str, float] = {
    "others": -2.5,
    "predicate": 3.0,
    "speaker": 0.5,
    "recent": 0.7,
}
# How strongly weights are pulled back there, in questions; chosen by cross-validation.
START_PULL, EVERYDAY_PULL = 15.0, 5.0
# For facts and for notes.
KIND_CONSTANTS = tuple(product((0.0, -0.3), (0.0, -0.3, -0.6)))
AIM_MEASURES = ("recall@10", "recall@30", "recall<=250", "recall<=500", "recall<=1000")
OBJECTIVE = (
    "Within a kind: the log chance of evidence against all other candidates, pulled towards the "
    f"start. Between kinds: the mean of {', '.join(AIM_MEASURES)}. Of everyday questions: the log "
    "chance of what has the right value against all candidates of any kind, pulled towards those."
)
# What stands for an everyday question's right value among the refs of candidates.
_RIGHT = frozenset({"right"})

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """A question with everything that is ranked for it. `refs`: the turns each candidate stands
    for, by the data's own names; of an everyday question, whether it has the right value."""

    question: DatasetQuestion
    route: ParsedQuestion
    candidates: Sequence[MemoryCandidate]
    links: SourceLinks
    refs: Sequence[frozenset[str]]
    tokens: Sequence[int]

    def build_groups(self) -> Iterator[CandidateGroup]:
        """The candidates of each kind, by themselves."""
        columns = compute_signals(self.route, self.candidates)
        values = np.stack([columns[name] for name in START_WEIGHTS], axis=1)
        right = self._find_right()
        for kind in DEFAULT_KINDS:
            own = np.array([candidate.kind == kind for candidate in self.candidates])
            yield CandidateGroup(values[own], right[own])

    def build_everyday_group(self, names: Sequence[str]) -> CandidateGroup:
        """All candidates, with these signals."""
        columns = compute_signals(self.route, self.candidates)
        values = np.stack([columns[name] for name in names], axis=1)
        return CandidateGroup(values, self._find_right())

    def _find_right(self) -> NDArray[np.bool_]:
        return np.array([bool(refs & self.question.evidence) for refs in self.refs], dtype=bool)

    def measure_outcome(self, weights: Weights) -> RankingOutcome:
        """What a search by these weights would show."""
        at = {candidate.id: place for place, candidate in enumerate(self.candidates)}
        passed = filter_relevant(score_candidates(self.route, self.candidates, weights))
        chosen = select_distinct(passed[: SPARE_FACTOR * RESULT_LIMIT], self.links, RESULT_LIMIT)
        places = [at[scored.candidate.id] for scored in chosen]
        ranked, tokens = [self.refs[n] for n in places], [self.tokens[n] for n in places]
        return RankingOutcome(self.question.category, self.question.evidence, ranked, tokens)


def train_weights(
    dataset: Dataset,
    conversations: Sequence[str],
    *,
    everyday: Sequence[TruthDialogue] = (),
    on: str = "",
    progress: Progress,
) -> WeightsFile:
    """Learn from these conversations, and from the `everyday` questions of these dialogues. Raises
    InvalidInput for unknown conversations, or none to learn of."""
    known = {dialogue.name: dialogue for dialogue in dataset.dialogues}
    if not conversations or set(conversations) - known.keys():
        raise InvalidInput(f"some of {', '.join(known)}", field="conversations")
    samples = list[TrainingSample]()
    for name in dict.fromkeys(conversations):
        samples += _build_samples(known[name], progress)
    if not any(group.has_contrast for sample in samples for group in sample.build_groups()):
        raise InvalidInput("no question there names a turn that is found", field="conversations")
    progress(f"learning from {len(samples)} questions")
    weights = fit_weights(samples)
    means = compute_means([sample.measure_outcome(weights) for sample in samples])
    measured = {name: means[name] for name in AIM_MEASURES}
    asked = _build_everyday_samples(everyday, progress)
    assisted = fit_everyday_weights(asked, weights) if asked else get_shipped_weights().assisted
    if asked:
        first = compute_means([sample.measure_outcome(assisted) for sample in asked])
        measured["everyday@1"] = first["recall@1"]
    trained = TrainingRecord(
        data_sha256=dataset.sha256,
        conversations=tuple(conversations),
        questions=len(samples),
        objective=OBJECTIVE,
        start=START_WEIGHTS,
        pull=START_PULL,
        recall=measured,
        everyday=len(asked),
        on=on,
    )
    return WeightsFile(weights=weights, assisted=assisted, trained=trained)


def fit_weights(samples: Sequence[TrainingSample]) -> Weights:
    """The same samples always give the same weights."""
    groups = [group for sample in samples for group in sample.build_groups()]
    learned = learn_weights(groups, np.array(list(START_WEIGHTS.values())), START_PULL)
    unit = learned[list(START_WEIGHTS).index("dense")]  # multiples of what meaning is worth
    named = dict(zip(START_WEIGHTS, (learned / unit).round(3).tolist(), strict=True))
    others = dict.fromkeys(EVERYDAY_START, 0.0)
    tried = [Weights(**named, **others, fact=fact, note=note) for fact, note in KIND_CONSTANTS]
    return max(tried, key=lambda weights: _score_weights(samples, weights))


def fit_everyday_weights(samples: Sequence[TrainingSample], base: Weights) -> Weights:
    """The same samples always give the same weights."""
    start = {**dict(base), **EVERYDAY_START}
    groups = [sample.build_everyday_group(list(start)) for sample in samples if sample.candidates]
    learned = learn_weights(groups, np.array(list(start.values())), EVERYDAY_PULL)
    return Weights(**{**dict(zip(start, learned.round(3).tolist(), strict=True)), **EVERYDAY_FIXED})


def _score_weights(samples: Sequence[TrainingSample], weights: Weights) -> float:
    means = compute_means([sample.measure_outcome(weights) for sample in samples])
    return fmean(means[name] for name in AIM_MEASURES)


def _build_samples(dialogue: Dialogue, progress: Progress) -> list[TrainingSample]:
    judged = [q for q in dialogue.questions if q.evidence and not q.unanswerable]
    progress(f"{dialogue.name}: {dialogue.turn_count} turns, {len(judged)} questions with evidence")
    with open_throwaway_tenant() as tenant:
        space = write_derived_dialogue(tenant, dialogue)
        with tenant_scope(tenant.id):
            said = Turn.objects.filter(space=space).values_list("id", "external_id")
            names = {at: frozenset({name}) for at, name in said}
        return [build_sample(space, question, names) for question in judged]


def build_sample(
    space: Space, question: DatasetQuestion, names: Mapping[UUID, frozenset[str]]
) -> TrainingSample:
    """Asked as the service would. `names`: what the data calls each turn."""
    route, found, links = _retrieve_candidates(space, question.text, timezone.now())
    turns = [[c.id] if c.kind == "turn" else links.get(c.id, ()) for c in found]
    refs = [frozenset[str]().union(*(names[turn] for turn in ids)) for ids in turns]
    tokens = get_configured_embedder().count_tokens([candidate.text for candidate in found])
    return TrainingSample(question, route, found, links, refs, tokens)


def _retrieve_candidates(
    space: Space, question: str, at: datetime
) -> tuple[ParsedQuestion, Sequence[MemoryCandidate], SourceLinks]:
    ask, _ = prepare_question(space, question, SearchVisibility(at), StageTimer())
    with tenant_scope(space.tenant_id):
        found = retrieve_ranking_pool(ask, DEFAULT_KINDS, WIDE * RESULT_LIMIT).visible
        links = load_source_links(c.id for c in found if c.kind != "turn")
    return ask.parsed_question, found, links


def _build_everyday_samples(
    dialogues: Sequence[TruthDialogue], progress: Progress
) -> list[TrainingSample]:
    """Of questions that have an answer; each dialogue in a space of its own."""
    if not dialogues:
        return []
    progress(f"{len(dialogues)} dialogues with everyday questions")
    with open_throwaway_tenant() as tenant:
        told = [(dialogue, *tell_dialogue(tenant, dialogue)) for dialogue in dialogues]
        return [
            build_everyday_sample(space, question, at)
            for dialogue, space, at in told
            for question in dialogue.questions
            if question.kind != "unknown"
        ]


def build_everyday_sample(space: Space, question: EverydayQuestion, at: datetime) -> TrainingSample:
    """Asked at `at`: right is what has the right value, and none that is outdated before it."""
    route, found, links = _retrieve_candidates(space, question.text, at)
    refs = [_RIGHT if is_right(question, c.text) else frozenset[str]() for c in found]
    asked = DatasetQuestion(question.text, evidence=_RIGHT)
    return TrainingSample(asked, route, found, links, refs, [0] * len(found))
