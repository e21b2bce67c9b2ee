"""Imports of other systems' memories: an upload, its preview, its progress."""
