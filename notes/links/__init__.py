"""Notes that belong together: the nearest ones, links between them, descriptors that evolve."""
