"""Benchmark runs: started, followed and compared."""
