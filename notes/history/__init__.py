"""Every change with its cause: change-sets, units of work, undo and the timeline."""
