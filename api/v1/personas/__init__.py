"""Who a subject is: traits and the profile."""
