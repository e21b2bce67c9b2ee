"""Routes of keys, members and the links of persons."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_action_routes, build_space_route
from api.v1.access import keys, members, person_links

urlpatterns = [
    build_space_route("person-links", person_links.PersonLinksView, "person-links"),
    build_space_route("person-links/new", person_links.NewPersonLinkView, "person-link-new"),
    *build_action_routes("person-links", "person-link", revoke=person_links.RevokePersonLinkView),
    path("keys", keys.KeysView.as_view(), name="keys"),
    path("keys/new", keys.NewKeyView.as_view(), name="key-new"),
    path("keys/<uuid:row_id>/rotate", keys.RotateKeyView.as_view(), name="key-rotate"),
    path("keys/<uuid:row_id>/revoke", keys.RevokeKeyView.as_view(), name="key-revoke"),
    path("members", members.MembersView.as_view(), name="members"),
    path("members/new", members.NewMemberView.as_view(), name="member-new"),
    path("members/<uuid:row_id>/role", members.SetMemberRoleView.as_view(), name="member-role"),
    path("members/<uuid:row_id>/remove", members.RemoveMemberView.as_view(), name="member-remove"),
]
