"""What is handed over whatever is asked: the shelf, the latest exchanges, and core memory.

Core memory is what is always in front of the agent: its blocks, the profile, traits. It is no
finding and has no score: `context` puts it first, as far as its budget goes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from memoryhub.engines.local.answers.asked import AskedIdentity
from memoryhub.engines.local.answers.kinds import AskedKind
from memoryhub.engines.local.answers.relatives import find_asked_relative
from memoryhub.recall.candidates.channels.hits import ChannelHit, clamp_score
from memoryhub.recall.candidates.channels.statements import (
    build_cosine_sql,
    build_current_sql,
    load_rows,
)
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.hydrate import UNREAD_STATES
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.database.prepared import open_prepared_cursor
from notes.models import Page
from personas import blocks, profile
from personas.dimensions import describe_trait
from personas.models import CoreBlock, ProfileAttribute, Trait

MAX_PER_SHELF = 10

# The shelf is the newest `cap`, pinned ones beside; what fell off it is found by other channels.
_SHELF_SQL = """
SELECT s.id, s.shelf, {near} AS near FROM (
  SELECT f.id, f.shelf, f.pinned, row_number() OVER (
    PARTITION BY f.shelf, f.pinned ORDER BY f.shelved_at DESC NULLS LAST, f.id DESC) AS place
  FROM notes_fact f WHERE f.space_id = %(space)s AND f.shelf <> '' AND {current}
) s WHERE s.pinned OR s.place <= %(cap)s
ORDER BY near DESC NULLS LAST, s.pinned DESC, s.place
"""


def find_shelf(ask: PreparedQuestion) -> list[ChannelHit]:
    """Of each shelf the ten facts most alike (MemoryOS). Nothing is too far."""
    near, current = build_cosine_sql(ask, "fact", "s.id"), build_current_sql(ask, "f")
    statement = _SHELF_SQL.format(near=near, current=current)
    taken: Counter[str] = Counter()
    found = []
    for at, shelf, near in load_rows(ask, statement, cap=ask.policy.shelf.cap):
        taken[shelf] += 1
        if taken[shelf] <= MAX_PER_SHELF:
            found.append(ChannelHit("fact", at, clamp_score(near or 0.0), "kept at hand"))
    return found


MAX_IN_OVERVIEW = 10
_MOST_AHEAD = 10

# What somebody is, has and likes, by the predicates that are known; then what is so in words of
# their own, and last what was once on a day. Fragments say little by themselves.
_OVERVIEW_SQL = """
SELECT f.id FROM notes_fact f
WHERE f.space_id = %(space)s AND f.owner = ANY(%(owners)s)
  AND f.predicate_key NOT LIKE 'scheduled%%' AND f.polarity IN ('holds', 'denied')
  AND NOT starts_with(f.text, f.owner || ':') AND NOT starts_with(f.text, f.owner || '：')
  AND NOT starts_with(f.text, 'Asked "')
  AND {current}
ORDER BY f.predicate_key <> '' AND f.polarity = 'holds' AND f.kind <> 'event' DESC,
  f.kind = 'event', f.kind = 'attribute' DESC, f.kind = 'preference', f.asserted_at DESC, f.id
LIMIT %(most)s
"""


def find_overview(ask: PreparedQuestion) -> list[ChannelHit]:
    """What holds of the subject, for who asks what is known: home and work before tastes."""
    statement = _OVERVIEW_SQL.format(current=build_current_sql(ask, "f"))
    owners = [ask.parsed_question.speaker, *ask.space.called_names]
    rows = load_rows(ask, statement, owners=owners, most=MAX_IN_OVERVIEW)
    return [ChannelHit("fact", at, 1.0, "holds of whom all is about") for (at,) in rows]


_AGENDA_SQL = """
SELECT f.id FROM notes_fact f
WHERE f.space_id = %(space)s AND f.event_to > %(at)s AND f.polarity <> 'ended'
  AND (f.polarity = 'planned' OR f.event_from > %(at)s) AND {current}
ORDER BY f.event_from, f.id LIMIT %(most)s
"""


def find_agenda(ask: PreparedQuestion) -> list[ChannelHit]:
    """What speaks of days to come, the next first, for who asks what is coming up."""
    rows = load_rows(ask, _AGENDA_SQL.format(current=build_current_sql(ask, "f")), most=_MOST_AHEAD)
    return [ChannelHit("fact", at, 1.0, "lies ahead") for (at,) in rows]


# What tells a kind of thing in whatever words: what its predicate states first, then the newest.
# Of somebody of whom very much is known what was told last is looked at: words are compared one
# by one.
_KIND_SQL = """
WITH held AS MATERIALIZED (
  SELECT f.id, f.text, f.predicate_key FROM notes_fact f
  WHERE f.space_id = %(space)s AND {current}
    AND CASE WHEN %(relative)s::text <> '' THEN f.owner ~* %(relative)s::text
        WHEN %(owners)s::text[] <> '{{}}' THEN f.owner = ANY(%(owners)s)
        ELSE lower(split_part(f.owner, ' ', 1)) = ANY(%(words)s) END
  ORDER BY f.asserted_at DESC, f.id DESC LIMIT %(looked_at)s
)
(SELECT id FROM held WHERE predicate_key = ANY(%(predicates)s) LIMIT %(most)s)
UNION ALL
(SELECT id FROM held
 WHERE NOT predicate_key = ANY(%(predicates)s) AND text ~* %(tells)s::text LIMIT %(most)s)
LIMIT %(most)s
"""
_MOST_OF_KIND, _LOOKED_AT = 3, 1_000


def format_sql_pattern(pattern: re.Pattern[str]) -> str:
    """As PostgreSQL writes it, for which the end of a word is another letter."""
    return pattern.pattern.replace(r"\b", r"\y")


def list_possible_names(question: str) -> list[str]:
    """Words and runs of Chinese characters by which somebody may be named who never spoke here."""
    words = {word.removesuffix("'s") for word in re.findall(r"[a-z][\w'-]+", question.lower())}
    runs = re.findall(r"[\u4e00-\u9fff]+", question)
    words |= {run[at : at + size] for run in runs for size in (2, 3) for at in range(len(run) - 1)}
    return sorted(words)


def find_asked_kind_facts(ask: PreparedQuestion, kind: AskedKind) -> list[ChannelHit]:
    """What tells of the one who is asked about what no word of the question need tell."""
    asked = ask.parsed_question
    relative = find_asked_relative(asked.query, ()) if asked.mentions_relative else None
    statement = _KIND_SQL.format(current=build_current_sql(ask, "f"))
    rows = load_rows(
        ask,
        statement,
        relative=format_sql_pattern(relative.words) if relative else "",
        owners=[*asked.speaker_names, *(ask.space.called_names if asked.subject else ())],
        words=list_possible_names(asked.query),
        predicates=list(asked.predicates),
        tells=format_sql_pattern(kind.tells),
        most=_MOST_OF_KIND,
        looked_at=_LOOKED_AT,
    )
    return [ChannelHit("fact", at, 1.0, "tells what is asked for") for (at,) in rows]


# "Rita is Ana's sister.", "Ana's sister is called Rita.", 汤圆是林晓雨的橘猫: as the engine tells
# it, its verb apart. Of whom it is comes in the words of the complement, or of the owner.
_IDENTITY_SQL = """
SELECT f.id FROM notes_fact f
WHERE f.space_id = %(space)s
  AND f.polarity = 'holds' AND f.verb = ANY(%(verbs)s)
  AND CASE WHEN %(name)s::text <> ''
    THEN lower(f.owner) = %(name)s::text OR starts_with(lower(f.owner), %(name)s::text || ' ')
    ELSE lower(rtrim(f.complement, '.。')) ~ %(role)s::text OR lower(f.owner) ~ %(role)s::text END
  AND {current}
ORDER BY f.complement ~ '[''’]s? |的' DESC, f.asserted_at DESC, f.id LIMIT %(most)s
"""
_NAMING_VERBS = ["is", "was", "is called", "is named", "是", "叫"]
_MOST_IDENTITIES, _MOST_RELATIVES = 3, 8


def find_identity(ask: PreparedQuestion, asked: AskedIdentity) -> list[ChannelHit]:
    """What says who somebody is, or what somebody's sister or dog is called."""
    role = f"{re.escape(asked.role)}$"
    return _find_named(ask, asked.name.casefold(), role, _MOST_IDENTITIES)


def find_relatives(ask: PreparedQuestion, kin: re.Pattern[str]) -> list[ChannelHit]:
    """What says of each such relative who they are."""
    return _find_named(ask, "", f"{format_sql_pattern(kin)}$", _MOST_RELATIVES)


def _find_named(ask: PreparedQuestion, name: str, role: str, most: int) -> list[ChannelHit]:
    statement = _IDENTITY_SQL.format(current=build_current_sql(ask, "f"))
    rows = load_rows(ask, statement, name=name, role=role, verbs=_NAMING_VERBS, most=most)
    return [ChannelHit("fact", at, 1.0, "says who that is") for (at,) in rows]


# A dialogue imported at once is unread for a while: the newest of it is shown.
MAX_TURNS = 200

# Two indexes are read, one for each reason to be shown. The queue is longer than `stm.pages` while
# its oldest wait to be placed: until that is written they are in no segment, and shown here. A page
# has a turn at least, so that no more than so many pages are needed.
_LATEST_TURNS_SQL = """
WITH newest AS (
  SELECT session_id, first_seq, last_seq FROM notes_page
  WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND tier = %(tier)s AND retired_at IS NULL
  ORDER BY first_seq DESC LIMIT %(most)s
)
SELECT id, state FROM (
  SELECT t.id, t.state, t.seq, t.occurred_at
  FROM newest p JOIN dialogues_turn t
    ON t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
  WHERE t.tenant_id = %(tenant)s AND t.state <> 'redacted' AND NOT t.metadata ? 'inner'
  UNION
  SELECT t.id, t.state, t.seq, t.occurred_at FROM dialogues_turn t
  WHERE t.tenant_id = %(tenant)s AND t.space_id = %(space)s AND t.state = ANY(%(unread)s)
) found
WHERE occurred_at <= %(said_by)s
ORDER BY seq DESC LIMIT %(most)s
"""


def find_latest(ask: PreparedQuestion) -> list[ChannelHit]:
    """The exchanges of the short-term queue, and every turn that is not read yet (E11, C18), in
    their order."""
    values: dict[str, Any] = {
        "tenant": ask.space.tenant_id,
        "space": ask.space.id,
        "tier": Page.Tier.SHORT.value,
        "unread": [state.value for state in UNREAD_STATES],
        "said_by": ask.visibility.said_by,
        "most": MAX_TURNS,
    }
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_LATEST_TURNS_SQL, values)
        found = cursor.fetchall()
    return [
        ChannelHit("turn", at, 1.0, "not read yet" if state in UNREAD_STATES else "just said")
        for at, state in reversed(found)
    ]


def load_core_items(ask: PreparedQuestion, agent: str = "") -> list[MemoryItem]:
    """Call inside the tenant's scope."""
    at = ask.visibility.at
    held = Trait.objects.filter(space=ask.space, retired_at=None, valid_from__lte=at)
    traits = [t for t in held.order_by("owner", "key") if t.valid_to is None or t.valid_to > at]
    shown = blocks.load_visible_blocks(ask.space, agent, ask.visibility.as_of)
    return [
        *(_build_block_item(block) for block in shown if block.value.strip()),
        *(_build_attribute_item(ask, each) for each in profile.load_profile(ask.space, at)),
        *(_build_trait_item(trait) for trait in traits),
    ]


def _build_block_item(block: CoreBlock) -> MemoryItem:
    return MemoryItem("core", block.id, f"{block.label}: {block.value}", 1.0, {}, block.updated_at)


def _build_attribute_item(ask: PreparedQuestion, attribute: ProfileAttribute) -> MemoryItem:
    text = f"{attribute.owner}, {attribute.key.replace('_', ' ')}: {attribute.value}"
    since = attribute.fact.valid_from if attribute.fact else ask.visibility.at
    return MemoryItem("core", attribute.id, text, 1.0, {}, since, owner=attribute.owner)


def _build_trait_item(trait: Trait) -> MemoryItem:
    text = f"{trait.owner}: {describe_trait(trait.key, trait.level)}"
    return MemoryItem(
        "core",
        trait.id,
        text,
        trait.confidence,
        {},
        trait.valid_from,
        owner=trait.owner,
        valid_from=trait.valid_from,
        valid_to=trait.valid_to,
    )
