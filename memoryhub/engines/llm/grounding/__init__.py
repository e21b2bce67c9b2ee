"""What of a model's reply may count: claims against the words they rest on, answers against the memories shown."""
