"""What a hub tells of itself while it runs: its log and its traces."""
