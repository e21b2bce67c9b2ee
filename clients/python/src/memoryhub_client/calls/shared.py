"""What a tenant and one of its spaces have in common: a policy, and a file of all there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoryhub_client.calls.base import CallGroup, build_query
from memoryhub_client.calls.methods import Listing, M, Stream, call, pages, stream
from memoryhub_client.events import FileReader
from memoryhub_client.flows import Flow, Request
from memoryhub_client.rows.models import EffectivePolicy, PolicyVersion

# A file is made, and taken in, while the request waits.
FILE_SECONDS = 600.0


class SharedCalls(CallGroup[M]):
    @call
    def policy(self) -> Flow[EffectivePolicy]:
        """What is changed here, and all that is in force."""
        return self._fetch_row(EffectivePolicy, "policy")

    @call
    def set_policy(
        self,
        overrides: Mapping[str, Any],
        *,
        preset: str = "",
        dry_run: bool = False,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[EffectivePolicy]:
        """A new version: all that is to differ, by dotted names. Takes the scope admin."""
        body = {"overrides": overrides, "preset": preset, "reason": reason, "dry_run": dry_run}
        return self._read_row(
            EffectivePolicy, self._write_for_json("policy", body, key=key, version=version)
        )

    @pages
    def policy_versions(self) -> Listing[PolicyVersion]:
        """The latest first."""
        return self._build_listing(PolicyVersion, "policy/versions")

    @stream
    def export(self, *, embeddings: bool = False) -> Stream[bytes]:
        """Everything there is, as the bytes of a file of JSON lines, for `import_spaces`.

        `embeddings`: also vectors; else they are made anew. Of a tenant, takes the scope admin.
        """
        query = build_query(embeddings=embeddings or None)
        return Stream(
            Request("GET", self._build_path("export"), query, patience=FILE_SECONDS), FileReader
        )
