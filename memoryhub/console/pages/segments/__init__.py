"""The segments of a space: their list by heat, and the exchanges of one."""
