"""Versions of a policy."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import Http404

from memoryhub.console.frame.lists import ListPage, load_page
from memoryhub.engines.llm import own_prompts
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.switches import PROMPT
from memoryhub.tenants.models import Space

VERSIONS_A_PAGE = 10


def load_policy_versions(space: Space | None, number: int) -> ListPage[PolicyVersion]:
    """The tenant's versions, or the space's, newest first."""
    return load_page(PolicyVersion.objects.filter(space=space), number, VERSIONS_A_PAGE)


def get_version_or_404(version_id: UUID) -> PolicyVersion:
    rows = PolicyVersion.objects.select_related("space")
    found: PolicyVersion | None = rows.filter(id=version_id).first()
    if found is None:
        raise Http404
    return found


# The operator's own prompts, as the policy pages offer them.


def list_prompt_choices() -> dict[str, dict[str, str]]:
    """By switch, by name: the difference to the packaged prompt, as lines of a diff."""
    there = own_prompts.list_own_prompts(settings.PROMPTS)
    return {
        f"{PROMPT}.{purpose}": {
            name: own_prompts.diff_prompt(settings.PROMPTS, purpose, name)
            for name in there[purpose]
        }
        for purpose in PURPOSES
        if purpose in there
    }
