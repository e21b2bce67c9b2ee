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
from memoryhub.inference.selection import get_current_embedder
from memoryhub.lab.datasets.types import Dataset, DatasetQuestion, Dialogue
from memoryhub.lab.metrics.rankings import RankingOutcome, compute_means
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant, write_derived_dialogue
from memoryhub.lab.training.learn import CandidateGroup, learn_weights
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.recall.question.parse import ParsedQuestion
from memoryhub.recall.question.prepare import StageTimer, prepare_question
from memoryhub.recall.ranking.rank import SPARE_FACTOR, WIDE, retrieve_ranking_pool
from memoryhub.recall.ranking.score import MemoryCandidate, score_candidates
from memoryhub.recall.ranking.select import filter_relevant, select_distinct
from memoryhub.recall.ranking.signals import compute_signals
from memoryhub.recall.ranking.weights import TrainingRecord, Weights, WeightsFile
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
# How strongly weights are pulled back there, in questions; chosen by cross-validation.
START_PULL = 15.0
# For facts and for notes.
KIND_CONSTANTS = tuple(product((0.0, -0.3), (0.0, -0.3, -0.6)))
AIM_MEASURES = ("recall@10", "recall@30", "recall<=250", "recall<=500", "recall<=1000")
OBJECTIVE = (
    "Within a kind: the log chance of evidence against all other candidates, pulled towards the "
    f"start. Between kinds: the mean of {', '.join(AIM_MEASURES)}."
)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """A question with everything that is ranked for it. `refs`: the turns each candidate stands
    for, by the data's own names."""

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
        right = np.array([bool(refs & self.question.evidence) for refs in self.refs])
        for kind in DEFAULT_KINDS:
            own = np.array([candidate.kind == kind for candidate in self.candidates])
            yield CandidateGroup(values[own], right[own])

    def measure_outcome(self, weights: Weights) -> RankingOutcome:
        """What a search by these weights would show."""
        at = {candidate.id: place for place, candidate in enumerate(self.candidates)}
        passed = filter_relevant(score_candidates(self.route, self.candidates, weights))
        chosen = select_distinct(passed[: SPARE_FACTOR * RESULT_LIMIT], self.links, RESULT_LIMIT)
        places = [at[scored.candidate.id] for scored in chosen]
        ranked, tokens = [self.refs[n] for n in places], [self.tokens[n] for n in places]
        return RankingOutcome(self.question.category, self.question.evidence, ranked, tokens)


def train_weights(
    dataset: Dataset, conversations: Sequence[str], *, on: str = "", progress: Progress
) -> WeightsFile:
    """Learn from these conversations. Raises InvalidInput for unknown ones, or none to learn of."""
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
    trained = TrainingRecord(
        data_sha256=dataset.sha256,
        conversations=tuple(conversations),
        questions=len(samples),
        objective=OBJECTIVE,
        start=START_WEIGHTS,
        pull=START_PULL,
        recall={name: means[name] for name in AIM_MEASURES},
        on=on,
    )
    return WeightsFile(weights=weights, trained=trained)


def fit_weights(samples: Sequence[TrainingSample]) -> Weights:
    """The same samples always give the same weights."""
    groups = [group for sample in samples for group in sample.build_groups()]
    learned = learn_weights(groups, np.array(list(START_WEIGHTS.values())), START_PULL)
    unit = learned[list(START_WEIGHTS).index("dense")]  # multiples of what meaning is worth
    named = dict(zip(START_WEIGHTS, (learned / unit).round(3).tolist(), strict=True))
    tried = [Weights(**named, fact=fact, note=note) for fact, note in KIND_CONSTANTS]
    return max(tried, key=lambda weights: _score_weights(samples, weights))


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
    ask, _ = prepare_question(space, question.text, SearchVisibility(timezone.now()), StageTimer())
    with tenant_scope(space.tenant_id):
        found = retrieve_ranking_pool(ask, DEFAULT_KINDS, WIDE * RESULT_LIMIT).visible
        links = load_source_links(c.id for c in found if c.kind != "turn")
    turns = [[c.id] if c.kind == "turn" else links.get(c.id, ()) for c in found]
    refs = [frozenset[str]().union(*(names[turn] for turn in ids)) for ids in turns]
    tokens = get_current_embedder().count_tokens([candidate.text for candidate in found])
    return TrainingSample(question, ask.parsed_question, found, links, refs, tokens)
