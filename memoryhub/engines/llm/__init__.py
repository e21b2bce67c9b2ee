"""Reading dialogue with a language model behind an OpenAI-compatible endpoint."""
