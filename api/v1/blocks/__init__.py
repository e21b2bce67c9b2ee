"""Core blocks and their versions, and the tools by which an agent edits its own memory."""
