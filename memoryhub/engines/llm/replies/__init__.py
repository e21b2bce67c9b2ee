"""The shapes of the model's replies, lenient item by item."""
