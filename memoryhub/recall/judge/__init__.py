"""Whether what was found suffices: the judge, its further rounds, and conflicts among the results."""
