"""Chains of pages, and the topics (segments) that pages join when they leave the short-term memory."""
