"""`lab train-deciders`: what becomes of pairs of claims, learned from dialogues with readings.

Boosted trees over what is computed anyway (`engines.local.comparison.pairs`). The bars are set by
what they say of an author that they never saw: at most one claim in a hundred that is true in the
end may be closed, and what a person is asked must be worth the minute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from memoryhub.engines.local.comparison.deciders import (
    DecidersFile,
    PairDecider,
    weigh_by_choice,
)
from memoryhub.engines.local.comparison.pairs import LANGUAGE_BOUND, describe_pairs, may_take_place
from memoryhub.engines.local.comparison.reading import describe_reading
from memoryhub.engines.local.language import can_embed_language
from memoryhub.engines.types import Embedder, Engine
from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets.types import Dialogue
from memoryhub.lab.training.boosting import fit_trees
from memoryhub.lab.training.claim_pairs import (
    PairGroup,
    add_unmet_endings,
    build_pair_groups,
    build_quiet_groups,
)
from memoryhub.lab.truth.dialogues import TruthDialogue, is_matching
from notes.index.indexer import strip_names

Progress = Callable[[str], None]
Columns = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Of what is true in the end, the share that may be closed; one in a hundred is allowed. (Some of
# what is counted is over after all, in part: "works nights, 4 on 2 off" after a move to days.)
MOST_WRONG = {"en": 0.005, "zh": 0.0065}
LEAST_WORTH = 0.5  # of the pairs that a person is asked about, those in which something is over
_QUIET_PARTS = 3
_MOST_LEARNED = 8  # pairs of a new claim of quiet talk: the most alike ones
# Of the claims of quiet talk, those that a person is asked about: with an assistant, among people.
MOST_IDLE, MOST_IDLE_AMONG_PEOPLE = 0.03, 0.015
# From this share of an older claim's words on, what closes it says it again: nothing is lost.
SAYS_AGAIN = 0.6


@dataclass(frozen=True, slots=True)
class PairTable:
    """Pairs of one language as rows. `at_stake`: the older side is true in the end, and nothing of
    it is left where the new one closes it; `claim` names it. `counts`: both sides are claims, not
    messages. `may_act`: the newer side may end the older unasked, however sure. `learned`: of
    quiet talk only the most alike pairs are, the bars are set on all. `offered`: older claims that
    the new one stands beside."""

    features: tuple[str, ...]
    rows: Columns
    slot: Flags
    closes: Flags
    authors: NDArray[np.str_]
    read: Flags
    at_stake: Flags
    counts: Flags
    may_act: Flags
    quiet: Flags
    assisted: Flags
    learned: Flags
    claim: NDArray[np.str_]
    offered: NDArray[np.int_]


def train_pair_deciders(
    dialogues: Sequence[TruthDialogue],
    engine: Engine,
    embedder: Embedder,
    *,
    quiet: Sequence[Dialogue] = (),
    progress: Progress,
) -> DecidersFile:
    """Learn from these dialogues, and from `quiet` talk in which hardly anything is taken back:
    where everything resembles everything, nothing is to be closed. Raises InvalidInput where a
    language has too little to learn of.

    The same dialogues always give the same file.
    """
    groups = add_unmet_endings(build_pair_groups(dialogues, engine))
    groups += build_quiet_groups(quiet, engine, embedder)
    progress(f"{sum(len(g.held) for g in groups)} pairs of {len(groups)} new claims")
    deciders = {}
    for language in sorted({dialogue.language for dialogue in dialogues}):
        own = [group for group in groups if group.dialogue.language == language]
        reads = can_embed_language(embedder.name, "zh" if language == "zh" else "en")
        table = build_pair_table(own, embedder, with_cosines=reads)
        deciders[language] = _learn_decider(table, MOST_WRONG[language])
        progress(f"{language}: {dict(deciders[language].scores)}")
    return DecidersFile(embedder=embedder.name, dialogues=len(dialogues), deciders=deciders)


def build_pair_table(
    groups: Sequence[PairGroup], embedder: Embedder, *, with_cosines: bool
) -> PairTable:
    """The pairs' numbers. Vectors are of texts without their owners' names, as of facts held."""
    shown = [view for group in groups for view in (group.new, *group.held)]
    texts = {view: strip_names(view.text, (view.owner,)) for view in shown}
    places = {text: at for at, text in enumerate(dict.fromkeys(texts.values()))}
    vectors = embedder.embed(list(places))
    rows: list[dict[str, float]] = []
    labels: list[str] = []
    authors, read, at_stake, counts, claim = [], [], [], [], []
    quiet, assisted, learned, offered = [], [], [], []
    for group in groups:
        new = vectors[places[texts[group.new]]]
        similar = [float(new @ vectors[places[texts[old]]]) for old in group.held]
        described = describe_pairs(group.new, group.held, similar, group.subject)
        reading = describe_reading(group.new, group.held, described, assisted=group.is_assisted)
        described = [row | read for row, read in zip(described, reading, strict=True)]
        rows += described
        labels += group.labels
        for place, (row, claims) in enumerate(zip(described, group.claims, strict=True)):
            authors.append(group.dialogue.author)
            read.append(group.source == "read")
            again = row["old_in_new"] >= SAYS_AGAIN
            at_stake.append(not again and _is_at_stake(group, claims))
            counts.append(not group.is_message)
            quiet.append(group.is_quiet)
            assisted.append(group.is_assisted)
            learned.append(not group.is_quiet or place < _MOST_LEARNED)
            offered.append(len(group.held))
            claim.append(f"{group.dialogue.id} {min(claims)} {group.source}")
    if not rows:
        raise InvalidInput("no dialogue there tells anything twice", field="path")
    features = tuple(n for n in rows[0] if with_cosines or n not in LANGUAGE_BOUND)
    label = np.array(labels)
    return PairTable(
        features,
        np.array([[row[name] for name in features] for row in rows]),
        label != "apart",
        label == "closes",
        np.array(authors),
        np.array(read),
        np.array(at_stake),
        np.array(counts),
        np.array([may_take_place(row) for row in rows]),
        np.array(quiet),
        np.array(assisted),
        np.array(learned),
        np.array(claim),
        np.array(offered),
    )


def _is_at_stake(group: PairGroup, claims: frozenset[str]) -> bool:
    """Whether closing what says these claims loses one that is true in the end. A plan closes
    nothing, and what says the same in other words takes its place."""
    if group.is_quiet:
        return group.new.polarity != "planned"
    known = group.dialogue.claims
    true = [known[claim] for claim in claims & group.dialogue.current]
    return group.new.polarity != "planned" and any(
        not is_matching(each.match, group.new.text) for each in true
    )


def _learn_decider(table: PairTable, most_wrong: float) -> PairDecider:
    if len(set(table.authors)) < 2 or not 1 < table.closes.sum() < len(table.closes):
        raise InvalidInput("needs dialogues of two authors at least, with updates", field="path")
    unseen = np.zeros(len(table.rows))
    for authors in _group_authors(table):
        left_out = np.isin(table.authors, authors)
        others = table.learned & ~left_out
        fitted = fit_trees(table.rows[others], table.closes[others])
        unseen[left_out] = fitted.estimate_shares(table.rows[left_out])
    unseen = weigh_by_choice(unseen, table.offered)
    act = _find_act_bar(table, unseen, most_wrong)
    ask, among_people = (
        _find_ask_bar(table, unseen, act, table.quiet & own, most)
        for own, most in (
            (table.assisted, MOST_IDLE),
            (~table.assisted, MOST_IDLE_AMONG_PEOPLE),
        )
    )
    rows = table.rows[table.learned]
    return PairDecider(
        features=table.features,
        slot=fit_trees(rows, table.slot[table.learned]),
        closes=fit_trees(rows, table.closes[table.learned]),
        act=act,
        ask=ask,
        ask_among_people=max(ask, among_people),
        scores=_score_unseen(table, unseen, act, np.where(table.assisted, ask, among_people)),
    )


def _group_authors(table: PairTable) -> list[list[str]]:
    """Who are left out together: each author by himself, those of quiet talk in a few parts."""
    quiet = sorted(set(table.authors[table.quiet]))
    parts = [quiet[at::_QUIET_PARTS] for at in range(_QUIET_PARTS)]
    return [[author] for author in sorted(set(table.authors) - set(quiet))] + parts


def _find_act_bar(table: PairTable, shares: Columns, most_wrong: float) -> float:
    """The lowest bar at which few of the claims that are true in the end are closed, in dialogues
    with readings and in quiet talk."""
    parts = (table.at_stake & table.counts & own for own in (table.quiet, ~table.quiet))
    return max(_find_safe_bar(table, shares, part, most_wrong) for part in parts)


def _find_safe_bar(table: PairTable, shares: Columns, at_stake: Flags, most_wrong: float) -> float:
    risky = at_stake & table.may_act & ~table.slot
    worst: dict[str, float] = {}
    for name, share in zip(table.claim[risky], shares[risky], strict=True):
        worst[name] = max(share, worst.get(name, 0.0))
    ranked = sorted(worst.values(), reverse=True)
    allowed = int(most_wrong * len(set(table.claim[at_stake])))
    bar = ranked[allowed] if allowed < len(ranked) else 0.0
    return round(min(1.0, max(0.5, float(bar)) + 0.001), 3)


def _find_ask_bar(
    table: PairTable, shares: Columns, act: float, quiet: Flags, most_idle: float
) -> float:
    """The lowest bar at which enough of the pairs right above it are worth a question, and this
    quiet talk raises hardly any."""
    idle = set(table.claim[quiet])
    for bar in np.arange(0.1, act, 0.02):
        asked = table.counts & ~table.quiet & (shares >= bar) & (shares < min(act, bar + 0.1))
        raised = len(set(table.claim[quiet & (shares >= bar)]))
        if (
            raised <= most_idle * len(idle)
            and table.closes[asked].sum() >= LEAST_WORTH * asked.sum()
        ):
            return round(float(bar), 3)
    return act


def _score_unseen(table: PairTable, shares: Columns, act: float, ask: Columns) -> dict[str, float]:
    scores: dict[str, float] = {}
    for name, source in (
        ("told", table.counts & ~table.read),
        ("read", table.counts & table.read & ~table.quiet),
    ):
        over, done = table.closes & source, (shares >= act) & table.may_act
        asked = (shares >= ask) & ~done
        true = set(table.claim[source & table.at_stake])
        wrong = set(table.claim[source & table.at_stake & ~table.slot & done])
        precision = average_precision_score(table.closes[source], shares[source])
        scores |= {
            f"{name}_pairs": float(source.sum()),
            f"{name}_over": float(over.sum()),
            f"{name}_average_precision": round(float(precision), 3),
            f"{name}_closed": round(float((over & done).sum() / max(1, over.sum())), 3),
            f"{name}_asked": round(float((over & asked).sum() / max(1, over.sum())), 3),
            f"{name}_asked_worth": round(
                float((over & asked).sum() / max(1, (asked & source).sum())), 3
            ),
            f"{name}_wrongly_closed": round(len(wrong) / max(1, len(true)), 4),
        }
    quiet = set(table.claim[table.quiet])
    for name, touched in (("closed", (shares >= act) & table.may_act), ("touched", shares >= ask)):
        idle = set(table.claim[table.quiet & touched])
        scores[f"quiet_{name}"] = round(len(idle) / max(1, len(quiet)), 4)
    return scores
