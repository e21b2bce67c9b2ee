"""The notes of a space: their list, and the page of one with its links and what taught it."""
