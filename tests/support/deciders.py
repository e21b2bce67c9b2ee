"""What is learned of pairs of claims, replaced by an even chance between bars that a test sets."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.comparison import messages, resolve
from memoryhub.engines.local.comparison.deciders import get_shipped_deciders
from memoryhub.engines.local.comparison.messages import MessageDecider
from memoryhub.engines.local.trees import BoostedTrees


def decide_evenly(patch: pytest.MonkeyPatch) -> None:
    """Every English pair is as likely an ending as not: enough for a question where an assistant
    is told and there is little to choose from, and too little else."""
    shipped = get_shipped_deciders()
    evens = BoostedTrees(start=0.0, trees=(((0.0,),),))
    bars = {"closes": evens, "act": 0.9, "ask": 0.4, "ask_among_people": 0.6}
    decider = shipped.deciders["en"].model_copy(update=bars)
    file = shipped.model_copy(update={"deciders": {"en": decider}})
    patch.setattr(resolve, "get_shipped_deciders", lambda: file)
    of_messages = MessageDecider(features=("odds",), ends=evens, ask=0.4, scores={})
    patch.setattr(messages, "get_message_deciders", lambda: {"en": of_messages})
