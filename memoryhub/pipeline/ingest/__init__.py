"""The write side's entrance: messages go in, a job comes out."""
