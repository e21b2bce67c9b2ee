"""Routes of OpenAI's clients, under the base URL they are given."""

from __future__ import annotations

from django.urls import path, re_path

from api.openai import model_views, views

app_name = "openai"

urlpatterns = [
    path("chat/completions", views.ChatView.as_view(), name="chat"),
    path("responses", views.ResponsesView.as_view(), name="responses"),
    path("models", model_views.ModelsView.as_view(), name="models"),
    path("models/<path:name>", model_views.ModelView.as_view(), name="model"),
    path("embeddings", model_views.EmbeddingsView.as_view(), name="embeddings"),
    re_path(r"^.*$", views.OpenAINotFoundView.as_view(), name="not-found"),
]
