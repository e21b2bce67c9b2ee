"""OpenAI's own protocol: clients talk to the tenant's model through the hub, which remembers.

What was recalled goes into the request as data, what was said is learned by the same service as
everything else. docs/reference/openai.md describes it.
"""
