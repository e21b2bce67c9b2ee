"""The Model Context Protocol: the memory as tools, resources and a prompt for hosts of agents.

Every tool is a call of the native API or of mem0's wire, made with the caller's own key: there is
no second way in, so scopes, limits and errors are theirs.
"""
