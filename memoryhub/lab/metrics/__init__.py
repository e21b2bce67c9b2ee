"""Measures of rankings, of answers and of many outcomes together. Pure."""
