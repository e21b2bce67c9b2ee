"""The console's addresses. Every view is a link."""

from __future__ import annotations

from django.urls import path

from memoryhub.console.views import (
    account,
    chat,
    episodes,
    erasing,
    history,
    jobs,
    keys,
    memories,
    overview,
    personas,
    policies,
    review,
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
    path("spaces/<uuid:space_id>/episodes/", episodes.episodes, name="space-episodes"),
    path("spaces/<uuid:space_id>/entities/", spaces.entities, name="space-entities"),
    path("spaces/<uuid:space_id>/persona/", personas.persona, name="space-persona"),
    path("spaces/<uuid:space_id>/persona/trait", personas.set_trait, name="space-trait"),
    path("spaces/<uuid:space_id>/persona/profile", personas.set_profile, name="space-profile"),
    path("spaces/<uuid:space_id>/blocks/", personas.block_list, name="space-blocks"),
    path("spaces/<uuid:space_id>/blocks/new", personas.new_block, name="block-new"),
    path("spaces/<uuid:space_id>/blocks/<uuid:block_id>/", personas.block, name="space-block"),
    *(
        path(f"spaces/<uuid:space_id>/blocks/<uuid:block_id>/{name}", view, name=f"block-{name}")
        for name, view in (
            ("save", personas.save_block),
            ("attach", personas.attach_block),
            ("detach", personas.detach_block),
            ("delete", personas.delete_block),
        )
    ),
    path("spaces/<uuid:space_id>/history/", spaces.history, name="space-history"),
    path("spaces/<uuid:space_id>/history/roll-back/", history.rolling_back, name="space-roll-back"),
    path("spaces/<uuid:space_id>/history/<uuid:event_id>/", history.event, name="space-event"),
    path("spaces/<uuid:space_id>/review/", review.of_space, name="space-review"),
    path("spaces/<uuid:space_id>/erase/", erasing.erase, name="space-erase"),
    path("spaces/<uuid:space_id>/turns/<uuid:turn_id>/", spaces.turn, name="space-turn"),
    path("spaces/<uuid:space_id>/facts/<uuid:fact_id>/", memories.fact, name="space-fact"),
    path("spaces/<uuid:space_id>/notes/<uuid:note_id>/", memories.note, name="space-note"),
    path(
        "spaces/<uuid:space_id>/segments/<uuid:segment_id>/",
        memories.segment,
        name="space-segment",
    ),
    path(
        "spaces/<uuid:space_id>/episodes/<uuid:episode_id>/",
        episodes.episode,
        name="space-episode",
    ),
    path("review/", review.review, name="review"),
    path("review/<uuid:proposal_id>/", review.case, name="review-case"),
    path("receipts/", erasing.receipts, name="receipts"),
    path("receipts/<uuid:receipt_id>/", erasing.receipt, name="receipt"),
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
