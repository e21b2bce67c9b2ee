"""Who asks: what they may see, and what the question is asked under in place of the space's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import FUTURE_TOLERANCE
from memoryhub.errors import InvalidInput
from memoryhub.policies.schema import Channel, Policy, SelectMode


@dataclass(frozen=True, slots=True)
class SearchVisibility:
    """What may be seen: what is current at `now`, or was true at `as_of`.

    `deep`: also what has faded (spec §11.6). `everything`: only to explain what was left out.
    `only`: of these memories, by id, and no others; None: of all.
    """

    now: datetime
    as_of: datetime | None = None
    include_past: bool = False
    deep: bool = False
    everything: bool = False
    only: Sequence[UUID] | None = None

    @property
    def at(self) -> datetime:
        return self.as_of or self.now

    @property
    def said_by(self) -> datetime:
        """What was said later is not known yet. Clocks differ, by less than a day: what bears a
        time further ahead than that is of a day that has not come."""
        return self.as_of or self.now + FUTURE_TOLERANCE

    def to_log_options(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat() if self.as_of else ""
        return {"as_of": as_of, "include_past": self.include_past, "deep": self.deep}


@dataclass(frozen=True, slots=True)
class SearchCaller:
    """Who asks, for the recall log: by which way, and under which name."""

    via: str = ""
    name: str = ""


ANONYMOUS_CALLER = SearchCaller()


@dataclass(frozen=True, slots=True)
class SearchOverride:
    """What one question is to be asked under in place of the space's own: nothing is stored.

    `policy` replaces all of it, `channels` and `select` these two switches. `engine` is asked
    in the tenant's place, and the vectors named `vectors` are compared: a replay's candidates.
    """

    policy: Policy | None = None
    channels: Sequence[Channel] | None = None
    select: SelectMode | None = None
    engine: str | None = None
    vectors: str | None = None

    def to_log_options(self) -> dict[str, Any]:
        """What of it the recall log notes: a policy by its preset."""
        return {
            "policy": self.policy.preset if self.policy else "",
            "channels": list(self.channels or ()),
            "select": self.select or "",
        }

    def apply_to_policy(self, own: Policy) -> Policy:
        """Raises InvalidInput for channels there are none of."""
        policy = self.policy or own
        changed = dict[str, Any]()
        if self.channels is not None:
            if not self.channels or set(self.channels) - set(get_args(Channel)):
                known = ", ".join(get_args(Channel))
                raise InvalidInput(_("some of %(known)s") % {"known": known}, field="channels")
            changed["channels"] = tuple(dict.fromkeys(self.channels))
        if self.select is not None:
            if self.select not in get_args(SelectMode):
                known = ", ".join(get_args(SelectMode))
                raise InvalidInput(_("one of %(known)s") % {"known": known}, field="select")
            changed["select"] = self.select
        if not changed:
            return policy
        return policy.model_copy(update={"recall": policy.recall.model_copy(update=changed)})


NO_OVERRIDE = SearchOverride()
