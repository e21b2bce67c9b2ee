"""The console's addresses. Every view is a link."""

from __future__ import annotations

from django.urls import path
from django.views.i18n import set_language

from memoryhub.console.pages.account import views
from memoryhub.console.pages.changes import views as changes_views
from memoryhub.console.pages.chat import views as chat_views
from memoryhub.console.pages.embeddings import views as embeddings_views
from memoryhub.console.pages.episodes import views as episodes_views
from memoryhub.console.pages.erasure import views as erasure_views
from memoryhub.console.pages.exchange import views as exchange_views
from memoryhub.console.pages.feedback import views as feedback_views
from memoryhub.console.pages.golden import views as golden_views
from memoryhub.console.pages.graph import views as graph_views
from memoryhub.console.pages.heat import views as heat_views
from memoryhub.console.pages.history import views as history_views
from memoryhub.console.pages.imports import views as imports_views
from memoryhub.console.pages.jobs import views as jobs_views
from memoryhub.console.pages.keys import views as keys_views
from memoryhub.console.pages.lab import views as lab_views
from memoryhub.console.pages.map import views as map_views
from memoryhub.console.pages.memories import views as memories_views
from memoryhub.console.pages.overview import views as overview_views
from memoryhub.console.pages.people import views as people_views
from memoryhub.console.pages.person_links import views as person_links_views
from memoryhub.console.pages.persona import views as persona_views
from memoryhub.console.pages.policies import views as policies_views
from memoryhub.console.pages.quality import views as quality_views
from memoryhub.console.pages.recalls import views as recalls_views
from memoryhub.console.pages.replays import views as replays_views
from memoryhub.console.pages.requests import views as requests_views
from memoryhub.console.pages.review import views as review_views
from memoryhub.console.pages.rules import views as rules_views
from memoryhub.console.pages.search import views as search_views
from memoryhub.console.pages.settings import views as settings_views
from memoryhub.console.pages.spaces import views as spaces_views
from memoryhub.console.pages.usage import views as usage_views
from memoryhub.console.pages.webhooks import views as webhooks_views

urlpatterns = [
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-out", views.sign_out, name="sign-out"),
    path("language", set_language, name="language"),
    path("tenant", views.choose_tenant, name="choose-tenant"),
    path("", overview_views.overview_page, name="overview"),
    path("search", overview_views.tenant_search_page, name="search"),
    path("spaces/", spaces_views.space_list_page, name="spaces"),
    path("spaces/import", exchange_views.space_import_page, name="spaces-import"),
    path("spaces/export", exchange_views.export_tenant, name="spaces-export"),
    path("spaces/<uuid:space_id>/export", exchange_views.export_space, name="space-export"),
    path("spaces/<uuid:space_id>/", spaces_views.timeline_page, name="space-timeline"),
    path("spaces/<uuid:space_id>/facts/", spaces_views.fact_list_page, name="space-facts"),
    path("spaces/<uuid:space_id>/notes/", spaces_views.note_list_page, name="space-notes"),
    path("spaces/<uuid:space_id>/segments/", spaces_views.segment_list_page, name="space-segments"),
    path("spaces/<uuid:space_id>/heat/", heat_views.heat_page, name="space-heat"),
    path(
        "spaces/<uuid:space_id>/episodes/", episodes_views.episode_list_page, name="space-episodes"
    ),
    path("spaces/<uuid:space_id>/entities/", spaces_views.entity_list_page, name="space-entities"),
    path("spaces/<uuid:space_id>/graph/", graph_views.graph_page, name="space-graph"),
    path("spaces/<uuid:space_id>/graph/data.json", graph_views.graph_data, name="space-graph-data"),
    path(
        "spaces/<uuid:space_id>/graph/about", graph_views.graph_node_part, name="space-graph-about"
    ),
    path("spaces/<uuid:space_id>/map/", map_views.map_page, name="space-map"),
    path("spaces/<uuid:space_id>/map/data.json", map_views.map_data, name="space-map-data"),
    path("spaces/<uuid:space_id>/map/begin", map_views.draw_map, name="space-map-begin"),
    path("spaces/<uuid:space_id>/persona/", persona_views.persona_page, name="space-persona"),
    path("spaces/<uuid:space_id>/persona/trait", persona_views.correct_trait, name="space-trait"),
    path(
        "spaces/<uuid:space_id>/persona/profile",
        persona_views.correct_profile_entry,
        name="space-profile",
    ),
    path("spaces/<uuid:space_id>/blocks/", persona_views.block_list_page, name="space-blocks"),
    path("spaces/<uuid:space_id>/blocks/new", persona_views.create_block, name="block-new"),
    path(
        "spaces/<uuid:space_id>/blocks/<uuid:block_id>/",
        persona_views.block_page,
        name="space-block",
    ),
    *(
        path(f"spaces/<uuid:space_id>/blocks/<uuid:block_id>/{name}", view, name=f"block-{name}")
        for name, view in (
            ("save", persona_views.save_block),
            ("attach", persona_views.attach_block),
            ("detach", persona_views.detach_block),
            ("delete", persona_views.delete_block),
        )
    ),
    path("spaces/<uuid:space_id>/history/", spaces_views.history_page, name="space-history"),
    path(
        "spaces/<uuid:space_id>/history/roll-back/",
        history_views.roll_back_page,
        name="space-roll-back",
    ),
    path(
        "spaces/<uuid:space_id>/history/<uuid:event_id>/",
        history_views.event_page,
        name="space-event",
    ),
    path("spaces/<uuid:space_id>/golden/", golden_views.space_golden_page, name="space-golden"),
    path(
        "spaces/<uuid:space_id>/golden/new",
        golden_views.new_golden_question_page,
        name="space-golden-new",
    ),
    path(
        "spaces/<uuid:space_id>/golden/<uuid:question_id>/",
        golden_views.golden_question_page,
        name="space-golden-question",
    ),
    path("lab/", lab_views.lab_run_list_page, name="lab"),
    path("lab/new", lab_views.new_lab_run_page, name="lab-new"),
    path("lab/import", lab_views.import_lab_report, name="lab-import"),
    path("lab/<uuid:lab_id>/", lab_views.lab_run_page, name="lab-run"),
    path("lab/<uuid:lab_id>/questions/", lab_views.lab_question_list_page, name="lab-questions"),
    path(
        "lab/<uuid:lab_id>/questions/<uuid:outcome_id>/",
        lab_views.lab_question_page,
        name="lab-question",
    ),
    *(
        path(f"lab/<uuid:lab_id>/{name}", view, name=f"lab-{name.removesuffix('.json')}")
        for name, view in (
            ("report.json", lab_views.download_lab_report),
            ("stop", lab_views.stop_lab_run),
            ("resume", lab_views.resume_lab_run),
            ("delete", lab_views.delete_lab_run),
        )
    ),
    path("embeddings/", embeddings_views.embedding_list_page, name="embeddings"),
    path("embeddings/begin", embeddings_views.start_migrations, name="embeddings-begin"),
    path("embeddings/<uuid:space_id>/", embeddings_views.embedding_page, name="embedding"),
    path(
        "embeddings/<uuid:space_id>/begin", embeddings_views.start_migration, name="embedding-begin"
    ),
    path(
        "embeddings/<uuid:space_id>/decide",
        embeddings_views.decide_migration,
        name="embedding-decide",
    ),
    path("golden/", golden_views.golden_list_page, name="golden"),
    path("replays/", replays_views.replay_list_page, name="replays"),
    path("replays/start", replays_views.try_engine, name="replay-start"),
    path("replays/<uuid:run_id>/", replays_views.replay_page, name="replay"),
    path("replays/<uuid:run_id>/cancel", replays_views.cancel_replay, name="replay-cancel"),
    path("replays/<uuid:run_id>/decide", replays_views.decide_replay, name="replay-decide"),
    path("spaces/<uuid:space_id>/review/", review_views.space_review_page, name="space-review"),
    path("spaces/<uuid:space_id>/erase/", erasure_views.erasure_page, name="space-erase"),
    path(
        "spaces/<uuid:space_id>/person/",
        person_links_views.person_link_list_page,
        name="space-person",
    ),
    path(
        "spaces/<uuid:space_id>/person/<uuid:link_id>/revoke",
        person_links_views.revoke_person_link,
        name="space-person-revoke",
    ),
    path("spaces/<uuid:space_id>/pause", person_links_views.set_space_pause, name="space-pause"),
    path(
        "spaces/<uuid:space_id>/turns/<uuid:turn_id>/",
        spaces_views.redirect_to_turn,
        name="space-turn",
    ),
    path(
        "spaces/<uuid:space_id>/facts/<uuid:fact_id>/", memories_views.fact_page, name="space-fact"
    ),
    path(
        "spaces/<uuid:space_id>/notes/<uuid:note_id>/", memories_views.note_page, name="space-note"
    ),
    path(
        "spaces/<uuid:space_id>/segments/<uuid:segment_id>/",
        memories_views.segment_page,
        name="space-segment",
    ),
    path(
        "spaces/<uuid:space_id>/episodes/<uuid:episode_id>/",
        episodes_views.episode_page,
        name="space-episode",
    ),
    path("quality/", quality_views.quality_page, name="quality"),
    path("spaces/<uuid:space_id>/quality/", quality_views.space_quality_page, name="space-quality"),
    path(
        "spaces/<uuid:space_id>/quality/measure",
        quality_views.measure_quality,
        name="space-quality-measure",
    ),
    path(
        "spaces/<uuid:space_id>/quality/<uuid:fact_id>/act",
        quality_views.resolve_quality_finding,
        name="space-quality-act",
    ),
    path("review/", review_views.review_page, name="review"),
    path("review/answer", review_views.answer_cases, name="review-answer"),
    path("review/rules/", rules_views.rule_list_page, name="review-rules"),
    path(
        "review/rules/<uuid:rule_id>/remove",
        rules_views.remove_review_rule,
        name="review-rule-remove",
    ),
    path("review/<uuid:proposal_id>/", review_views.case_page, name="review-case"),
    path("review/<uuid:proposal_id>/take-back", review_views.undo_answer, name="review-take-back"),
    path("receipts/", erasure_views.receipt_list_page, name="receipts"),
    path("receipts/<uuid:receipt_id>/", erasure_views.receipt_page, name="receipt"),
    path("imports/", imports_views.import_list_page, name="imports"),
    path("imports/new", imports_views.start_import, name="import-new"),
    path("imports/<uuid:import_id>/", imports_views.import_page, name="import"),
    path("imports/<uuid:import_id>/take", imports_views.accept_import, name="import-take"),
    path("changes/", changes_views.change_list_page, name="changes"),
    path("requests/", requests_views.request_list_page, name="requests"),
    path("jobs/", jobs_views.job_list_page, name="jobs"),
    path("jobs/<uuid:job_id>/", jobs_views.job_page, name="job"),
    path("jobs/<uuid:job_id>/cancel", jobs_views.request_job_cancel, name="job-cancel"),
    path("jobs/<uuid:job_id>/retry", jobs_views.request_job_retry, name="job-retry"),
    path("chat/", chat_views.chat_start_page, name="chat"),
    path("chat/load", chat_views.load_sample_conversation, name="chat-load"),
    path("chat/<uuid:space_id>/", chat_views.chat_page, name="chat-with"),
    path("chat/<uuid:space_id>/reading", chat_views.chat_reading_part, name="chat-reading"),
    path(
        "chat/<uuid:space_id>/turns/<uuid:turn_id>/keep", chat_views.keep_message, name="chat-keep"
    ),
    path(
        "chat/<uuid:space_id>/facts/<uuid:fact_id>/forget",
        chat_views.forget_fact,
        name="chat-forget",
    ),
    path("chat/<uuid:space_id>/say", chat_views.send_message, name="chat-say"),
    path(
        "chat/<uuid:space_id>/jobs/<uuid:job_id>/",
        chat_views.chat_decisions_part,
        name="chat-decisions",
    ),
    path("policy/", policies_views.policy_page, name="policy"),
    path("policy/change", policies_views.change_policy, name="policy-change"),
    path("policy/try", policies_views.try_policy, name="policy-try"),
    path(
        "policy/versions/<uuid:version_id>/return",
        policies_views.return_to_version,
        name="policy-return",
    ),
    path("spaces/<uuid:space_id>/policy/", policies_views.space_policy_page, name="space-policy"),
    path(
        "spaces/<uuid:space_id>/policy/change",
        policies_views.change_space_policy,
        name="space-policy-change",
    ),
    path(
        "spaces/<uuid:space_id>/policy/try",
        policies_views.try_space_policy,
        name="space-policy-try",
    ),
    path("spaces/<uuid:space_id>/search", search_views.space_search_page, name="space-search"),
    path("feedback/", feedback_views.feedback_list_page, name="feedback"),
    path("recalls/", recalls_views.recall_list_page, name="recalls"),
    path("recalls/<uuid:recall_id>/", recalls_views.recall_page, name="recall"),
    path("usage/", usage_views.usage_page, name="usage"),
    path("usage/redact", usage_views.redact_calls, name="usage-redact-all"),
    path("usage/<uuid:call_id>/redact", usage_views.redact_call, name="usage-redact"),
    path("usage/<uuid:call_id>/", usage_views.model_call_page, name="usage-call"),
    path("webhooks/", webhooks_views.webhook_list_page, name="webhooks"),
    path("webhooks/new", webhooks_views.new_webhook_page, name="webhook-new"),
    path("webhooks/<uuid:hook_id>/", webhooks_views.webhook_page, name="webhook"),
    *(
        path(f"webhooks/<uuid:hook_id>/{name}", view, name=f"webhook-{name}")
        for name, view in (
            ("ping", webhooks_views.ping_webhook),
            ("rotate", webhooks_views.rotate_webhook_secret),
            ("switch", webhooks_views.switch_webhook),
            ("delete", webhooks_views.delete_webhook),
        )
    ),
    path(
        "webhooks/<uuid:hook_id>/deliveries/<uuid:delivery_id>/",
        webhooks_views.delivery_page,
        name="webhook-delivery",
    ),
    path(
        "webhooks/<uuid:hook_id>/deliveries/<uuid:delivery_id>/replay",
        webhooks_views.replay_delivery,
        name="webhook-replay",
    ),
    path("settings/", settings_views.settings_page, name="settings"),
    path("models/", settings_views.models_page, name="models"),
    path("models/test", settings_views.probe_models, name="models-test"),
    path("models/engine", settings_views.choose_engine, name="models-engine"),
    path("data/", settings_views.data_page, name="data"),
    path("data/erase", settings_views.erase_all_spaces, name="data-erase"),
    path("people/", people_views.person_list_page, name="people"),
    path("people/<uuid:member_id>/role", people_views.change_member_role, name="person-role"),
    path("people/<uuid:member_id>/remove", people_views.remove_member, name="person-remove"),
    path("keys/", keys_views.key_list_page, name="keys"),
    path("keys/<uuid:key_id>/revoke", keys_views.revoke_api_key, name="key-revoke"),
]
