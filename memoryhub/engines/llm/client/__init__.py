"""Talking to an OpenAI-compatible endpoint: the client, chats, strict JSON replies, the probe, the relay and streamed answers."""
