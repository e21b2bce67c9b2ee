"""What is counted where it happens, in the process that does it.

Web and worker processes of one machine share a folder (PROMETHEUS_MULTIPROC_DIR, set by the
launcher), so that any of them tells of all.
"""

from __future__ import annotations

from prometheus_client import Counter, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

REQUESTS = Counter("memoryhub_requests_total", "Requests answered", ["method", "route", "status"])
REQUEST_SECONDS = Histogram(
    "memoryhub_request_seconds", "Time until an answer began", ["route"], buckets=_SECONDS
)
TURNS = Counter("memoryhub_turns_total", "Messages taken in")
RECALL_SECONDS = Histogram("memoryhub_recall_seconds", "Time of a search", buckets=_SECONDS)
JOBS = Counter("memoryhub_jobs_total", "Steps that ended", ["step", "state"])
JOB_SECONDS = Histogram(
    "memoryhub_job_seconds", "Time of a step, from its claim to its end", ["step"], buckets=_SECONDS
)
DECISIONS = Counter("memoryhub_decisions_total", "What became of claims", ["decision"])
MODEL_CALLS = Counter(
    "memoryhub_model_calls_total", "Questions to models", ["purpose", "model", "status"]
)
MODEL_TOKENS = Counter("memoryhub_model_tokens_total", "Tokens of models", ["model", "direction"])
MODEL_COST = Counter("memoryhub_model_cost_total", "Money for models, by the price list", ["model"])
