"""Every setting of the hub, read from the environment once, at start.

docs/reference/settings.md describes each variable; a test holds the two together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memoryhub import env
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.inference.endpoint_addresses import parse_origins
from memoryhub.inference.prices import parse_prices
from memoryhub.tenants.sign_in.openid_provider import check_provider_address
from memoryhub.tenants.sign_in.openid_roles import parse_role_rules
from memoryhub.webhooks.targets import parse_networks

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.read_path("MEMORYHUB_DATA_DIR", BASE_DIR / "var")

DEBUG = env.read_flag("MEMORYHUB_DEBUG", False)
HOST = env.read_text("MEMORYHUB_HOST", "127.0.0.1")
PORT = env.read_integer("MEMORYHUB_PORT", 8000, least=1)
ALLOWED_HOSTS = env.read_names("MEMORYHUB_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]", HOST))
CSRF_TRUSTED_ORIGINS = env.read_names("MEMORYHUB_TRUSTED_ORIGINS")
HTTPS = env.read_flag("MEMORYHUB_HTTPS", False)
# Keys of before, the newest first: what they signed still counts.
SECRET_KEY_FALLBACKS = env.read_names("MEMORYHUB_SECRET_KEY_FALLBACKS")
SECRET_KEY = env.read_text("MEMORYHUB_SECRET_KEY") or env.ensure_secret_key(DATA_DIR)

# The cell of several that this is: two characters that its keys begin with.
CELL = env.read_parsed("MEMORYHUB_CELL", env.parse_cell)

# --- database: the app's role sees only its tenant, the owner migrates ---
DATABASE_URL = env.read_text("DATABASE_URL")
DATABASE_OWNER_URL = env.read_text("DATABASE_OWNER_URL", DATABASE_URL)
# A streaming copy, which serves what only reads as soon as it has all that was written before.
DATABASE_REPLICA_URL = env.read_text("DATABASE_REPLICA_URL")
REPLICA_WAIT_SECONDS = env.read_number("MEMORYHUB_REPLICA_WAIT_SECONDS", 0.1)
# Connections go through a pooler that gives one out for a transaction (PgBouncer).
DATABASE_POOLED = env.read_flag("MEMORYHUB_DATABASE_POOLED", False)
EMBEDDED = not DATABASE_URL
_embedded = EmbeddedPostgres(DATA_DIR) if EMBEDDED else None
_app_url = _embedded.dsn("app") if _embedded else DATABASE_URL
_owner_url = _embedded.dsn("owner") if _embedded else DATABASE_OWNER_URL

# A pool per web process. Celery's Django fix-up closes pools after every task, so workers
# and commands keep one connection a thread instead.
IS_WEB = env.read_choice("MEMORYHUB_PROCESS", "command", ("web", "worker", "command")) == "web"
# Of a web process: requests that are worked on at once, those that may wait for something beside
# them, and the seconds that a body may take before it has to come at a rate.
WEB_PLACES = env.read_integer("MEMORYHUB_WEB_PLACES", 4, least=1)
WEB_WAITING = env.read_integer("MEMORYHUB_WEB_WAITING", 512, least=0)
# Bytes of bodies, of all requests together, that are held before their requests have places.
BODIES_BYTES = env.read_integer("MEMORYHUB_BODIES_BYTES", 256 * 1024 * 1024, least=1024 * 1024)
BODY_SECONDS = env.read_number("MEMORYHUB_BODY_SECONDS", 20.0)
# Statements of database/prepared.py are prepared when they first run; no others are. Behind a
# pooler none is: the next transaction may have another connection, which does not know it.
_prepared: dict[str, Any] = {"prepare_threshold": None if DATABASE_POOLED else 0}
_pool = {"min_size": 1, "max_size": WEB_PLACES + 8}
_options: dict[str, Any] = (
    {"OPTIONS": {**_prepared, "pool": _pool}}
    if IS_WEB
    else {"OPTIONS": _prepared, "CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
)
DATABASES = {
    "default": env.parse_database_url(_app_url, **_options),
    "owner": env.parse_database_url(_owner_url),
}
if DATABASE_REPLICA_URL:
    if IS_WEB:
        _options["OPTIONS"] |= {"pool": _pool | {"timeout": 1.0}}
    DATABASES["replica"] = env.parse_database_url(DATABASE_REPLICA_URL, **_options)
DATABASE_ROUTERS = ["memoryhub.tenants.database.replica.PrimaryRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "tenants.User"

# --- broker: kombu's queue in the same Postgres unless another is named ---
CELERY_BROKER_URL = env.read_text("CELERY_BROKER_URL") or "pgmq://localhost"
BROKER_DSN = _app_url
JOB_LEASE_SECONDS = env.read_integer("MEMORYHUB_JOB_LEASE_SECONDS", 60, least=1)
JOB_MAX_ATTEMPTS = env.read_integer("MEMORYHUB_JOB_MAX_ATTEMPTS", 8, least=1)
JOB_BACKOFF_SECONDS = env.read_number("MEMORYHUB_JOB_BACKOFF_SECONDS", 2.0)
# A job that runs longer is given up; 0: none is.
JOB_SECONDS = env.read_number("MEMORYHUB_JOB_SECONDS", 1800.0)
WORKER_THREADS = env.read_integer("MEMORYHUB_WORKER_THREADS", 8, least=1)
SWEEP_SECONDS = env.read_integer("MEMORYHUB_SWEEP_SECONDS", 10, least=1)

# --- models ---
EMBEDDER = env.read_choice(
    "MEMORYHUB_EMBEDDER", "onnx", ("onnx", "minilm", "sentence-transformers", "openai")
)
EMBEDDING_MODEL = env.read_text("MEMORYHUB_EMBEDDING_MODEL")
EMBEDDING_DIMENSION = env.read_integer("MEMORYHUB_EMBEDDING_DIMENSION", 0)
OPENAI_BASE_URL = env.read_text("OPENAI_BASE_URL")
OPENAI_API_KEY = env.read_text("OPENAI_API_KEY")
LLM_MODEL = env.read_text("MEMORYHUB_LLM_MODEL")
# Hosts that admins of tenants may name as their own endpoint; without any only operators name one.
TENANT_ENDPOINTS = env.read_parsed("MEMORYHUB_TENANT_ENDPOINTS", parse_origins)
# An operator's own prompts, which policies choose by name.
PROMPTS = env.read_path("MEMORYHUB_PROMPTS", DATA_DIR / "prompts")
MODEL_THREADS = env.read_integer("MEMORYHUB_MODEL_THREADS", 1, least=1)
# Of one reply; more with what it is about, and where a model thinks before it replies.
LLM_MAX_TOKENS = env.read_integer("MEMORYHUB_LLM_MAX_TOKENS", 4000, least=100)
MODEL_TIMEOUT_SECONDS = env.read_number("MEMORYHUB_MODEL_TIMEOUT_SECONDS", 60.0)
# What puts the best of what was found in order, where a policy wants it.
RERANKER = env.read_choice(
    "MEMORYHUB_RERANKER", "packaged", ("off", "packaged", "cross-encoder", "endpoint")
)
RERANKER_MODEL = env.read_text("MEMORYHUB_RERANKER_MODEL")
RERANKER_URL = env.read_text("MEMORYHUB_RERANKER_URL")
RERANKER_API_KEY = env.read_text("MEMORYHUB_RERANKER_API_KEY")
RERANKER_TIMEOUT_SECONDS = env.read_number("MEMORYHUB_RERANKER_TIMEOUT_SECONDS", 5.0)
# What was recalled and asked is written down by a thread every so often; 0: never.
FLUSH_SECONDS = env.read_number("MEMORYHUB_FLUSH_SECONDS", 5.0)
# Days that the recall log is kept; 0: there is none.
RECALL_LOG_DAYS = env.read_integer("MEMORYHUB_RECALL_LOG_DAYS", 30, least=0)
# Days that the log of requests is kept; 0: there is none.
REQUEST_LOG_DAYS = env.read_integer("MEMORYHUB_REQUEST_LOG_DAYS", 7, least=0)
# What clients ask through the hub: further models they may name, and how long one may think.
PROXY_MODELS = env.read_names("MEMORYHUB_PROXY_MODELS")
PROXY_TIMEOUT_SECONDS = env.read_number("MEMORYHUB_PROXY_TIMEOUT_SECONDS", 300.0)
MODEL_PRICES = env.read_parsed("MEMORYHUB_MODEL_PRICES", parse_prices)
MODEL_CALLS_KEEP_TEXT = env.read_flag("MEMORYHUB_MODEL_CALLS_KEEP_TEXT", True)
MODEL_BREAKER_FAILURES = env.read_integer("MEMORYHUB_MODEL_BREAKER_FAILURES", 5, least=1)

# Dialogue sets that the console's lab may read: an operator puts them there.
LAB_DATA = env.read_path("MEMORYHUB_LAB_DATA", DATA_DIR / "lab")

# --- limits (spec E4) ---
MAX_TEXT_BYTES = 1024 * 1024
MAX_MESSAGES = env.read_integer("MEMORYHUB_MAX_MESSAGES", 500, least=1)
# Requests of one API key in a minute; 0: as many as it likes.
RATE_LIMIT_PER_MINUTE = env.read_integer("MEMORYHUB_RATE_LIMIT_PER_MINUTE", 6000, least=0)
# Messages that a tenant without a quota of its own may keep; 0: any number.
MAX_TURNS = env.read_integer("MEMORYHUB_MAX_TURNS", 0, least=0)
# Steps of a tenant that may wait to be done before it has to wait itself; 0: any number.
MAX_WAITING_JOBS = env.read_integer("MEMORYHUB_MAX_WAITING_JOBS", 20_000, least=0)
# A file of an export, which is written to disk as it comes.
MAX_IMPORT_BYTES = env.read_integer("MEMORYHUB_MAX_IMPORT_BYTES", 1024 * 1024 * 1024, least=1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = env.read_integer(
    "MEMORYHUB_MAX_BODY_BYTES", 16 * 1024 * 1024, least=1024
)

# Who gives hosts of the Model Context Protocol their keys, as OAuth has it; empty: people do.
OAUTH_ISSUER = env.read_text("MEMORYHUB_OAUTH_ISSUER")

# --- webhooks ---
WEBHOOK_ALLOW_HTTP = env.read_flag("MEMORYHUB_WEBHOOK_ALLOW_HTTP", False)
# Networks of one's own that webhooks may be sent to; no others that are not public.
WEBHOOK_PRIVATE_NETWORKS = env.read_parsed("MEMORYHUB_WEBHOOK_PRIVATE_NETWORKS", parse_networks)
WEBHOOK_TIMEOUT_SECONDS = env.read_number("MEMORYHUB_WEBHOOK_TIMEOUT_SECONDS", 10.0)
WEBHOOK_MAX_ATTEMPTS = env.read_integer("MEMORYHUB_WEBHOOK_MAX_ATTEMPTS", 8, least=1)
WEBHOOK_BACKOFF_SECONDS = env.read_number("MEMORYHUB_WEBHOOK_BACKOFF_SECONDS", 10.0)
WEBHOOK_LOG_DAYS = env.read_integer("MEMORYHUB_WEBHOOK_LOG_DAYS", 30, least=1)

INSTALLED_APPS = [
    "memoryhub",
    "memoryhub.tenants",
    "memoryhub.policies",
    "memoryhub.inference",
    "memoryhub.dialogues",
    "notes",
    "personas",
    "memoryhub.pipeline",
    "memoryhub.recall",
    "memoryhub.agents",
    "memoryhub.golden",
    "memoryhub.importers",
    "memoryhub.webhooks",
    "memoryhub.items",
    "api",
    "memoryhub.lab",
    "memoryhub.console",
    "memoryhub.console.admin_site.HubAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "corsheaders",
]
MIDDLEWARE = [
    "memoryhub.observability.tracing.TracingMiddleware",
    "memoryhub.observability.logs.RequestIdMiddleware",
    "memoryhub.metrics.middleware.MetricsMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "api.core.request_log.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memoryhub.console.frame.middleware.PageLanguageMiddleware",
    "memoryhub.console.frame.middleware.ConsoleTenantMiddleware",
]
ROOT_URLCONF = "memoryhub.urls"
# A page lies beside its view and its queries; templates/ has what pages share.
TEMPLATE_DIRS = [BASE_DIR / "templates", BASE_DIR / "memoryhub" / "console" / "pages"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": TEMPLATE_DIRS,
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memoryhub.console.frame.context.build_frame_context",
            ]
        },
    }
]

# --- pages ---
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
FORMAT_MODULE_PATH = "memoryhub.formats"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise warns of a missing folder
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "memoryhub.console.pages.lab.plotly_finder.PlotlyFinder",
]
WHITENOISE_USE_FINDERS = True
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign-in"

# --- security ---
_SELF = "'self'"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [_SELF],
        "img-src": [_SELF, "data:"],
        "frame-ancestors": ["'none'"],
        "base-uri": [_SELF],
        "form-action": [_SELF],
        "object-src": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
# `check --deploy` asks for what the proxy that ends TLS decides (W008: to redirect there) and for
# promises about other hosts of the domain (W005, W021), which are not the hub's to make.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"] + ["security.W008"] * HTTPS
SESSION_ENGINE = "memoryhub.tenants.sign_in.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
# The bounds that OWASP gives for argon2id: 19 MiB for a comparison, where Django takes 100.
PASSWORD_HASHERS = [
    "memoryhub.tenants.sign_in.sessions.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
# New passwords are asked for by mail where there is a server that sends it.
_mail = env.read_parsed("MEMORYHUB_MAIL_URL", env.parse_mail_url)
EMAIL_HOST, EMAIL_PORT, EMAIL_TIMEOUT = _mail.host, _mail.port, 20
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.starts_tls, _mail.is_tls
DEFAULT_FROM_EMAIL = env.read_text("MEMORYHUB_MAIL_FROM", "memoryhub@localhost")
# Proxies in front that add the address of who asked them to X-Forwarded-For.
PROXIES = env.read_integer("MEMORYHUB_PROXIES", 1 if HTTPS else 0)
# Who says who somebody is, beside a password; without an issuer nobody does.
OIDC_ISSUER = env.read_parsed("MEMORYHUB_OIDC_ISSUER", check_provider_address)
OIDC_CLIENT_ID = env.read_text("MEMORYHUB_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env.read_text("MEMORYHUB_OIDC_CLIENT_SECRET")
OIDC_LABEL = env.read_text("MEMORYHUB_OIDC_LABEL", "OpenID Connect")
OIDC_SCOPES = env.read_names("MEMORYHUB_OIDC_SCOPES", ("openid", "profile", "email"))
OIDC_ROLES_CLAIM = env.read_text("MEMORYHUB_OIDC_ROLES_CLAIM", "groups")
OIDC_ROLES = env.read_parsed("MEMORYHUB_OIDC_ROLES", parse_role_rules)
OIDC_ADMIT_UNKNOWN = env.read_flag("MEMORYHUB_OIDC_ADMIT_UNKNOWN", False)
# What it calls a sign-in with more than a password, in `amr` or `acr`.
OIDC_SECOND_FACTOR = env.read_names("MEMORYHUB_OIDC_SECOND_FACTOR")
OIDC_SESSION_HOURS = env.read_integer("MEMORYHUB_OIDC_SESSION_HOURS", 12, least=1)
AUTHENTICATION_BACKENDS = ["memoryhub.tenants.sign_in.sessions.PersonBackend"]
# Whose pages a browser lets read what programs are answered, with a key and without cookies.
_cors_origins = env.read_names("MEMORYHUB_CORS_ORIGINS")
CORS_ALLOW_ALL_ORIGINS = "*" in _cors_origins
CORS_ALLOWED_ORIGINS = [] if CORS_ALLOW_ALL_ORIGINS else _cors_origins
# Not the pages, and not what is for anybody as it is.
CORS_URLS_REGEX = r"^/(?:api/v1|v[123]|openai/v1|mcp)(?:/|$)"
# All of both: no cookie goes along. "*" alone leaves the key out.
CORS_ALLOW_HEADERS = ("*", "authorization")
CORS_EXPOSE_HEADERS = ("*",)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.core.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["api.core.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.core.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "api.schema.openapi.HubSchema",
    "DEFAULT_THROTTLE_CLASSES": ["api.core.rate_limit.KeyThrottle"],
    "EXCEPTION_HANDLER": "api.core.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "MemoryHub",
    "DESCRIPTION": "Long-term memory for LLM agents.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.schema.complete.complete_description",
    ],
}

# What /metrics asks for; without one there is no such page.
METRICS_TOKEN = env.read_text("MEMORYHUB_METRICS_TOKEN")
# Where traces go; without it there are none. What sends them reads its other settings by itself.
OTLP_ENDPOINT = env.read_text("OTEL_EXPORTER_OTLP_ENDPOINT")
LOG_LEVEL = env.read_choice("MEMORYHUB_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING_CONFIG = "memoryhub.observability.logs.configure_logging"
LOGGING: dict[str, Any] = {"level": LOG_LEVEL, "json": env.read_flag("MEMORYHUB_LOG_JSON", False)}
