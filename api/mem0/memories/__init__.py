"""Memories over mem0's wire: add, change, search, feedback, exports."""
