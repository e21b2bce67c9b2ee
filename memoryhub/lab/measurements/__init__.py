"""What `lab recall` and `lab derive` measure, each in throw-away tenants."""
