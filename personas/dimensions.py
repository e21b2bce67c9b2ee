"""The dimensions along which a person is assessed: the 90 of Li et al. 2025, and 12 of MemoryOS
alone (spec §8.5). Nothing else may be assessed: a trait of another name is dropped (MO10).

Sensitive ones can reveal what the law protects (health, belief, politics, age, gender). They are
off unless the policy switches them on; so are the extras.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memoryhub.engines.types import TraitScale

DimensionCategory = Literal["personality", "alignment", "interests", "extras"]


@dataclass(frozen=True, slots=True)
class Dimension(TraitScale):
    """One pair of poles, as models are told of them."""

    category: DimensionCategory
    sensitive: bool = False

    @property
    def label(self) -> str:
        return self.key.replace("_", " ").capitalize()

    def describe_level(self, level: str) -> str:
        """The level in words: "outgoing"; between the poles, both of them."""
        words = {"high": self.high, "low": self.low}
        return words.get(level, self._middle_words)

    @property
    def _middle_words(self) -> str:
        if self.category == "interests":
            return f"some interest in {self.label.lower()}"
        return f"between {self.low} and {self.high}"


# key: high pole / low pole. An asterisk marks a sensitive one.
_PERSONALITY = """
age_group*: older / younger
gender*: feminine / masculine
neuroticism: easily worried / calm under strain
extraversion: outgoing / reserved
openness: curious about the new / fond of the familiar
agreeableness: accommodating / hard-headed
conscientiousness: thorough / easy-going about duties
food_preference: particular about food / eats anything
living_environment: cares how and where they live / at home anywhere
sleep: guards their sleep / sleeps little or at odd hours
investment_style: takes risks with money / plays safe with money
saving_habit: puts money aside / spends what comes in
physical_safety: careful of body and life / daring
environmental_safety: wants secure surroundings / unbothered by surroundings
interaction_depth: seeks deep talk / keeps talk light
conflict_handling: speaks up in a conflict / steers around conflicts
communication_style: tells things at length / keeps things short
work_environment: wants structure at work / wants freedom at work
recognition: wants to be noticed / works unseen
personal_achievement: driven by goals / content with how things are
knowledge_area: goes deep in one field / knows a little of everything
learning_style: learns from theory / learns by doing
creative_expression: makes things of their own / prefers what is given
order: wants everything in its place / lives with disorder
retention: keeps things / lets things go
inviolacy: guards their good name / shrugs off slights
infavoidance: shuns embarrassment / risks looking foolish
counteraction: tries again after defeat / leaves it after defeat
seclusion: keeps to themselves / lives in the open
dominance: leads others / leaves the lead to others
deference: looks up to others / bows to nobody
autonomy: decides alone / leans on rules and others
contrariance: goes against the grain / goes along
abasement: blames themselves / makes no excuses for themselves
aggression: forceful against others / gentle with others
affiliation: seeks company / needs little company
rejection: chooses their company strictly / lets everybody in
nurturance: looks after others / leaves others to themselves
succorance: asks for help and comfort / copes alone
play: seeks fun / serious
"""
_ALIGNMENT = """
harmlessness: wants cautious replies / wants nothing held back
instruction_following: wants their words followed to the letter / wants initiative
honesty: wants it said outright / wants it said kindly
truthfulness: wants facts with proof / content with what is likely
helpfulness: wants all the help there is / wants only what was asked
coherence: wants one clear thread / enjoys leaps of thought
complexity: wants depth and nuance / wants it simple
"""
_EXTRAS = """
social_media_activity: posts and follows a lot / stays off social media
environmental_concern: minds nature and climate / unconcerned about the environment
history_interest: drawn to history / indifferent to history
political_concern*: follows politics / stays out of politics
religious_interest*: drawn to religion / distant from religion
emotional_expression: shows feelings / hides feelings
information_density: wants much in few words / wants it spread out
language_style: formal in tone / casual in tone
practicality: asks what it is good for / enjoys ideas for their own sake
conciseness: wants short replies / wants long replies
aesthetic_appreciation: moved by beauty / indifferent to looks
cognitive_needs: wants to understand / wants it to work
"""
_INTERESTS = """
science knowledge psychology cinema entertainment gaming parenting wild_imagination anime sports
law workplace pets travel health* stories cars gourmet_food education current_events home_decor
international finance campus_life digital_technology emotions humor music reading painting dance
crafts photography culture fitness art stationery_planners celebrities outdoors camping
social_sciences weddings fashion
"""


def _parse_dimensions(lines: str, category: DimensionCategory) -> list[Dimension]:
    made = []
    for line in lines.strip().splitlines():
        key, _, poles = line.partition(": ")
        high, _, low = poles.partition(" / ")
        made.append(Dimension(key.rstrip("*"), high, low, category, key.endswith("*")))
    return made


def _build_interest(marked: str) -> Dimension:
    key = marked.rstrip("*")
    topic = key.replace("_", " ")
    high, low = f"likes {topic}", f"turns away from {topic}"
    return Dimension(key, high, low, "interests", marked.endswith("*"))


CANONICAL_DIMENSIONS: dict[str, Dimension] = {
    each.key: each
    for each in [
        *_parse_dimensions(_PERSONALITY, "personality"),
        *_parse_dimensions(_ALIGNMENT, "alignment"),
        *map(_build_interest, _INTERESTS.split()),
    ]
}
EXTRA_DIMENSIONS: dict[str, Dimension] = {
    each.key: each for each in _parse_dimensions(_EXTRAS, "extras")
}
DIMENSIONS: dict[str, Dimension] = CANONICAL_DIMENSIONS | EXTRA_DIMENSIONS
LEVELS = frozenset({"high", "medium", "low"})


def list_allowed_keys(*, extras: bool, sensitive: bool) -> list[str]:
    """The keys that may be assessed under a policy's two switches, in the registry's order."""
    offered: Iterable[Dimension] = (DIMENSIONS if extras else CANONICAL_DIMENSIONS).values()
    return [each.key for each in offered if sensitive or not each.sensitive]


def describe_trait(key: str, level: str) -> str:
    """The words of the level, wherever it is handed over: "honesty: high" alone is taken for its
    opposite. Of what is registered no more, key and level as they stand."""
    dimension = DIMENSIONS.get(key)
    return dimension.describe_level(level) if dimension else f"{key.replace('_', ' ')}: {level}"
