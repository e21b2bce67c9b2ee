"""How requests are served: connections in one event loop, work in threads that have a place."""
