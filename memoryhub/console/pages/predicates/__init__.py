"""What facts say of their owners, and which of it has one value at a time."""
