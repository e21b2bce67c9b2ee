"""What every door of the API shares: who calls, what they may, how often, how it fails, and that a write happens once."""
