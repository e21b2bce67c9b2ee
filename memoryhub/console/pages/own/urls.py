"""The addresses of a person's own page. None of them names whom it is about."""

from __future__ import annotations

from django.urls import path

from memoryhub.console.pages.own import views

urlpatterns = [
    path("open", views.open_link_page, name="me-open"),
    path("close", views.end_visit, name="me-close"),
    path("", views.own_memory_list_page, name="me"),
    path("tell", views.add_own_memory, name="me-tell"),
    path("memories/<uuid:fact_id>/", views.own_memory_page, name="me-memory"),
    path("memories/<uuid:fact_id>/erase", views.memory_erasure_page, name="me-memory-erase"),
    path("about/", views.about_page, name="me-about"),
    path("about/<slug:key>", views.correct_own_trait, name="me-trait"),
    path("notes/", views.own_note_list_page, name="me-notes"),
    path("notes/<uuid:note_id>/forget", views.forget_own_note, name="me-note-forget"),
    path("data/", views.own_data_page, name="me-data"),
    path("data/pause", views.set_own_pause, name="me-pause"),
    path("data/export", views.export_own_data, name="me-export"),
    path("data/erase", views.own_erasure_page, name="me-erase"),
]
