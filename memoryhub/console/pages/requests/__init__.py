"""The log of requests to the API."""
