"""What became of memories, questions, models and cases over time, as plots with their tables."""
