"""Exchanges, chains and segments: what joins which topic, and how warm a topic is."""
