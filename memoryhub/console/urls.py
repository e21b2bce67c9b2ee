"""The console's addresses. Every view is a link."""

from __future__ import annotations

from django.urls import path

from memoryhub.console.views import (
    account,
    chat,
    jobs,
    keys,
    memories,
    overview,
    policies,
    spaces,
    usage,
)

urlpatterns = [
    path("sign-in", account.sign_in, name="sign-in"),
    path("sign-out", account.sign_out, name="sign-out"),
    path("tenant", account.choose_tenant, name="choose-tenant"),
    path("", overview.overview, name="overview"),
    path("search", overview.search, name="search"),
    path("spaces/", spaces.spaces, name="spaces"),
    path("spaces/<uuid:space_id>/", spaces.timeline, name="space-timeline"),
    path("spaces/<uuid:space_id>/facts/", spaces.facts, name="space-facts"),
    path("spaces/<uuid:space_id>/notes/", spaces.notes, name="space-notes"),
    path("spaces/<uuid:space_id>/segments/", spaces.segments, name="space-segments"),
    path("spaces/<uuid:space_id>/entities/", spaces.entities, name="space-entities"),
    path("spaces/<uuid:space_id>/history/", spaces.history, name="space-history"),
    path("spaces/<uuid:space_id>/turns/<uuid:turn_id>/", spaces.turn, name="space-turn"),
    path("spaces/<uuid:space_id>/facts/<uuid:fact_id>/", memories.fact, name="space-fact"),
    path("spaces/<uuid:space_id>/notes/<uuid:note_id>/", memories.note, name="space-note"),
    path(
        "spaces/<uuid:space_id>/segments/<uuid:segment_id>/",
        memories.segment,
        name="space-segment",
    ),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/retry", jobs.retry, name="job-retry"),
    path("chat/", chat.choose, name="chat"),
    path("chat/<uuid:space_id>/", chat.talk, name="chat-with"),
    path("chat/<uuid:space_id>/say", chat.say, name="chat-say"),
    path("chat/<uuid:space_id>/jobs/<uuid:job_id>/", chat.decisions, name="chat-decisions"),
    path("policy/", policies.policy, name="policy"),
    path("policy/change", policies.change, name="policy-change"),
    path("policy/versions/<uuid:version_id>/return", policies.return_to, name="policy-return"),
    path("spaces/<uuid:space_id>/policy/", policies.space_policy, name="space-policy"),
    path(
        "spaces/<uuid:space_id>/policy/change",
        policies.space_change,
        name="space-policy-change",
    ),
    path("usage/", usage.usage, name="usage"),
    path("usage/<uuid:call_id>/", usage.call, name="usage-call"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<uuid:key_id>/revoke", keys.revoke, name="key-revoke"),
]
