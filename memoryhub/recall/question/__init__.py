"""A question made ready: parsed by rules, routed by its intent, embedded, with the engine to ask."""
