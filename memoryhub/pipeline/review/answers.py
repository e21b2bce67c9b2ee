"""What may be answered to a proposal, by its kind. Pure.

Besides its own name an answer has one that means the same of every kind: accept, keep_both or
reject.
"""

from __future__ import annotations

from notes.models import Proposal

Kind = Proposal.Kind
# What may be answered, by kind: the first carries the proposal out, the last leaves all as it is.
ANSWERS_BY_KIND: dict[str, tuple[str, ...]] = {
    Kind.CONFLICT: ("replace", "discard", "keep"),
    Kind.QUARANTINE: ("store", "discard"),
    Kind.OVERWRITE: ("apply", "store", "keep"),
    Kind.ERASE: ("erase", "keep"),
    Kind.MERGE: ("merge", "keep"),
    Kind.RENAME: ("rename", "keep"),
}
# What the common words mean, by kind.
_ANSWER_BY_COMMON_WORD: dict[str, dict[str, str]] = {
    Kind.CONFLICT: {"accept": "replace", "keep_both": "keep", "reject": "discard"},
    Kind.QUARANTINE: {"accept": "store", "reject": "discard"},
    Kind.OVERWRITE: {"accept": "apply", "keep_both": "store", "reject": "keep"},
    Kind.ERASE: {"accept": "erase", "reject": "keep"},
    Kind.MERGE: {"accept": "merge", "reject": "keep"},
    Kind.RENAME: {"accept": "rename", "reject": "keep"},
}
COMMON_ANSWERS = ("accept", "keep_both", "reject")
# What would leave no row of the candidate.
OPS_WITHOUT_ROW = frozenset({"close", "retract"})


def list_answers(proposal: Proposal) -> list[str]:
    """Those of its kind that can be carried out: only a candidate can be kept beside."""
    known = ANSWERS_BY_KIND[proposal.kind]
    beside = "candidate" in proposal.payload and proposal.payload.get("op") not in OPS_WITHOUT_ROW
    alone = proposal.kind == Kind.OVERWRITE and not beside
    return [each for each in known if not (alone and each == "store")]


def translate_common_answer(kind: str, said: str) -> str:
    """The kind's own answer that a common word stands for; any other word is itself."""
    return _ANSWER_BY_COMMON_WORD[kind].get(said, said)


def find_common_answer(kind: str, said: str) -> str:
    """The common word for an answer of the kind."""
    return next(word for word, name in _ANSWER_BY_COMMON_WORD[kind].items() if name == said)


def find_proposed_text(proposal: Proposal) -> str:
    """The new words that an acceptance may put differently, "" where there are none."""
    values = proposal.payload.get("candidate") or proposal.payload.get("values", proposal.payload)
    name = find_text_column(proposal)
    return str(values[name]) if name else ""


def find_text_column(proposal: Proposal) -> str:
    if proposal.kind not in (Kind.CONFLICT, Kind.QUARANTINE, Kind.OVERWRITE):
        return ""
    if "candidate" in proposal.payload:
        return "text" if proposal.payload.get("op") not in OPS_WITHOUT_ROW else ""
    values = proposal.payload.get("values", proposal.payload)
    return next((name for name in ("text", "summary", "context") if values.get(name)), "")
