"""Candidates in order: their signals and weights, fusion of the channels, the floor and what gives way."""
