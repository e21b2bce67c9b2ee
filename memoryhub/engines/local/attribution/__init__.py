"""Whose words they are: the speaker's own, another's told about the speaker, passed on, or made."""
