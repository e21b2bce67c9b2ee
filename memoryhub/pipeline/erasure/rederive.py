"""What an erasure left tainted, derived again from what remains (spec §11.9)."""

from __future__ import annotations

from uuid import UUID

from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.derive.derive import DeriveStep
from memoryhub.pipeline.steps.derive.extract import BatchDraft
from memoryhub.pipeline.steps.derive.read import DialogueBatch, load_batch_again
from memoryhub.tenants.scope import tenant_scope
from notes.erasure.erase import hash_claim
from notes.history.change_set import filter_supports
from notes.models import Fact, Tombstone


class RederiveStep(DeriveStep):
    """Read the exchanges of the job's turns again."""

    name = Job.Step.REDERIVE
    lane = Lane.PLACING

    def load_batch(self) -> DialogueBatch:
        return load_batch_again(self.job, self.job.payload.get("turns", []))

    def draft_batch(self, batch: DialogueBatch) -> BatchDraft:
        """What these turns still support is not said a second time, and what was erased as such
        does not come back."""
        made, space = super().draft_batch(batch), batch.space
        with tenant_scope(space.tenant_id):
            held = _load_supported_claims(batch)
            graves = {hash_claim(space, draft.fact): draft.fact.text_key for draft in made.facts}
            buried = Tombstone.objects.filter(digest__in=graves).values_list("digest", flat=True)
            dead = {graves[digest] for digest in buried}
        for page in made.pages:
            page.facts = [
                draft
                for draft in page.facts
                if draft.fact.text_key not in dead
                and not any((draft.fact.text_key, s.turn_id) in held for s in draft.sources)
            ]
        return made

    def plan_steps_behind(self, batch: DialogueBatch, made: BatchDraft) -> None:
        """None: nothing is new, it was read before."""


def _load_supported_claims(batch: DialogueBatch) -> set[tuple[str, UUID]]:
    """(claim, turn) of every claim that one of the turns supports."""
    links = filter_supports("fact", turn__in=batch.turns).values_list("child_id", "turn_id")
    facts = Fact.objects.filter(id__in=[fact for fact, _ in links])
    keys = dict(facts.values_list("id", "text_key"))
    return {(keys[fact], turn) for fact, turn in links if fact in keys}
