"""The addresses of a person's own page. None of them names whom it is about."""

from __future__ import annotations

from django.urls import path

from memoryhub.console.own import views

urlpatterns = [
    path("open", views.open_page, name="me-open"),
    path("close", views.close, name="me-close"),
    path("", views.memories, name="me"),
    path("tell", views.tell, name="me-tell"),
    path("memories/<uuid:fact_id>/", views.memory, name="me-memory"),
    path("memories/<uuid:fact_id>/erase", views.erase_memory, name="me-memory-erase"),
    path("about/", views.about, name="me-about"),
    path("about/<slug:key>", views.trait, name="me-trait"),
    path("notes/", views.notes, name="me-notes"),
    path("notes/<uuid:note_id>/forget", views.forget_note, name="me-note-forget"),
    path("data/", views.data, name="me-data"),
    path("data/pause", views.pausing, name="me-pause"),
    path("data/export", views.export, name="me-export"),
    path("data/erase", views.erase, name="me-erase"),
]
