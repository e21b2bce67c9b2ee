"""What somebody shows beside the password: an app, passkeys, recovery codes."""
