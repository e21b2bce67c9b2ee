"""The heat of topics, and how memories fade."""
