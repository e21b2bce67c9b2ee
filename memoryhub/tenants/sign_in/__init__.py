"""Signing in: passwords and how often they may be tried, sessions, second factors."""
