"""Kinds of rows in the words of the API: their columns, how they are filtered, listed, read and written."""
