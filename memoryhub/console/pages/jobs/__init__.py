"""The work of the pipeline: what waits, runs and failed."""
