"""What becomes of a candidate once its replay is done: it goes live, or is dropped."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from memoryhub.errors import Conflict
from memoryhub.golden.models import ReplayRun
from memoryhub.policies.services import set_policy
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_tenant_engine

Decision = ReplayRun.Decision


def put_candidate_live(run: ReplayRun, actor: str, now: datetime) -> None:
    """Put the candidate in force, all of it or nothing. Opens its own scope.

    Raises Conflict when the replay is not done, was decided, or the policy has changed since it
    began: then the comparison is no longer about what is in force.
    """
    with tenant_scope(run.tenant_id):
        row = _lock_undecided_run(run)
        if row.state != ReplayRun.State.DONE:
            raise Conflict(_("the replay is not done yet"), code="replay_state")
        if row.embedder:
            raise Conflict(
                _("vectors go live on the page of the embedding migration"), code="replay_state"
            )
        if row.overrides is not None:
            set_policy(
                row.tenant_id,
                actor=actor,
                preset=row.preset,
                overrides=row.overrides,
                space=row.space,
                reason=f"tried on {len(row.questions)} golden questions",
                now=now,
                expected=row.base,
            )
        if row.engine:
            set_tenant_engine(row.tenant_id, row.engine, actor=actor)
        _save_decision(row, Decision.LIVE, actor, now)


def drop_candidate(run: ReplayRun, actor: str, now: datetime) -> None:
    """The candidate is not wanted; the comparison stays. Opens its own scope. Raises Conflict."""
    with tenant_scope(run.tenant_id):
        row = _lock_undecided_run(run)
        if row.state == ReplayRun.State.RUNNING:
            raise Conflict(_("the replay is not done yet"), code="replay_state")
        _save_decision(row, Decision.DROPPED, actor, now)


def _lock_undecided_run(run: ReplayRun) -> ReplayRun:
    row: ReplayRun = ReplayRun.objects.select_for_update(of=("self",)).get(id=run.id)
    if row.decision:
        raise Conflict(
            _("this was decided by %(name)s") % {"name": row.decided_by}, code="replay_state"
        )
    return row


def _save_decision(row: ReplayRun, decision: str, actor: str, now: datetime) -> None:
    row.decision, row.decided_by, row.decided_at = decision, actor[:120], now
    row.save(update_fields=["decision", "decided_by", "decided_at"])
