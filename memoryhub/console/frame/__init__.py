"""What every page shares: who may see it, its frame and navigation, lists with filters, charts, forms and messages. Knows no page."""
