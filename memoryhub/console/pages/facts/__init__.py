"""The facts of a space: their list, and the page of one with its versions and its whole life."""
