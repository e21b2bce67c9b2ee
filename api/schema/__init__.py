"""The OpenAPI description: what views tell of themselves, examples, and the pages that show it."""
