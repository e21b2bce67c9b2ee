"""What Prometheus is told: counts and times, without a word of a memory and without a tenant."""
